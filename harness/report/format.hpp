// SPDX-License-Identifier: Apache-2.0
// The formats of `bench report`: a new one is a file with its function and a row in the table.
#pragma once

#include "harness/report/console.hpp"
#include "harness/result/report.hpp"

#include <span>
#include <string>
#include <string_view>

namespace bench {

struct ReportFormat {
  std::string_view name;    // of --format
  std::string_view suffix;  // of the output file, with its dot
  // `console`: of the formats that are tables for a person to read.
  std::string (*write)(const Report& report, const ConsoleOptions& console);
  std::string_view help;  // one line
};

std::span<const ReportFormat> report_formats();

}  // namespace bench
