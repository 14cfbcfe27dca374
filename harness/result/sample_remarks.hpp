// SPDX-License-Identifier: Apache-2.0
// Counts a device's remarks about samples, so that a thousand remarks give a few rows.
#pragma once

#include "harness/result/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Further reasons are counted as kOtherReasons.
inline constexpr std::size_t kMaxReasons = 8;
inline constexpr const char* kOtherReasons = "other reasons";

// Adds a remark `times` times. A reason that differs from a known one only in its numbers counts as
// the known one.
void add_remark(SampleRemarks& remarks, const std::string& reason, std::int64_t times = 1);
// Adds `from` to `to`; does nothing if `from` is nullopt.
void add_remarks(std::optional<SampleRemarks>& to, const std::optional<SampleRemarks>& from);
// Returns the most frequent reason, the first by name among equals. Empty if there is none.
std::string most_frequent_reason(const SampleRemarks& remarks);

}  // namespace bench
