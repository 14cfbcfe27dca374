// SPDX-License-Identifier: Apache-2.0
// What the libraries' own choices cost in tuned cases, as text: the runners-up of `tune`. A
// difference is shown only if tuning found it beyond the noise (ops/backend/tuning.hpp).
//
// All formats of a report show the same table, choice_table(); choice_columns_note(),
// choice_command() and choice_notes() what is below it.
#pragma once

#include "base/terminal_text.hpp"
#include "harness/report/case_table.hpp"
#include "harness/result/report.hpp"
#include "ops/regret.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Formats the answer about one case, without a period: "jit:avx512_core was chosen;
// brgconv:avx512_core is 12 % faster: the choice costs 12 %". If no candidate is faster
// beyond the noise, states that.
std::string describe_regret(const ops::Regret& regret);

// Formats the candidates in the order of the library, one line each, with their times or why they
// failed, and which of them are the library's choice and the best one. Lines begin with `indent`
// blanks.
std::string format_candidates(const ops::Regret& regret, std::size_t indent);

// Returns in how many tuned cases the library's choice costs time, and where it costs the most.
// Empty if no candidates were measured.
std::string regret_sentence(const Report& report);

// Returns the tuned cases whose candidates were measured, in the order of the report.
std::vector<const CaseRecord*> find_tuned_cases(const Report& report);

// Returns the table of find_tuned_cases(): case, what the library takes by itself, the best
// candidate, their times, and what the choice costs. If no candidate is faster beyond the noise, a
// row states no second time and no cost.
Table choice_table(const std::vector<const CaseRecord*>& tuned);

// Says what the columns are. Ends in the introduction of choice_command().
std::string_view choice_columns_note();
// Returns the command that shows all candidates of the case with the highest cost. `tuned` must not
// be empty.
std::string choice_command(const std::vector<const CaseRecord*>& tuned);

// Returns sentences about cases with `tune` that the table shows incompletely or not at all: with
// which caches candidates were measured, if not with those of the case, and why there was nothing
// to compare (find_choice_gap()).
std::vector<std::string> choice_notes(const Report& report);

// Returns the table with all that is below it, in lines of at most `width` columns, the command
// excepted. Empty if no case has `tune`.
std::string regret_table(const Report& report, std::size_t width, Colour colour);

// Why a case with `tune` has nothing to compare the library's choice with, and what the user can
// do. Pure functions.

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
