// SPDX-License-Identifier: Apache-2.0
// Sentences about the results of a run: how much the run measured, how near the times are to the
// machine's ceilings, where time can be recovered, and what makes the times uncertain. Pure
// functions.
#pragma once

#include "harness/report/notes.hpp"
#include "harness/result/report.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns "Measured 30 of 33 cases in 41.2 s, 2 noisy; 3 skipped." or, without any time,
// nothing_measured_sentence() (console.hpp).
std::string answer_sentence(const Report& report);

// Returns that a run has no end, and how to continue it; empty if each run has one.
std::string unfinished_run_sentence(const Report& report);

// Returns what only some runs answer, which precedes everything else: how many items per second
// cases with streams process (serving.hpp), and what the libraries' choices cost in tuned cases
// (regret.hpp). Empty for other runs.
std::string lead_sentences(const Report& report);

// Returns notes of one or two sentences: how near the times are to the ceilings, where time can be
// recovered, advice, and what makes the times uncertain. The latter name the option or command that
// helps. Empty if no case has a time. The sums count each layer as often as its network contains
// it, with the cache mode that comes first. They count a whole network only if its layers have no
// times. The first note of a topic answers its question; further ones only add details, so their
// topic is `other`.
std::vector<Note> rank_answer_notes(const Report& report);
// Returns the texts of these notes.
std::vector<std::string> answer_notes(const Report& report);

// Returns what a flag says about a time and, if there is one, a remedy.
std::string_view describe_flag(Flag flag);

// The case that the command after a run explains, and why.
struct InterestingCase {
  const CaseRecord* record = nullptr;
  std::string_view reason;
};

// Returns the case with the most time to gain at the lower end of its interval: a noisy case has
// the longest median by chance. If no gain is certain, returns the case with the most time to gain
// by its median; without rooflines, the case with the longest median. A gain counts as often as the
// multiplicity of its case says. nullopt if no case has a time.
std::optional<InterestingCase> find_most_interesting_case(const Report& report);

}  // namespace bench
