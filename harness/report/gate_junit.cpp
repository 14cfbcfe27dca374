// SPDX-License-Identifier: Apache-2.0
// A gate as JUnit XML for GitLab, Jenkins and GitHub's actions (testmoapp/junitxml). There is no
// standard, so the file uses only elements that all of these programs read. The text of each
// element contains all facts of its case.
#include "harness/report/exchange_text.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace bench {
namespace {

using junit::attribute;
using junit::escape_lines;
using junit::property;

// The result element of a test, by verdict; empty if the test passed.
constexpr std::array<std::string_view, enumerator_names<Verdict>().size()> kElements = {
    "failure", "error", "skipped", "skipped", "skipped", "skipped", "", ""};

std::string_view junit_element(const GateFile& gate, const CaseAssessment& judgement) {
  const std::string_view element = kElements[static_cast<std::size_t>(judgement.verdict)];
  return element != "failure" && is_error(gate, judgement) ? "error" : element;
}

// Returns the name by which viewers group tests: "resnet.conv".
std::string class_name(const GateFile& gate, const CaseAssessment& judgement) {
  return fmt::format("{}.{}", gate.facts.config_name.empty() ? "bench" : gate.facts.config_name,
                     judgement.id.substr(0, judgement.id.find('/')));
}

std::string format_message(const CaseAssessment& judgement) {
  const std::string effect = describe_effect(judgement);
  if (effect.empty() || judgement.reason.empty()) return effect + judgement.reason;
  return effect + "; " + judgement.reason;
}

std::string format_test_case(const GateFile& gate, const CaseAssessment& judgement,
                             const KitPaths& kits) {
  const ConfigLocation location = parse_config_location(judgement.source);
  std::string text = "    <testcase" + attribute("classname", class_name(gate, judgement)) +
                     attribute("name", judgement.id);
  if (!location.file.empty()) text += attribute("file", location.file);
  if (!location.file.empty() && location.line)
    text += attribute("line", std::to_string(*location.line));
  text += ">\n";
  const std::string facts = escape_lines(case_lines(gate, judgement, kits));
  const std::string_view element = junit_element(gate, judgement);
  if (element.empty()) {
    text +=
        fmt::format("      <system-out>{}\n{}</system-out>\n", to_string(judgement.verdict), facts);
  } else {
    text += fmt::format("      <{}{}{}>{}</{}>\n", element,
                        attribute("type", to_string(judgement.verdict)),
                        attribute("message", format_message(judgement)), facts, element);
  }
  return text + "    </testcase>\n";
}

std::string format_totals(const GateFile& gate) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTotals = {
      {{"failures", "failure"}, {"errors", "error"}, {"skipped", "skipped"}}};
  std::string text = attribute("tests", std::to_string(gate.judgements.size()));
  for (const auto& [name, element] : kTotals) {
    std::size_t cases = 0;
    for (const CaseAssessment& judgement : gate.judgements) {
      if (junit_element(gate, judgement) == element) ++cases;
    }
    text += attribute(name, std::to_string(cases));
  }
  return text;
}

std::string format_properties(const GateFile& gate) {
  std::string text = property("conclusion", gate.conclusion.sentence);
  text += property("coverage", format_coverage(gate.judgements));
  text += property("exit_status", std::to_string(static_cast<int>(gate.conclusion.status)));
  for (const std::string& line : context_lines(gate)) text += property("context", line);
  text += property("run_id", gate.facts.run_id);
  return text + property("machine_class", gate.facts.machine_class);
}

}  // namespace

std::string gate_junit(const GateFile& gate, const KitPaths& kits) {
  const std::string counts = format_totals(gate);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites{}{}>\n  <testsuite{}{}>\n", attribute("name", "bench gate"),
                      counts, attribute("name", gate.facts.config_name), counts);
  text += fmt::format("    <properties>\n{}    </properties>\n", format_properties(gate));
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    text += format_test_case(gate, *judgement, kits);
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace bench
