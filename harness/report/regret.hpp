// SPDX-License-Identifier: Apache-2.0
// What the libraries' own choices cost in tuned cases, as text: the runners-up of `tune`. A
// difference is shown only if tuning found it beyond the noise (ops/backend/tuning.hpp).
#pragma once

#include "base/terminal_text.hpp"
#include "harness/result/report.hpp"
#include "ops/regret.hpp"

#include <cstddef>
#include <string>

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
// Empty if no case was tuned.
std::string regret_sentence(const Report& report);

// Returns a table of the tuned cases: what the library takes by itself, the best candidate, their
// times, and what the choice costs. Below it, a note says what the columns are, and which command
// shows all candidates of the case with the highest cost. Empty if no case was tuned.
std::string regret_table(const Report& report, std::size_t width, Colour colour);

}  // namespace bench
