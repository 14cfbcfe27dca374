// SPDX-License-Identifier: Apache-2.0
// The cases of a report as rows of named, typed columns. The options --columns and --sort of `bench
// report` name these columns. The tables that its formats write consist of them, except the default
// text (console.hpp).
#pragma once

#include "base/result.hpp"
#include "harness/report/document.hpp"
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
  std::string_view name;     // "median_ns": for --columns, --sort and machine-readable files
  std::string_view heading;  // "median": in human-readable tables
  analysis::Quantity quantity;
  // Identity columns are texts that identify the case of a row. A CSV with one line per value
  // repeats them on each line.
  enum class Role { identity, fact } role;
  CaseValue (*value)(const CaseRecord& record);
  std::string_view help;
  bool is_text() const;  // not a number
};

// Returns all columns.
std::span<const CaseColumn> case_columns();
// Returns the column of that name, which must exist.
const CaseColumn& case_column(std::string_view name);

using CaseColumns = std::vector<const CaseColumn*>;

// Returns the columns with these names, in the order of the names. Returns an error with the
// nearest name if a name is unknown.
Result<CaseColumns> choose_case_columns(const std::vector<std::string>& names);

// Returns the columns of a human-readable table of these cases if the user chooses none. Cases with
// streams have further ones.
CaseColumns default_case_columns(const std::vector<CaseRecord>& cases);

// Returns the human-readable value: "1.253 ms", "n/a".
std::string readable_cell(const CaseColumn& column, const CaseRecord& record);

TableColumn table_column(const CaseColumn& column);
// Returns the cases as a table with these columns.
Table case_table(const CaseColumns& columns, const std::vector<CaseRecord>& cases);

// Returns the columns that identify a case.
CaseColumns identity_columns();
// Return the heading of a CSV, and the line of a case, without line ends.
std::string csv_heading(const CaseColumns& columns);
std::string csv_line(const CaseColumns& columns, const CaseRecord& record);

// Sorts by the column that `order` names: "NAME" puts the largest value first, "+NAME" the
// smallest. Unknown values come last. Returns an error if the column is unknown.
Status sort_cases(std::string_view order, std::vector<CaseRecord>& cases);

// Keeps the cases with these ids; removes all other cases with their processes and profile passes.
void keep_cases(const std::vector<std::string>& ids, Report& report);
// Keeps the first `top` cases; 0 keeps all.
void keep_top_cases(std::int64_t top, Report& report);

}  // namespace bench
