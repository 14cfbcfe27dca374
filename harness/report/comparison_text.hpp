// SPDX-License-Identifier: Apache-2.0
// A comparison as text: tables for a person, and what programs read.
#pragma once

#include "harness/judge/comparison.hpp"
#include "harness/report/console.hpp"

#include <span>
#include <string>
#include <string_view>

namespace bench {

// Forms of a comparison; each ends in a newline.
struct ComparisonFormat {
  std::string_view name;  // of --format
  std::string_view help;
  // `console`: of the formats that are tables for a person to read.
  std::string (*write)(const Comparison& comparison, const ConsoleOptions& console);
};
std::span<const ComparisonFormat> comparison_formats();
std::string comparison_text(const Comparison& comparison, const ConsoleOptions& console);
std::string comparison_markdown(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

}  // namespace bench
