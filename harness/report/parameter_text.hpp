// SPDX-License-Identifier: Apache-2.0
// A comparison of the cases of one result as text: human-readable and machine-readable.
#pragma once

#include "harness/judge/parameter_comparison.hpp"
#include "harness/report/console.hpp"

#include <string>

namespace bench {

// For two values: "bf16 takes 0.80x the time of f32 (0.78 to 0.83).", then a row per pair. For more
// values: a table of speed-ups with a column per value. If the pairs compute different amounts, the
// speed-up is that of the work per time. Every text ends in a newline.
std::string format_parameter_comparison(const ParameterComparison& comparison,
                                        const ConsoleOptions& console);
std::string parameter_markdown(const ParameterComparison& comparison);
std::string parameter_json(const ParameterComparison& comparison);

}  // namespace bench
