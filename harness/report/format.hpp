// SPDX-License-Identifier: Apache-2.0
// The formats of `bench report`. To add one, write a file with its function and add a row to the
// table.
#pragma once

#include "harness/report/console.hpp"
#include "harness/result/report.hpp"

#include <span>
#include <string>
#include <string_view>

namespace bench {

struct ReportFormat {
  std::string_view name;    // value of --format
  std::string_view suffix;  // suffix of the output file, with its dot
  // Only formats for people, which are tables, use `console`.
  std::string (*write)(const Report& report, const ConsoleOptions& console);
  std::string_view help;  // one line
};

std::span<const ReportFormat> report_formats();

}  // namespace bench
