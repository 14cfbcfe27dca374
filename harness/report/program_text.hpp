// SPDX-License-Identifier: Apache-2.0
// The comparison of whole programs as text: what comes before and after the cases of two profiles.
#pragma once

#include "base/json_writer.hpp"
#include "harness/judge/program_comparison.hpp"
#include "harness/report/console.hpp"
#include "harness/report/document.hpp"

#include <string>
#include <vector>

namespace bench {

// Returns the sentence that comes first: both wall times, their ratio, and which share of them the
// two files show.
std::string program_answer(const ProgramComparison& programs);

// Returns the parts of the wall time and, with samples of both sides, of the CPU time.
std::vector<Table> program_tables(const ProgramComparison& programs);

std::string format_program_tables(const ProgramComparison& programs, const ConsoleOptions& console);
std::string program_markdown(const ProgramComparison& programs);

void fields(JsonWriter& writer, const ProgramComparison& programs);

}  // namespace bench
