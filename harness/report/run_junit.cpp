// SPDX-License-Identifier: Apache-2.0
// A run as JUnit XML: one test per case, which fails if the case failed.
#include "base/markup.hpp"
#include "harness/report/exchange_text.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace bench {
namespace {

enum class JunitResult { passed, failure, error, skipped };
constexpr std::array<std::string_view, 4> kJunitElements = {"", "failure", "error", "skipped"};

// Results by outcome. A wrong result is a failed test; a case that crashed, timed out or failed is
// an error.
constexpr std::array<JunitResult, 7> kJunitResults = {
    JunitResult::passed, JunitResult::failure, JunitResult::skipped, JunitResult::skipped,
    JunitResult::error,  JunitResult::error,   JunitResult::error};

JunitResult junit_result(const CaseRecord& record) {
  return kJunitResults[static_cast<std::size_t>(record.outcome)];
}

std::vector<std::string> junit_facts(const CaseRecord& record) {
  std::vector<std::string> lines;
  for (const CaseColumn& column : case_columns()) {
    if (column.role != CaseColumn::Role::fact) continue;
    if (!analysis::is_known(column.value(record))) continue;
    lines.push_back(fmt::format("{}: {}", column.heading, readable_cell(column, record)));
  }
  return lines;
}

std::string junit_case(const std::string& suite, const CaseRecord& record) {
  const ConfigLocation location = parse_config_location(record.source);
  std::string text =
      fmt::format("    <testcase{}{}", junit::attribute("classname", suite + "." + record.op),
                  junit::attribute("name", record.id));
  if (!location.file.empty()) text += junit::attribute("file", location.file);
  if (!location.file.empty() && location.line) {
    text += junit::attribute("line", std::to_string(*location.line));
  }
  if (record.time) {
    text +=
        fmt::format(" time=\"{:.9f}\"", std::chrono::duration<double>(record.time->median).count());
  }
  text += ">\n";
  const std::string facts = junit::escape_lines(junit_facts(record));
  const std::string_view element = kJunitElements[static_cast<std::size_t>(junit_result(record))];
  if (element.empty()) {
    text += fmt::format("      <system-out>{}</system-out>\n", facts);
  } else {
    text += fmt::format("      <{}{}{}>{}</{}>\n", element,
                        junit::attribute("type", to_string(record.outcome)),
                        junit::attribute("message", record.reason.value_or("")), facts, element);
  }
  return text + "    </testcase>\n";
}

std::string junit_totals(const std::vector<CaseRecord>& cases) {
  std::string text = junit::attribute("tests", std::to_string(cases.size()));
  for (const auto& [name, result] :
       {std::pair{"failures", JunitResult::failure}, std::pair{"errors", JunitResult::error},
        std::pair{"skipped", JunitResult::skipped}}) {
    const auto count = std::ranges::count(cases, result, junit_result);
    text += junit::attribute(name, std::to_string(count));
  }
  return text;
}

}  // namespace

std::string run_junit(const RunView& view, const ConsoleOptions& /*console*/) {
  const Report& report = view.report;
  const std::string name = report.runs.empty() || report.runs.back().config_name.empty()
                               ? "bench"
                               : report.runs.back().config_name;
  const std::string totals = junit_totals(report.cases);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites{}{}>\n  <testsuite{}{}>\n    <properties>\n",
                      junit::attribute("name", "bench run"), totals, junit::attribute("name", name),
                      totals);
  text += junit::property("conclusion", run_sentence(view));
  for (const RunRecord& run : report.runs) {
    text += junit::property("run_id", run.run_id);
    text += junit::property("machine_class", run.environment.machine_class);
  }
  text += "    </properties>\n";
  for (const CaseRecord& record : report.cases) text += junit_case(name, record);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace bench
