// SPDX-License-Identifier: Apache-2.0
// Writes imported cases as a configuration.
#pragma once

#include "harness/import/imported.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns the fields of a problem: its parameters without those that follow from others, its axes
// and its post-ops.
std::vector<SuiteField> suite_fields(const ops::Problem& problem);

// Returns the value of a parameter as YAML: "64", "[1, 2]"; empty if it is not set.
std::string format_suite_value(const ops::Parameter& parameter, const ops::Value& value);

// Returns "8.197 GFLOP", "512 FLOP".
std::string format_flops(std::int64_t flops);

// Returns a part of a count: "41.2 %".
std::string format_fraction(std::int64_t part, std::int64_t whole);

// A configuration as text, and the line of the imported file that each of its lines comes from.
// Element i belongs to line i + 1; nullopt: a line of the configuration itself.
struct SuiteText {
  std::string text;
  std::vector<std::optional<ImportPlace>> origins;
};

// Returns a configuration with the cases in their order. Cases of one line that differ in single
// keys become one entry with lists. `title` is the first comment, without `#`; its lines are kept.
SuiteText format_suite(const Imported& imported, std::string_view name, std::string_view title);

}  // namespace bench
