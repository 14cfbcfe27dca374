// SPDX-License-Identifier: Apache-2.0
#include "harness/result/report_builder.hpp"

#include "harness/result/synthesis.hpp"

#include <variant>

namespace bench {

void ReportBuilder::add(Record record) {
  ++records_;
  std::visit([this](auto& value) { add(std::move(value)); }, record);
}

void ReportBuilder::add(CaseRecord record) {
  last_case_record_[record.id] = report_.processes.size();
  const auto [place, is_new] = index_.try_emplace(record.id, report_.cases.size());
  if (is_new) {
    report_.cases.push_back(std::move(record));
    return;
  }
  CaseRecord& known = report_.cases[place->second];
  if (record.outcome == Outcome::ok || known.outcome != Outcome::ok) known = std::move(record);
}

Report ReportBuilder::report() const {
  Report report = report_;
  add_interrupted_cases(report, last_case_record_);
  return report;
}

}  // namespace bench
