// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/code_names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace bench {
namespace {

// A program that generates code or never runs an address twice must not use up the memory.
constexpr std::size_t kMaxKnown = std::size_t{1} << 20;

}  // namespace

const CodeName& CodeNames::name(std::string_view path, std::uint64_t address) {
  std::pair<std::string, std::uint64_t> key(path, address);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (known_.size() >= kMaxKnown) known_.clear();
  CodeName name = find(key.first, address);
  return known_.emplace(std::move(key), std::move(name)).first->second;
}

const CodeName& CodeNames::name_at_offset(std::string_view path, std::uint64_t offset) {
  const auto address = lookup_.file_address ? lookup_.file_address(path, offset) : std::nullopt;
  return name(path, address.value_or(offset));
}

CodeName CodeNames::generated(std::int64_t pid, std::uint64_t address) const {
  const auto function =
      lookup_.generated_name ? lookup_.generated_name(pid, address) : std::nullopt;
  return {std::string(kGeneratedObject), function.value_or(std::string(kGeneratedObject))};
}

CodeName CodeNames::kernel(std::uint64_t address) const {
  const auto function = lookup_.kernel_name ? lookup_.kernel_name(address) : std::nullopt;
  return {std::string(kKernelObject), function.value_or(std::string(kKernelObject))};
}

CodeName CodeNames::find(const std::string& path, std::uint64_t address) const {
  if (path.empty()) return {"(unloaded)", "(unloaded)"};
  const std::string object = path.substr(path.rfind('/') + 1);
  const std::string frame = fmt::format("{}+0x{:x}", path, address);
  if (lookup_.frame_name) {
    const std::string named = lookup_.frame_name(frame);
    const std::string ending = fmt::format(" ({})", object);
    if (named != frame && named.ends_with(ending)) {
      return {object, named.substr(0, named.size() - ending.size())};
    }
  }
  const auto begin = lookup_.function_begin ? lookup_.function_begin(path, address) : std::nullopt;
  return {object, fmt::format("{}+0x{:x}", object, begin.value_or(address))};
}

namespace {

// Takes the first word of a line.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
  return word;
}

std::optional<std::uint64_t> parse_hexadecimal(std::string_view word) {
  if (word.starts_with("0x")) word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  if (code != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Other users can also create files in this folder, so only the user's own one counts.
std::string own_perf_map(std::int64_t pid, std::int64_t since) {
  std::string path = fmt::format("/tmp/perf-{}.map", pid);
  struct stat status {};
  const bool is_own = lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == geteuid() && status.st_mtime >= since;
  return is_own ? path : std::string();
}

}  // namespace

CodeTable CodeTable::parse_perf_map(std::istream& text) {
  CodeTable table;
  for (std::string line; std::getline(text, line);) {
    std::string_view rest = line;
    const auto begin = parse_hexadecimal(take_word(rest));
    const auto size = parse_hexadecimal(take_word(rest));
    if (!begin || !size || *size == 0 || rest.empty()) continue;
    if (*size > std::numeric_limits<std::uint64_t>::max() - *begin) continue;
    table.entries_.insert_or_assign(*begin, Entry{*begin + *size, std::string(rest)});
  }
  return table;
}

CodeTable CodeTable::parse_kernel_symbols(std::istream& text) {
  constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();
  CodeTable table;
  for (std::string line; std::getline(text, line);) {
    std::string_view rest = line;
    const auto begin = parse_hexadecimal(take_word(rest));
    const std::string_view type = take_word(rest);
    const std::string_view name = rest.substr(0, rest.find_first_of(" \t"));
    const bool is_function = type == "t" || type == "T" || type == "w" || type == "W";
    if (!begin || *begin == 0 || !is_function || name.empty()) continue;
    table.entries_.try_emplace(*begin, Entry{kOpen, std::string(name)});
  }
  return table;
}

std::optional<std::string> CodeTable::name_at(std::uint64_t address) const {
  const auto after = entries_.upper_bound(address);
  if (after == entries_.begin()) return std::nullopt;
  const Entry& entry = std::prev(after)->second;
  return address < entry.end ? std::optional(entry.name) : std::nullopt;
}

std::optional<std::string> CodeTables::generated_name(std::int64_t pid, std::uint64_t address) {
  auto known = generated_.find(pid);
  if (known == generated_.end()) {
    CodeTable table;
    if (const std::string path = own_perf_map(pid, since_); !path.empty()) {
      std::ifstream file(path);
      table = CodeTable::parse_perf_map(file);
    }
    known = generated_.emplace(pid, std::move(table)).first;
  }
  return known->second.name_at(address);
}

std::optional<std::string> CodeTables::kernel_name(std::uint64_t address) {
  if (!kernel_) {
    std::ifstream file("/proc/kallsyms");
    kernel_ = CodeTable::parse_kernel_symbols(file);
  }
  return kernel_->name_at(address);
}

}  // namespace bench
