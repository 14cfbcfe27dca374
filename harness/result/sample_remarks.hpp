// SPDX-License-Identifier: Apache-2.0
// Counts what a device said of samples, so that a thousand of them make a few rows.
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

// `times` more samples. A reason that equals a known one but for its numbers counts as that.
void add_remark(SampleRemarks& remarks, const std::string& reason, std::int64_t times = 1);
// Those of both; `from` may be absent, and leaves `to` as it is then.
void add_remarks(std::optional<SampleRemarks>& to, const std::optional<SampleRemarks>& from);
// What was said most often; of several the first by name. Empty without any.
std::string most_frequent_reason(const SampleRemarks& remarks);

}  // namespace bench
