// SPDX-License-Identifier: Apache-2.0
// Measures how much memory this process may still allocate: what the kernel can provide without
// swapping, and what the control groups allow. Callers check this before large allocations to avoid
// the OOM killer.
#pragma once

#include "base/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Returns the smaller of MemAvailable and the headroom of the control groups. These are this
// process's group of version 2 and all its ancestors, otherwise the top group of version 1. Returns
// nullopt if neither is known. `root` is the prefix of /proc and /sys, empty for the real ones.
std::optional<Bytes> available_memory(const std::string& root);

// Returns MemAvailable from the text of /proc/meminfo; nullopt if it is missing.
std::optional<Bytes> parse_mem_available(std::string_view meminfo);
// Returns limit minus usage of one control group, at least 0. `max` and `current` are the texts of
// its files memory.max and memory.current. Returns nullopt if one of them is not a number, such as
// "max" for no limit.
std::optional<Bytes> parse_cgroup_headroom(std::string_view max, std::string_view current);

}  // namespace bench
