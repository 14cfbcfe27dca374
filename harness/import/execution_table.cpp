// SPDX-License-Identifier: Apache-2.0
#include "harness/import/execution_table.hpp"

#include "base/text.hpp"
#include "harness/config/case_id.hpp"
#include "harness/import/suite_text.hpp"
#include "ops/operator.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {
namespace {

// A program on a GPU has hundreds of names of kernels for one problem.
constexpr std::size_t kMaxImplementations = 500;  // characters

void add_execution(ProgramUse& use, const ImportedExecution& execution) {
  use.count += execution.count;
  use.time = saturating_sum(use.time, execution.time);
  for (std::int64_t i = 0; i < execution.count; ++i)
    use.times.add(execution.time / execution.count);
  std::string name(execution.implementation);
  std::ranges::replace(name, ' ', '_');  // a blank separates names
  if (!name.empty() && use.implementations.size() < kMaxImplementations &&
      (" " + use.implementations + " ").find(fmt::format(" {} ", name)) == std::string::npos)
    use.implementations.append(use.implementations.empty() ? "" : " ").append(name);
}

std::string make_imported_id(const ops::Problem& problem, ExecutionSource source, CacheMode cache) {
  CaseKey key;
  key.op = problem.op->name;
  key.direction = problem.direction;
  key.parameters = ops::problem_tokens(problem);
  key.dtype = problem.dtype;
  key.layout = problem.layout;
  key.math = problem.math;
  key.cache = cache;
  if (source == ExecutionSource::gpu) {
    key.device = "cuda";
    key.backend = problem.op->cuda.front();
  }
  return to_id(key);
}

}  // namespace

Status ExecutionTable::add(const std::string& key, const ImportedExecution& execution,
                           const std::function<ExecutionIdentity()>& identify) {
  auto entry = slots_.find(key);
  if (entry == slots_.end()) {
    if (slots_.size() >= kMaxImportedProblems)
      return Error{
          fmt::format("more than {} distinct primitives", format_with_commas(kMaxImportedProblems)),
          found_.files[execution.place.file], "import a part of the file"};
    entry = slots_.emplace(key, find_slot(execution, identify())).first;
  }
  const auto [is_case, index] = entry->second;
  add_execution(is_case ? *found_.cases[index].use : *found_.refused[index].use, execution);
  return Done{};
}

ExecutionTable::Slot ExecutionTable::find_slot(const ImportedExecution& execution,
                                               ExecutionIdentity identity) {
  auto& [text, problem, cache] = identity;
  if (problem.ok() && execution.source == ExecutionSource::gpu && problem->op->cuda.empty())
    problem = Error{fmt::format("{} has no backend for GPUs", problem->op->name), {}, {}};
  if (!problem.ok()) {
    found_.refused.push_back(
        {execution.place, std::move(text), problem.error().what, 1, ProgramUse(execution.source)});
    return {false, found_.refused.size() - 1};
  }
  std::string id = make_imported_id(*problem, execution.source, cache);
  const auto [known, is_new] = cases_.emplace(id, found_.cases.size());
  if (is_new)
    found_.cases.push_back({.op = problem->op,
                            .fields = suite_fields(*problem),
                            .place = execution.place,
                            .text = std::move(text),
                            .use = ProgramUse(execution.source),
                            .id = std::move(id),
                            .cache = cache});
  return {true, known->second};
}

}  // namespace bench
