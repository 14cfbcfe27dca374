// SPDX-License-Identifier: Apache-2.0
#include "harness/report/versus_baseline.hpp"

#include "harness/judge/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

namespace bench {
namespace {

constexpr const char* kNone = "no baseline";
constexpr const char* kIncomparable = "incomparable";

std::string short_percent(double ratio) {
  const double share = 100 * (ratio - 1);
  return fmt::format("{:+.{}f}%", share, std::abs(share) < 0.995 ? 2 : 1);
}

std::string ratio_text(const ComparedCase& entry) {
  const std::string ratio = short_percent(*entry.ratio);
  if (!entry.low || !entry.high) return ratio;
  return fmt::format("{} [{}, {}]", ratio, short_percent(*entry.low), short_percent(*entry.high));
}

class BaselineColumn {
 public:
  void set(const std::string& id, std::string text, const std::string& reason) {
    if (!reason.empty()) ++reasons_[fmt::format("{}: {}", text, reason)];
    result_.cells[id] = std::move(text);
  }
  bool has(const std::string& id) const { return result_.cells.contains(id); }
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  VersusBaseline finish() {
    for (const auto& [reason, count] : reasons_)
      note(fmt::format("vs baseline, {} case{}: {}", count, count == 1 ? "" : "s", reason));
    return std::move(result_);
  }

 private:
  VersusBaseline result_;
  std::map<std::string, std::size_t> reasons_;  // with the number of cases
};

std::string why_none(const BaselineStore& store, const std::string& machine_class) {
  if (store.holds(machine_class))
    return fmt::format("{} has no run of this case; add this one with `bench baseline save`",
                       store.folder());
  std::set<std::string> others;
  if (const auto files = store.list(); files.ok()) {
    for (const StoreFile& file : *files) others.insert(file.folder_name);
  }
  return fmt::format("{} has no run of the machine class {}{}", store.folder(), machine_class,
                     others.empty() ? "" : fmt::format(", only of {}", fmt::join(others, ", ")));
}

// Reads the stored runs of the report's cases. Sets the column's cell for a case whose file is
// unreadable.
std::vector<BaselineHistory> read_histories(const Report& report, const BaselineStore& store,
                                            const std::string& machine_class,
                                            BaselineColumn& column) {
  std::vector<BaselineHistory> histories;
  for (const CaseRecord& record : report.cases) {
    if (record.outcome != Outcome::ok) continue;
    auto history = store.read(BaselineStore::file_of(machine_class, record.id));
    if (!history.ok()) {
      column.set(record.id, kIncomparable, history.error().message());
      continue;
    }
    if (history->records.empty() && !history->problems.empty()) {
      column.set(record.id, kIncomparable, history->problems.front());
    } else if (!history->problems.empty()) {
      column.note(history->problems.front());
    }
    histories.push_back(*std::move(history));
  }
  return histories;
}

}  // namespace

VersusBaseline versus_baseline(const Report& report, const BaselineStore& store) {
  BaselineColumn column;
  const std::string machine_class =
      report.runs.empty() ? "" : report.runs.back().environment.machine_class;
  const std::vector<BaselineHistory> histories =
      read_histories(report, store, machine_class, column);
  const Measurement base = measurement_of(histories, store.folder());
  const Measurement candidate = measurement_of(report, "this run");
  const std::string none = why_none(store, machine_class);
  for (const ComparedCase& entry : compare(base, candidate, {}).cases) {
    if (column.has(entry.id) || entry.verdict == CaseVerdict::failed) continue;
    if (!base.facts.contains("machine_class") || entry.verdict == CaseVerdict::added) {
      if (entry.candidate) column.set(entry.id, kNone, none);
    } else if (!entry.ratio) {
      column.set(entry.id, kIncomparable, entry.reason);
    } else {
      column.set(entry.id, ratio_text(entry), "");
    }
  }
  return column.finish();
}

}  // namespace bench
