// SPDX-License-Identifier: Apache-2.0
// How much memory may still be used: what the kernel can give without swapping, and what the
// control group allows. Checked before large allocations, so that the OOM killer never acts.
#pragma once

#include "base/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Returns the smaller of MemAvailable and the headroom of the control groups (version 2: this
// process's group and all its ancestors; otherwise version 1). Returns nullopt if neither is known.
// `root` is the prefix of /proc and /sys, empty for the real ones.
std::optional<Bytes> available_memory(const std::string& root);

// Parses MemAvailable in the text of /proc/meminfo.
std::optional<Bytes> parse_mem_available(std::string_view meminfo);
// Returns limit minus usage of one control group; nullopt if unlimited ("max").
std::optional<Bytes> parse_cgroup_headroom(std::string_view max, std::string_view current);

}  // namespace bench
