// SPDX-License-Identifier: Apache-2.0
// What a run found, in sentences: how much it measured, how near the times are to the machine's
// ceilings, where time can be recovered, and what makes the times unsure. Pure functions.
#pragma once

#include "harness/result/report.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// Returns "Measured 30 of 33 cases in 41.2 s, 2 noisy; 3 skipped." or, without any time,
// nothing_measured_sentence() (console.hpp).
std::string answer_sentence(const Report& report);

// Returns notes of a sentence or two: how near the times are to the ceilings, where time can be
// recovered, advice, and what makes the times unsure, with the option or command that makes them
// surer. Empty without any time. The sums count each layer as often as its network has it, in its
// first cache mode, and a whole network only without its layers.
std::vector<std::string> answer_notes(const Report& report);

// A terminal shows this many lines of notes, and with the next command ten below the table.
inline constexpr std::size_t kMaxNoteLines = 6;
// The indent of the second line of a note.
inline constexpr std::size_t kBulletIndent = 2;

// The most important of answer_notes(): how good the times are, how sure, where most can be gained,
// then others as far as kMaxNoteLines lines of `width` have room.
struct LeadingNotes {
  std::vector<std::string> texts;  // in the order of answer_notes()
  std::size_t left_out = 0;
};
LeadingNotes leading_notes(const Report& report, std::size_t width);

}  // namespace bench
