// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"

#include "harness/report/console.hpp"

#include <array>

namespace bench {
namespace {

std::string write_json(const Report& report, const ConsoleOptions&) {
  return to_json_document(report);
}

constexpr std::array<ReportFormat, 2> kFormats = {{
    {"json", ".json", write_json, "all records as one JSON document"},
    {"text", ".txt", console_report, "the tables that `run` prints"},
}};

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

}  // namespace bench
