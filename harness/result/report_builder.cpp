// SPDX-License-Identifier: Apache-2.0
#include "harness/result/report_builder.hpp"

#include "harness/result/measured.hpp"
#include "harness/result/record.hpp"
#include "harness/result/summary.hpp"

#include <map>
#include <variant>

namespace bench {

void ReportBuilder::add(Record record) {
  ++records_;
  std::visit([this](auto& value) { add(std::move(value)); }, record);
}

void ReportBuilder::add(CaseRecord record) {
  processes_before_last_case_[record.id] = report_.processes.size();
  const auto [entry, is_new] = index_.try_emplace(record.id, report_.cases.size());
  if (is_new) {
    report_.cases.push_back(std::move(record));
    return;
  }
  CaseRecord& earlier = report_.cases[entry->second];
  if (record.outcome == Outcome::ok || earlier.outcome != Outcome::ok) earlier = std::move(record);
}

Report ReportBuilder::report() const& { return ReportBuilder(*this).report(); }

Report ReportBuilder::report() && {
  add_interrupted_cases(report_, processes_before_last_case_);
  return std::move(report_);
}

namespace {

// The process records of a case without a case record.
struct MeasuredProcesses {
  std::string origin;                             // first run in the chain of the last record's run
  std::map<int, const ProcessRecord*> processes;  // by process number
  std::size_t last = 0;                           // index of the last record in Report::processes
};

CaseRecord make_interrupted_case(const std::string& id, const MeasuredProcesses& measured) {
  std::vector<const ProcessRecord*> processes;
  for (const auto& [number, process] : measured.processes) processes.push_back(process);
  CaseRecord record = make_record(id);
  record.run_id = processes.back()->run_id;
  record.flags = {Flag::interrupted};
  complete_case(record, processes, kUnknownPrecision);
  return record;
}

}  // namespace

CaseRecord make_record(const std::string& id) {
  const IdSegments segments = split_id(id);
  CaseRecord record;
  record.id = id;
  record.op = segments.op;
  record.direction = segments.direction;
  record.dtype = segments.dtype;
  record.backend = segments.backend;
  record.device = segments.device;
  return record;
}

void add_interrupted_cases(
    Report& report,
    const std::unordered_map<std::string, std::size_t>& processes_before_last_case) {
  const RunChains chains(report.runs);
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < report.cases.size(); ++i) index[report.cases[i].id] = i;
  const auto has_result = [&](const std::string& id) {
    const auto position = index.find(id);
    return position != index.end() && report.cases[position->second].outcome == Outcome::ok;
  };
  std::unordered_map<std::string, MeasuredProcesses> measured;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < report.processes.size(); ++i) {
    const ProcessRecord& process = report.processes[i];
    if (process.samples.empty() || has_result(process.id)) continue;
    auto [position, is_new] = measured.try_emplace(process.id);
    if (is_new) order.push_back(process.id);
    MeasuredProcesses& entry = position->second;
    const std::string& origin = chains.origin(process.run_id);
    if (entry.origin != origin) entry.processes.clear();
    entry.origin = origin;
    entry.processes[process.process] = &process;
    entry.last = i;
  }
  for (const std::string& id : order) {
    const MeasuredProcesses& entry = measured.at(id);
    const auto position = index.find(id);
    if (position == index.end()) {
      report.cases.push_back(make_interrupted_case(id, entry));
    } else if (entry.last >= processes_before_last_case.at(id)) {
      report.cases[position->second] = make_interrupted_case(id, entry);
    }
  }
}

}  // namespace bench
