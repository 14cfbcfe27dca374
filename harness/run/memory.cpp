// SPDX-License-Identifier: Apache-2.0
#include "harness/run/memory.hpp"

#include "harness/run/system_files.hpp"

#include <algorithm>
#include <string>

namespace bench {
namespace {

constexpr std::int64_t kKibibyte = 1024;

// What the limits of a control group leave, in bytes; v2, then v1.
std::optional<std::int64_t> group_leaves(const SystemRoot& root) {
  struct Files {
    const char* limit;
    const char* usage;
  };
  static constexpr Files kFiles[] = {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                                     {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                      "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const Files& files : kFiles) {
    const auto limit = read_integer(root, files.limit);  // absent for "max"
    const auto usage = read_integer(root, files.usage);
    if (limit && usage) return std::max<std::int64_t>(*limit - *usage, 0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Bytes> available_memory(const SystemRoot& root) {
  std::optional<std::int64_t> bytes;
  if (const auto text = read_text(root, "/proc/meminfo")) {
    if (const auto field = labelled_value(*text, "MemAvailable")) {
      if (const auto kibibytes = parse_integer(*field)) bytes = *kibibytes * kKibibyte;
    }
  }
  if (const auto group = group_leaves(root)) bytes = std::min(bytes.value_or(*group), *group);
  if (!bytes) return std::nullopt;
  return Bytes{*bytes};
}

}  // namespace bench
