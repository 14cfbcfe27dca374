// SPDX-License-Identifier: Apache-2.0
// Why a case with `tune` has nothing to compare the library's choice with, and what the user can
// do. Pure functions.
#pragma once

#include "harness/result/report.hpp"
#include "ops/regret.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Name of the detail that states how many candidates a case asked for.
inline constexpr const char* kTuneDetail = "tune";

// The facts about a case with `tune`, from its record or from the worker that prepared it. Refers
// to objects of the caller.
struct TunedCase {
  std::string_view op;  // "network" for a network
  std::string_view backend, device;
  const std::map<std::string, std::string>& details;
  const ops::Regret* regret = nullptr;  // nullptr if the case has none
};

struct ChoiceGap {
  std::string reason;     // "the library offers no other candidate"
  std::string next_step;  // in the imperative
  friend bool operator==(const ChoiceGap&, const ChoiceGap&) = default;
};

// Whether the libraries of a built-in backend offer several ways to compute an operator
// (docs/configuration.md, `tune`).
bool offers_choice(std::string_view backend);

// Returns nullopt if another candidate than the library's choice has a time.
std::optional<ChoiceGap> find_choice_gap(const TunedCase& tuned);

// Returns one sentence per reason, with the number of its cases and the id of the first one: "1
// case with `tune` has no measured alternative (ID): REASON; NEXT STEP." Leaves out cases that
// failed, since their records state a reason of their own.
std::vector<std::string> choice_gap_notes(const Report& report);

}  // namespace bench
