// SPDX-License-Identifier: Apache-2.0
// A comparison as text: human-readable tables and machine-readable formats.
#pragma once

#include "harness/judge/comparison.hpp"
#include "harness/report/console.hpp"

#include <span>
#include <string>
#include <string_view>

namespace bench {

// One form of a comparison; the text ends in a newline.
struct ComparisonFormat {
  std::string_view name;  // value of --format
  std::string_view help;
  // Only formats for people, which are tables, use `console`.
  std::string (*write)(const Comparison& comparison, const ConsoleOptions& console);
};
std::span<const ComparisonFormat> comparison_formats();
std::string comparison_text(const Comparison& comparison, const ConsoleOptions& console);
std::string comparison_markdown(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

}  // namespace bench
