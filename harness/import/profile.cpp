// SPDX-License-Identifier: Apache-2.0
// Reads what a program executed, from a profile or a log of oneDNN: each distinct primitive is a
// case, with the number and the time of its executions.
#include "base/text.hpp"
#include "harness/config/case_id.hpp"
#include "harness/import/kind.hpp"
#include "harness/import/suite_text.hpp"
#include "ops/logged_case.hpp"
#include "ops/operator.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench {
namespace {

// "convolution forward_inference alg:convolution_direct mb1_ic64oc64_..."
std::string describe_execution(const Activity& activity) {
  std::string text;
  for (const Attribute attribute :
       {Attribute::primitive, Attribute::propagation, Attribute::auxiliary, Attribute::problem,
        Attribute::primitive_attributes}) {
    const std::string_view part = activity.attributes.text(attribute);
    if (!part.empty() && part != "undef") text.append(text.empty() ? "" : " ").append(part);
  }
  return text;
}

void add_execution(ProgramUse& use, const Activity& activity) {
  ++use.count;
  use.time = saturating_sum(use.time, *activity.duration);
  use.times.add(*activity.duration);
  const std::string_view name = activity.attributes.text(Attribute::implementation);
  if (!name.empty() &&
      (" " + use.implementations + " ").find(fmt::format(" {} ", name)) == std::string::npos)
    use.implementations.append(use.implementations.empty() ? "" : " ").append(name);
}

std::string make_imported_id(const ops::Problem& problem) {
  CaseKey key;
  key.op = problem.op->name;
  key.direction = problem.direction;
  key.parameters = ops::problem_tokens(problem);
  key.dtype = problem.dtype;
  key.layout = problem.layout;
  key.math = problem.math;
  return to_id(key);
}

// Collects the executions of all files.
class ExecutionCollector final : public ActivitySink {
 public:
  explicit ExecutionCollector(Imported& found) : found_(found) {}

  void begin_file(std::size_t file) { file_ = file; }

  Status consume(const Activity& activity) override {
    if (!is_onednn_execution(activity) || !activity.duration) return Done{};
    ops::make_execution_key(activity, key_);
    auto entry = slots_.find(key_);
    if (entry == slots_.end()) {
      if (slots_.size() >= kMaxImportedProblems)
        return Error{fmt::format("more than {} distinct primitives",
                                 format_with_commas(kMaxImportedProblems)),
                     found_.files[file_], "import a part of the file"};
      entry = slots_.emplace(key_, find_slot(activity)).first;
    }
    const auto [is_case, index] = entry->second;
    add_execution(is_case ? *found_.cases[index].use : *found_.refused[index].use, activity);
    return Done{};
  }

 private:
  struct Slot {
    bool is_case;  // an index of Imported::cases, or of Imported::refused
    std::size_t index;
  };

  // Returns the case or the refusal of a primitive that is new. Primitives that differ in nothing
  // that a case has are one case.
  Slot find_slot(const Activity& activity) {
    const ImportPlace place{
        file_, static_cast<int>(activity.attributes.integer(Attribute::line).value_or(0))};
    std::string text = describe_execution(activity);
    // What a reorder does is in its layouts alone.
    if (activity.attributes.text(Attribute::primitive) == "reorder")
      text.append(" ").append(activity.attributes.text(Attribute::layouts));
    const auto request = ops::find_logged_case(activity);
    const auto problem = request.ok() ? ops::make_problem(*request) : request.error();
    if (!problem.ok()) {
      found_.refused.push_back({place, std::move(text), problem.error().what, 1, ProgramUse{}});
      return {false, found_.refused.size() - 1};
    }
    std::string id = make_imported_id(*problem);
    const auto [known, is_new] = cases_.emplace(id, found_.cases.size());
    if (is_new)
      found_.cases.push_back({problem->op, suite_fields(*problem), place, std::move(text),
                              ProgramUse{}, std::move(id)});
    return {true, known->second};
  }

  Imported& found_;
  std::size_t file_ = 0;
  std::string key_;
  std::unordered_map<std::string, Slot> slots_;  // by all that decides the case
  std::map<std::string, std::size_t> cases_;     // indices by id
};

}  // namespace

Result<Imported> read_profile(const ImportRequest& request) {
  Imported found;
  ExecutionCollector collector(found);
  found.coverage.emplace();
  for (const ImportFile& file : request.files) {
    collector.begin_file(found.files.size());
    found.files.push_back(file.path);
    BENCH_ASSIGN_OR_RETURN(const auto source, request.open(file.path));
    CoverageSink coverage(&collector);
    BeginRecordMerger merger(coverage);
    BENCH_ASSIGN_OR_RETURN(const ReadReport report, read_activities(*source, merger));
    BENCH_RETURN_IF_ERROR(merger.finish());
    found.coverage->add(coverage.coverage(report.starts));
  }
  // What takes the most time is measured first, also within a budget, and is refused first.
  const auto time = [](const auto& item) { return item.use->time; };
  std::ranges::stable_sort(found.cases, std::greater(), time);
  std::ranges::stable_sort(found.refused, std::greater(), time);
  return found;
}

}  // namespace bench
