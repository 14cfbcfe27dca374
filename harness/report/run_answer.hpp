// SPDX-License-Identifier: Apache-2.0
// Sentences about the results of a run: how much the run measured, how near the times are to the
// machine's ceilings, where time can be recovered, and what makes the times uncertain. Pure
// functions.
#pragma once

#include "harness/result/report.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// Returns "Measured 30 of 33 cases in 41.2 s, 2 noisy; 3 skipped." or, without any time,
// nothing_measured_sentence() (console.hpp).
std::string answer_sentence(const Report& report);

// Returns notes of one or two sentences: how near the times are to the ceilings, where time can be
// recovered, advice, and what makes the times uncertain. The latter name the option or command that
// helps. Empty if no case has a time. The sums count each layer as often as its network contains
// it, with the cache mode that comes first. They count a whole network only if its layers have no
// times.
std::vector<std::string> answer_notes(const Report& report);

// Maximum number of lines of notes below the table in a terminal, without the next commands.
inline constexpr std::size_t kMaxNoteLines = 6;
// The indent of the second line of a note.
inline constexpr std::size_t kBulletIndent = 2;

// The most important of answer_notes(), as far as they fit.
struct LeadingNotes {
  std::vector<std::string> texts;  // in the order of answer_notes()
  std::size_t left_out = 0;        // number of other notes
};
// Selects notes that fit into kMaxNoteLines lines of `width` columns. The notes on how good the
// times are come first, then those on how certain they are, then those on gains, then all others.
LeadingNotes leading_notes(const Report& report, std::size_t width);

}  // namespace bench
