// SPDX-License-Identifier: Apache-2.0
// Runs and gates as JUnit XML for GitLab, Jenkins and GitHub's actions (testmoapp/junitxml): one
// test per case. There is no standard, so a file uses only elements that all of these programs
// read.
#include "base/markup.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace bench {
namespace {

enum class JunitResult { passed, failure, error, skipped };
constexpr std::array<std::string_view, 4> kJunitElements = {"", "failure", "error", "skipped"};

struct JunitTest {
  std::string class_name;  // viewers group tests by it: "resnet.conv"
  std::string name;
  std::string source;  // place in the configuration
  std::optional<Nanoseconds> time;
  JunitResult result = JunitResult::passed;
  std::string_view type;           // kind of the result
  std::string message;             // why the test did not pass
  std::vector<std::string> facts;  // all facts of the case, one per line
};

struct JunitDocument {
  std::string_view name;
  std::string suite;
  std::vector<std::pair<std::string_view, std::string>> properties;
  std::vector<JunitTest> tests;
};

std::string junit_attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, escape_markup(value));
}

std::string junit_test(const JunitTest& test) {
  const ConfigLocation location = parse_config_location(test.source);
  std::string text = "    <testcase" + junit_attribute("classname", test.class_name) +
                     junit_attribute("name", test.name);
  if (!location.file.empty()) text += junit_attribute("file", location.file);
  if (!location.file.empty() && location.line)
    text += junit_attribute("line", std::to_string(*location.line));
  if (test.time)
    text += fmt::format(" time=\"{:.9f}\"", std::chrono::duration<double>(*test.time).count());
  // Does not escape line ends, since some viewers show a `&#10;` between tags literally.
  std::string facts;
  for (const std::string& line : test.facts) facts += escape_markup(line) + "\n";
  const std::string_view element = kJunitElements[static_cast<std::size_t>(test.result)];
  text += element.empty() ? fmt::format(">\n      <system-out>{}</system-out>\n", facts)
                          : fmt::format(">\n      <{}{}{}>{}</{}>\n", element,
                                        junit_attribute("type", test.type),
                                        junit_attribute("message", test.message), facts, element);
  return text + "    </testcase>\n";
}

std::string junit_totals(const std::vector<JunitTest>& tests) {
  std::string text = junit_attribute("tests", std::to_string(tests.size()));
  for (const auto& [name, result] :
       {std::pair{"failures", JunitResult::failure}, std::pair{"errors", JunitResult::error},
        std::pair{"skipped", JunitResult::skipped}}) {
    text += junit_attribute(name,
                            std::to_string(std::ranges::count(tests, result, &JunitTest::result)));
  }
  return text;
}

std::string junit_text(const JunitDocument& document) {
  const std::string totals = junit_totals(document.tests);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites{}{}>\n  <testsuite{}{}>\n"
      "    <properties>\n",
      junit_attribute("name", document.name), totals, junit_attribute("name", document.suite),
      totals);
  for (const auto& [name, value] : document.properties)
    text += fmt::format("      <property{}{}/>\n", junit_attribute("name", name),
                        junit_attribute("value", value));
  text += "    </properties>\n";
  for (const JunitTest& test : document.tests) text += junit_test(test);
  return text + "  </testsuite>\n</testsuites>\n";
}

// By outcome. A wrong result is a failed test; a case that crashed, timed out or failed is an
// error.
constexpr std::array<JunitResult, 7> kOutcomeResults = {
    JunitResult::passed, JunitResult::failure, JunitResult::skipped, JunitResult::skipped,
    JunitResult::error,  JunitResult::error,   JunitResult::error};

std::vector<std::string> junit_facts(const CaseRecord& record) {
  std::vector<std::string> lines;
  for (const CaseColumn& column : case_columns()) {
    if (column.role != CaseColumn::Role::fact) continue;
    if (!analysis::is_known(column.value(record))) continue;
    lines.push_back(fmt::format("{}: {}", column.heading, readable_cell(column, record)));
  }
  return lines;
}

constexpr std::array<JunitResult, enumerator_names<Verdict>().size()> kVerdictResults = {
    JunitResult::failure, JunitResult::error,   JunitResult::skipped, JunitResult::skipped,
    JunitResult::skipped, JunitResult::skipped, JunitResult::passed,  JunitResult::passed};

JunitTest junit_test(const GateFile& gate, const CaseAssessment& judgement, const KitPaths& kits) {
  const std::string& config = gate.facts.config_name;
  const JunitResult by_verdict = kVerdictResults[static_cast<std::size_t>(judgement.verdict)];
  const bool is_red = by_verdict != JunitResult::failure && is_error(gate, judgement);
  const std::string effect = describe_effect(judgement);
  const std::string_view separator = effect.empty() || judgement.reason.empty() ? "" : "; ";
  JunitTest test{.class_name = fmt::format("{}.{}", config.empty() ? "bench" : config,
                                           judgement.id.substr(0, judgement.id.find('/'))),
                 .name = judgement.id,
                 .source = judgement.source,
                 .time = std::nullopt,
                 .result = is_red ? JunitResult::error : by_verdict,
                 .type = to_string(judgement.verdict),
                 .message = fmt::format("{}{}{}", effect, separator, judgement.reason),
                 .facts = case_lines(gate, judgement, kits)};
  if (test.result == JunitResult::passed)
    test.facts.insert(test.facts.begin(), std::string(test.type));
  return test;
}

}  // namespace

std::string run_junit(const RunView& view, const ConsoleOptions& /*console*/) {
  const Report& report = view.report;
  const bool is_named = !report.runs.empty() && !report.runs.back().config_name.empty();
  JunitDocument document{.name = "bench run",
                         .suite = is_named ? report.runs.back().config_name : "bench",
                         .properties = {{"conclusion", run_sentence(view)}},
                         .tests = {}};
  for (const RunRecord& run : report.runs) {
    document.properties.emplace_back("run_id", run.run_id);
    document.properties.emplace_back("machine_class", run.environment.machine_class);
  }
  for (const CaseRecord& record : report.cases) {
    document.tests.push_back(
        {.class_name = document.suite + "." + record.op,
         .name = record.id,
         .source = record.source,
         .time = record.time ? std::optional(record.time->median) : std::nullopt,
         .result = kOutcomeResults[static_cast<std::size_t>(record.outcome)],
         .type = to_string(record.outcome),
         .message = record.reason.value_or(""),
         .facts = junit_facts(record)});
  }
  return junit_text(document);
}

std::string gate_junit(const GateFile& gate, const KitPaths& kits) {
  JunitDocument document{
      .name = "bench gate",
      .suite = gate.facts.config_name,
      .properties = {{"conclusion", gate.conclusion.sentence},
                     {"coverage", format_coverage(gate.judgements)},
                     {"exit_status", std::to_string(static_cast<int>(gate.conclusion.status))}},
      .tests = {}};
  for (std::string& line : context_lines(gate))
    document.properties.emplace_back("context", std::move(line));
  document.properties.emplace_back("run_id", gate.facts.run_id);
  document.properties.emplace_back("machine_class", gate.facts.machine_class);
  for (const CaseAssessment* judgement : reading_order(gate.judgements))
    document.tests.push_back(junit_test(gate, *judgement, kits));
  return junit_text(document);
}

}  // namespace bench
