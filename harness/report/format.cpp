// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"

#include "harness/report/console.hpp"
#include "harness/report/summary.hpp"

#include <array>

namespace bench {
namespace {

// What `run` prints, in a width that fits a mail or a log.
std::string write_text(const Report& report) {
  const ConsoleOptions options;
  const std::string networks = console_networks(summarise_networks(report), options);
  return console_table(report, options) + (networks.empty() ? "" : "\n" + networks);
}

constexpr std::array<ReportFormat, 2> kFormats = {{
    {"json", ".json", to_json_document, "all records as one JSON document"},
    {"text", ".txt", write_text, "the tables that `run` prints"},
}};

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

}  // namespace bench
