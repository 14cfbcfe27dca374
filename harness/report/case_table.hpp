// SPDX-License-Identifier: Apache-2.0
// The cases of a report as rows of named, typed columns. Every format of `bench report` that is a
// table uses these columns; --columns and --sort name them.
#pragma once

#include "base/result.hpp"
#include "harness/result/report.hpp"
#include "profiler/analysis/cell.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// One value of a case: text, a number, or unknown.
using CaseValue = analysis::Cell;

struct CaseColumn {
  std::string_view name;     // "median_ns": --columns, --sort, headings of files for programs
  std::string_view heading;  // "median": headings for people
  analysis::Quantity quantity;
  // Identity columns are text that says which case a row is; a long CSV repeats them on each line.
  enum class Role { identity, fact } role;
  CaseValue (*value)(const CaseRecord& record);
  std::string_view help;
  bool is_text() const;
};

std::span<const CaseColumn> case_columns();
// Returns the column of that name, which must exist.
const CaseColumn& case_column(std::string_view name);

using CaseColumns = std::vector<const CaseColumn*>;

// Returns the columns with these names, in their order. Returns an error with the nearest name if
// one is unknown.
Result<CaseColumns> choose_case_columns(const std::vector<std::string>& names);

// The columns of a table for people if none are chosen.
CaseColumns default_case_columns();

// Returns the value for people: "1.253 ms", "n/a".
std::string readable_cell(const CaseColumn& column, const CaseRecord& record);

// Sorts by the column `order`: "NAME" puts the largest first, "+NAME" the smallest. Unknown values
// come last. Returns an error if the column is unknown.
Status sort_cases(std::string_view order, std::vector<CaseRecord>& cases);

// Keeps the cases with these ids and drops the records of all others.
void keep_cases(const std::vector<std::string>& ids, Report& report);
// Keeps the first `top` cases; 0 keeps all.
void keep_top_cases(std::int64_t top, Report& report);

}  // namespace bench
