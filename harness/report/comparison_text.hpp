// SPDX-License-Identifier: Apache-2.0
// A comparison as text: human-readable tables and machine-readable formats.
#pragma once

#include "harness/judge/comparison.hpp"
#include "harness/judge/parameter_comparison.hpp"
#include "harness/report/console.hpp"
#include "harness/report/document.hpp"
#include "harness/result/report.hpp"
#include "harness/store/store.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Effects from this factor on are shown as factors, which are then easier to read than percentages.
inline constexpr double kMinFactor = 1.5;

// Whether the direction of an effect is certain. Only then does a text call it slower or faster.
enum class EffectDirection { certain, open };
// Returns the direction that an interval of ratios shows: open if it includes 1 or is missing.
EffectDirection effect_direction(const std::optional<double>& low,
                                 const std::optional<double>& high);

// Returns the effect of a change. If its direction is certain: "2.2x faster (2.1 to 2.3)", "3.0 %
// slower (2.0 to 4.0)". Otherwise the text has signed numbers, or the ratio itself: "+0.4 % (-0.3
// to +1.1)", "1.7x (0.8 to 3.4)". The arguments are ratios of times, candidate / base. The text has
// no interval unless both bounds are positive. Returns "n/a" if `ratio` is not positive.
std::string format_effect(double ratio, const std::optional<double>& low,
                          const std::optional<double>& high, EffectDirection direction);

// Returns how the time of the program changed whose executions the cases count; empty without
// counts.
std::string format_counted(const Comparison& comparison);

// Formats a time of a comparison with four digits, also below a nanosecond, so that two times show
// their ratio: "3.412 ns", "1.204 ms". Returns "n/a" if it is unknown.
std::string format_compared_time(const std::optional<double>& nanoseconds);

// One output format of comparisons. Each text ends in a newline.
struct ComparisonFormat {
  std::string_view name;  // value of --format
  std::string_view help;
  // Only the text format uses `console`.
  std::string (*write)(const Comparison& comparison, const ConsoleOptions& console);
  // Writes a comparison of the cases of one result (parameter_text.hpp).
  std::string (*write_by)(const ParameterComparison& comparison, const ConsoleOptions& console);
};
std::span<const ComparisonFormat> comparison_formats();
// Returns the answer: the number of cases with each verdict, the geometric mean of all cases, and
// by how much the cases with the verdict `same` may have changed.
std::string format_comparison_answer(const Comparison& comparison);
std::string format_comparison(const Comparison& comparison, const ConsoleOptions& console);
Tone verdict_tone(CaseVerdict verdict);
// Returns the table of the cases in one of the formats.
Table comparison_table(const Comparison& comparison, InFormat format);
std::string comparison_markdown(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

// The column `vs baseline` of a run's table: the run compared with stored runs of the same cases.

struct VersusBaseline {
  // By case id: "+1.2% [-0.3%, +2.4%]", "incomparable", "no baseline". Empty if no case has a
  // baseline.
  std::map<std::string, std::string> cells;
  // Reasons and next steps, one note per distinct reason.
  std::vector<std::string> notes;
};

// Compares each measured case with the last run of its present epoch, by the rules of `bench
// compare`. Reports unreadable parts of the store as notes.
VersusBaseline versus_baseline(const Report& report, const BaselineStore& store);

}  // namespace bench
