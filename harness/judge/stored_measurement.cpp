// SPDX-License-Identifier: Apache-2.0
// Stored baselines as one side of a comparison.
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/result/measured.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Returns the names of the machine classes' folders.
std::set<std::string> list_folders(const std::vector<StoreFile>& files) {
  std::set<std::string> names;
  for (const StoreFile& file : files) names.insert(file.folder_name);
  return names;
}

Result<std::string> choose_folder(const std::set<std::string>& names, const std::string& folder,
                                  const std::optional<std::string>& machine_class) {
  if (names.empty())
    return Error{"contains no baselines", folder, "add some with `bench baseline save`"};
  if (names.size() == 1) return *names.begin();
  const std::string own_folder =
      machine_class ? BaselineStore::case_file(*machine_class, "").folder_name : "";
  if (names.contains(own_folder)) return own_folder;
  return Error{fmt::format("contains baselines of {} machine classes: {}", names.size(),
                           fmt::join(names, ", ")),
               folder, fmt::format("name one of them: {}/{}", folder, *names.begin())};
}

// Returns the run to which most of the records belong; of several, the latest one. Returns nullptr
// without records.
const BaselineRecord* find_usual_run(const std::vector<const BaselineRecord*>& records) {
  std::map<std::string_view, std::size_t> cases;  // by run_id
  for (const BaselineRecord* record : records) ++cases[record->run_id];
  const auto usual = std::ranges::max_element(records, {}, [&](const BaselineRecord* record) {
    return std::pair(cases.at(record->run_id), std::string_view(record->time));
  });
  return usual == records.end() ? nullptr : *usual;
}

Error unknown_anchor_error(const StoredRuns& runs, const std::set<std::string>& anchors) {
  return {fmt::format("no run has the anchor {}", quote(*runs.anchor)), runs.folder,
          anchors.empty() ? "set anchors with `bench baseline save --anchor`"
                          : fmt::format("anchors there: {}", fmt::join(anchors, ", "))};
}

}  // namespace

std::map<std::string, std::string> stored_facts(const BaselineRecord& record) {
  std::map<std::string, std::string> facts = environment_facts(record.environment);
  facts["tool.version"] = record.tool_version;
  facts["tool.commit"] = record.commit;
  if (record.seed) facts["config.seed"] = std::to_string(*record.seed);
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

MeasuredCase measured_case(const BaselineRecord& record) {
  MeasuredCase measured = record.measured;
  describe_machine(record.environment, measured);
  return measured;
}

std::optional<std::string> leave_out_runs(const std::set<std::string>& run_ids,
                                          std::vector<BaselineHistory>& histories) {
  std::set<std::string> found;
  std::size_t alone = 0;
  for (BaselineHistory& history : histories) {
    const std::size_t removed = std::erase_if(history.records, [&](const BaselineRecord& record) {
      if (!run_ids.contains(record.run_id)) return false;
      found.insert(record.run_id);
      return true;
    });
    alone += removed > 0 && history.records.empty() ? 1 : 0;
  }
  if (found.empty()) return std::nullopt;
  const std::string others =
      alone == 0 ? "the last other run of each case is compared with it"
                 : pluralise(alone, "case has no other run", "cases have no other run");
  return fmt::format("run {} is in the store itself: {}", fmt::join(found, ", "), others);
}

Measurement make_measurement(const std::vector<BaselineHistory>& histories,
                             const std::string& name) {
  Measurement result;
  result.name = name;
  result.required_facts = {"machine_class"};
  std::vector<const BaselineRecord*> stored;
  for (const BaselineHistory& history : histories) {
    result.warnings.insert(result.warnings.end(), history.problems.begin(), history.problems.end());
    const BaselineRecord* last = history.last();
    if (last == nullptr) {
      if (!history.problems.empty()) {
        const std::string file_name = std::filesystem::path(history.path).filename().string();
        result.unreadable.emplace(file_name, history.problems.front());
      }
      continue;
    }
    stored.push_back(last);
  }
  const BaselineRecord* usual = find_usual_run(stored);
  if (usual != nullptr) result.facts = stored_facts(*usual);
  for (const BaselineRecord* last : stored) {
    MeasuredCase& entry = result.cases.emplace_back(measured_case(*last));
    result.stored_runs.emplace(entry.id, last->run_id);
    // result.facts has the seed of the usual run. A run with another seed had other input data, so
    // the digest of its output is not comparable.
    if (last->seed != usual->seed) entry.exact.facts.erase(kOutputDigestDetail);
  }
  return result;
}

Result<Measurement> read_stored(const StoredRuns& runs, const OtherSide& other) {
  BENCH_ASSIGN_OR_RETURN(const StoreSelection selection, open_baselines(runs.folder));
  BENCH_ASSIGN_OR_RETURN(const std::string chosen, choose_folder(list_folders(selection.files),
                                                                 runs.folder, other.machine_class));
  std::vector<BaselineHistory> histories;
  std::set<std::string> anchors;
  for (const StoreFile& file : selection.files) {
    if (file.folder_name != chosen) continue;
    BENCH_ASSIGN_OR_RETURN(BaselineHistory history, selection.store.read(file));
    for (const BaselineRecord& record : history.records) {
      if (record.anchor) anchors.insert(*record.anchor);
    }
    if (runs.anchor) {
      std::erase_if(history.records, [&](const auto& run) { return run.anchor != runs.anchor; });
    }
    histories.push_back(std::move(history));
  }
  if (runs.anchor && !anchors.contains(*runs.anchor)) return unknown_anchor_error(runs, anchors);
  const std::optional<std::string> left_out = leave_out_runs(other.run_ids, histories);
  Measurement stored =
      make_measurement(histories, runs.anchor ? runs.folder + "@" + *runs.anchor : runs.folder);
  // Without another run, the class is still that of the other side.
  if (left_out && stored.cases.empty() && other.machine_class)
    stored.facts.emplace("machine_class", *other.machine_class);
  if (left_out) stored.warnings.push_back(*left_out);
  return stored;
}

}  // namespace bench
