// SPDX-License-Identifier: Apache-2.0
// A comparison of the cases of one result as text: human-readable and machine-readable.
#pragma once

#include "harness/judge/parameter_comparison.hpp"
#include "harness/report/console.hpp"

#include <string>

namespace bench {

// For two values, returns a sentence such as "bf16 takes 0.80x the time of f32 (0.78 to 0.83).",
// then a table with a row per pair. For more values, returns a table of speed-ups with a column per
// value. If the pairs compute different amounts of work, the speed-up is the ratio of work per
// time. All texts of this file end in a newline.
std::string format_parameter_comparison(const ParameterComparison& comparison,
                                        const ConsoleOptions& console);
std::string parameter_markdown(const ParameterComparison& comparison);
std::string parameter_json(const ParameterComparison& comparison);

}  // namespace bench
