// SPDX-License-Identifier: Apache-2.0
#include "harness/result/report_builder.hpp"

#include "harness/result/measured.hpp"
#include "harness/result/record.hpp"
#include "harness/result/summary.hpp"

#include <map>
#include <string_view>
#include <unordered_set>
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
  keep_counted_records(report_);
  return std::move(report_);
}

namespace {

// Removes the records for which `is_counted` is false; it gets each record and its index.
template <class Item, class Predicate>
void keep_if(std::vector<Item>& records, const Predicate& is_counted) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!is_counted(records[i], i)) continue;
    if (kept != i) records[kept] = std::move(records[i]);
    ++kept;
  }
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(kept), records.end());
}

// Keeps the first record of each run. Records without a run's id are not known to be repetitions.
template <class Item>
void keep_first_of_each_run(std::vector<Item>& records) {
  std::unordered_set<std::string> known;
  keep_if(records, [&](const Item& record, std::size_t) {
    return record.run_id.empty() || known.insert(record.run_id).second;
  });
}

void keep_counted_processes(Report& report) {
  const CountedProcesses processes(report);
  std::unordered_set<std::string_view> ids;
  std::unordered_set<const ProcessRecord*> counted;
  for (const CaseRecord& record : report.cases) {
    ids.insert(record.id);
    for (const ProcessRecord* process : processes.of(record)) counted.insert(process);
  }
  std::vector<bool> is_counted;
  for (const ProcessRecord& process : report.processes)
    is_counted.push_back(!ids.contains(process.id) || counted.contains(&process));
  keep_if(report.processes,
          [&](const ProcessRecord&, std::size_t index) { return is_counted[index]; });
}

void keep_counted_passes(std::vector<ProfilePassRecord>& passes) {
  std::unordered_map<std::string, std::size_t> counted;  // index by case
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const auto [entry, is_new] = counted.try_emplace(passes[i].id, i);
    const bool is_better =
        passes[i].outcome == Outcome::ok || passes[entry->second].outcome != Outcome::ok;
    if (!is_new && is_better) entry->second = i;
  }
  keep_if(passes, [&](const ProfilePassRecord& pass, std::size_t index) {
    return counted.at(pass.id) == index;
  });
}

}  // namespace

void keep_counted_records(Report& report) {
  keep_first_of_each_run(report.runs);
  keep_first_of_each_run(report.ends);
  keep_counted_processes(report);
  keep_counted_passes(report.profile_passes);
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
