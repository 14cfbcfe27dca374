// SPDX-License-Identifier: Apache-2.0
// Rules that derive advice from the roofline of a case. Each rule has an id. Pure functions.
#pragma once

#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Detail of a case and of a profiling pass. Set if tensor cores could compute the case, but its
// kernels did not use them: the evidence, and what would take them.
inline constexpr const char* kTensorCoresMissed = "tensor_cores.missed";

// Prefix of the details of a case record that contain its advice.
inline constexpr std::string_view kAdviceDetail = "advice.";

struct Advice {
  std::string id;    // the rule's id: "slow_type"
  std::string text;  // one sentence or two for the user
  friend bool operator==(const Advice&, const Advice&) = default;
};

// Returns the ids of all rules, most important first.
std::span<const std::string_view> advice_ids();

// Applies the rules to a case. Returns an empty list if the case has no roofline.
std::vector<Advice> advice_for(const CaseRecord& record, const Ceilings& ceilings);

// Returns the advice that a record from a file contains (details "advice.ID").
std::vector<Advice> advice_in(const CaseRecord& record);

}  // namespace bench
