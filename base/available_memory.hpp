// SPDX-License-Identifier: Apache-2.0
// How much memory may still be taken: what the kernel thinks it can give without swapping, and what
// the control group allows. Asked before large allocations, so that the OOM killer never decides.
#pragma once

#include "base/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bench {

// The smaller of MemAvailable and the control groups' remainders (version 2: all groups from the
// own one up; else version 1); absent where neither is known. `root` stands before /proc and /sys,
// empty for the real ones.
std::optional<Bytes> available_memory(const std::string& root);

// MemAvailable in the text of /proc/meminfo.
std::optional<Bytes> parse_mem_available(std::string_view meminfo);
// Limit less usage of one control group; absent when unlimited ("max").
std::optional<Bytes> parse_group_remainder(std::string_view max, std::string_view current);

}  // namespace bench
