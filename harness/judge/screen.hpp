// SPDX-License-Identifier: Apache-2.0
// The screen of stage 1: which cases need no second look. A case as much slower as `detect` passes
// it with a probability of at most 5 %, however noisy it is: what is too noisy always goes on.
#pragma once

#include "harness/judge/evidence.hpp"

#include <optional>
#include <string>

namespace bench {

struct Screened {
  enum class Result { clear, suspect };
  Result result = Result::suspect;
  std::optional<double> excess;  // log of the candidate's q25 over the store's
  std::optional<double> limit;   // the largest excess that is clear
  std::string reason;            // why it is suspect
};

// `moved`: why stage 1 says nothing about any case.
Screened screen(const CaseEvidence& entry, const GateSettings& settings,
                const std::optional<std::string>& moved);

}  // namespace bench
