// SPDX-License-Identifier: Apache-2.0
// The screen of stage 1: it decides which cases need no second measurement. A case that is slower
// by `detect` passes with a probability of at most 5 %. A case that is too noisy never passes.
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

// `moved`: why stage 1 is not comparable for any case; nullopt if it is.
Screened screen(const CaseEvidence& entry, const GateSettings& settings,
                const std::optional<std::string>& moved);

}  // namespace bench
