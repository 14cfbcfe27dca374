// SPDX-License-Identifier: Apache-2.0
#include "base/available_memory.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace bench {
namespace {

constexpr std::int64_t kFileLimit = 1 << 16;  // bytes; files of /proc and /sys have a few KiB
constexpr std::string_view kGroups = "/sys/fs/cgroup";

std::optional<std::int64_t> read_number(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

// Returns an empty text if the file cannot be read.
std::string read_or_empty(const std::string& path) {
  auto text = read_file(path, kFileLimit);
  return text ? *std::move(text) : std::string();
}

// Returns the path of this process's control group of version 2, from the line "0::/path" of
// /proc/self/cgroup. Returns an empty text if there is none.
std::string find_own_group(const std::string& root) {
  const std::string text = read_or_empty(root + "/proc/self/cgroup");
  const auto start = text.find("0::");
  if (start == std::string::npos) return {};
  return text.substr(start + 3, text.find('\n', start) - start - 3);
}

// Returns the smallest headroom of this process's group and all its ancestors, since each of their
// limits applies.
std::optional<Bytes> nested_headroom(const std::string& root) {
  std::optional<Bytes> smallest;
  std::string group = find_own_group(root);
  while (true) {
    const std::string folder = root + std::string(kGroups) + group;
    const auto headroom = parse_cgroup_headroom(read_or_empty(folder + "/memory.max"),
                                                read_or_empty(folder + "/memory.current"));
    if (headroom) smallest = smallest ? std::min(*smallest, *headroom) : *headroom;
    const auto slash = group.rfind('/');
    if (slash == std::string::npos || group.size() <= 1) return smallest;
    group.resize(slash);
  }
}

std::optional<Bytes> cgroup_headroom(const std::string& root) {
  if (const auto headroom = nested_headroom(root)) return headroom;
  const std::string folder = root + std::string(kGroups) + "/memory";
  return parse_cgroup_headroom(read_or_empty(folder + "/memory.limit_in_bytes"),
                               read_or_empty(folder + "/memory.usage_in_bytes"));
}

}  // namespace

std::optional<Bytes> parse_mem_available(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const auto start = meminfo.find(kKey);
  if (start == std::string_view::npos) return std::nullopt;
  const auto kibibytes = read_number(meminfo.substr(start + kKey.size()));
  if (!kibibytes) return std::nullopt;
  return Bytes{*kibibytes * 1024};
}

std::optional<Bytes> parse_cgroup_headroom(std::string_view max, std::string_view current) {
  const auto limit = read_number(max);
  const auto used = read_number(current);
  if (!limit || !used) return std::nullopt;
  return Bytes{std::max<std::int64_t>(0, *limit - *used)};
}

std::optional<Bytes> available_memory(const std::string& root) {
  const auto machine = parse_mem_available(read_or_empty(root + "/proc/meminfo"));
  const auto group = cgroup_headroom(root);
  if (machine && group) return std::min(*machine, *group);
  return machine ? machine : group;
}

}  // namespace bench
