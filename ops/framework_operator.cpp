// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_operator.hpp"

#include "base/checked.hpp"
#include "ops/description.hpp"
#include "ops/framework_row.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace bench::ops {
namespace {

// Python's operators, including in-place and reflected ones.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kPythonNames = {
    {{"__add__", "add"},
     {"__iadd__", "add"},
     {"__radd__", "add"},
     {"__sub__", "sub"},
     {"__isub__", "sub"},
     {"__rsub__", "sub"},
     {"__mul__", "mul"},
     {"__imul__", "mul"},
     {"__rmul__", "mul"},
     {"__truediv__", "div"},
     {"__itruediv__", "div"},
     {"__matmul__", "matmul"},
     {"__abs__", "abs"}}};

std::string_view plain_name(std::string_view name) {
  for (const auto& [python, plain] : kPythonNames) {
    if (name == python) return plain;
  }
  constexpr std::string_view kNamespace = "aten::";
  if (name.starts_with(kNamespace)) name.remove_prefix(kNamespace.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

std::optional<DataType> find_data_type(const FrameworkCall& call) {
  return call.arguments == nullptr ? std::nullopt : framework::find_argument_type(*call.arguments);
}

// Formats "eligible (RULE)" or "not eligible (RULE: why)". Empty if there is no product, or no rule
// covers it.
std::string format_tensor_cores(const Problem& problem, const Platform& platform) {
  const TensorCoreEligibility verdict = assess_tensor_cores(problem, platform);
  if (verdict.answer == TensorCoreAnswer::not_applicable) return {};
  const bool is_eligible = verdict.answer == TensorCoreAnswer::eligible;
  return fmt::format("{} ({}{}{})", to_string(verdict.answer), verdict.rule,
                     is_eligible ? "" : ": ", is_eligible ? "" : verdict.reason);
}

// Assumes that all tensors of a call have one data type.
std::optional<std::int64_t> compute_bytes(const Problem& problem,
                                          const std::optional<std::int64_t>& elements) {
  if (elements) return (Checked(*elements) * info(problem.dtype).bytes).value();
  return (Checked(problem.work.bytes_read) + problem.work.bytes_written).value();
}

std::optional<FrameworkWork> describe(const FrameworkCall& call, framework::Equivalent equivalent,
                                      const std::optional<Platform>& platform) {
  const auto dtype = find_data_type(call);
  if (dtype) equivalent.request.dtype = *dtype;
  const Result<Problem> problem = make_problem(std::move(equivalent.request));
  if (!problem.ok()) return std::nullopt;
  const auto flops = (Checked(problem->work.flops) + equivalent.more_flops).value();
  if (!flops) return std::nullopt;
  FrameworkWork work;
  work.op = problem->op->name;
  if (equivalent.fidelity != framework::Fidelity::work_only)
    work.case_parameters = problem_tokens(*problem);
  if (equivalent.fidelity == framework::Fidelity::exact) work.parameters = work.case_parameters;
  work.macs = problem->work.macs;
  work.flops = *flops;
  work.extent = equivalent.extent;
  if (!dtype) return work;
  work.dtype = info(*dtype).name;
  if (equivalent.tensors == framework::Tensors::same)
    work.bytes = compute_bytes(*problem, equivalent.elements);
  if (platform) work.tensor_cores = format_tensor_cores(*problem, *platform);
  return work;
}

// Caches results, because programs repeat calls with the same shapes.
class CachingWorkProvider {
 public:
  explicit CachingWorkProvider(const std::optional<Platform>& platform) : platform_(platform) {}

  std::optional<FrameworkWork> operator()(const FrameworkCall& call) {
    if (call.arguments != nullptr) return compute_framework_work(call, platform_);
    std::string key = fmt::format("{} {}", call.name, *call.inputs);
    if (call.output != nullptr) key += fmt::format(" {}", *call.output);
    const auto cached = cache_.find(key);
    if (cached != cache_.end()) return cached->second;
    constexpr std::size_t kMaxEntries = 16384;
    if (cache_.size() >= kMaxEntries) cache_.clear();
    return cache_.emplace(std::move(key), compute_framework_work(call, platform_)).first->second;
  }

 private:
  std::optional<Platform> platform_;
  std::map<std::string, std::optional<FrameworkWork>> cache_;
};

std::optional<FrameworkWork> compute_row_work(const FrameworkCall& call, const FrameworkRow& row,
                                              const std::optional<Platform>& platform) {
  if (call.arguments != nullptr && row.by_arguments != nullptr) {
    auto request = row.by_arguments(*call.arguments, row);
    if (request) {
      return describe(
          call, {.request = std::move(*request), .fidelity = framework::Fidelity::exact}, platform);
    }
  }
  if (row.by_shapes == nullptr) return std::nullopt;
  auto equivalent = row.by_shapes(call, row);
  return equivalent ? describe(call, std::move(*equivalent), platform) : std::nullopt;
}

struct DescribedFunction {
  const Operator* op;
  const FrameworkFunction* function;
};

std::optional<DescribedFunction> find_described_function(std::string_view name) {
  for (const Operator* op : all_operators()) {
    if (op->description == nullptr) continue;
    const auto functions = op->description->description().framework;
    const auto found = std::ranges::find(functions, name, &FrameworkFunction::name);
    if (found != functions.end()) return DescribedFunction{op, &*found};
  }
  return std::nullopt;
}

std::optional<FrameworkWork> compute_described_work(const FrameworkCall& call,
                                                    const DescribedFunction& described,
                                                    const std::optional<Platform>& platform) {
  const auto request = solve_framework_call(*described.op, *described.function, *call.inputs);
  if (!request) return std::nullopt;
  return describe(call, {.request = *request}, platform);
}

}  // namespace

std::optional<FrameworkWork> compute_framework_work(const FrameworkCall& call,
                                                    const std::optional<Platform>& platform) {
  const auto is_empty = [](const FrameworkRange::Shape& shape) {
    return std::ranges::any_of(shape, [](std::int64_t size) { return size < 1; });
  };
  if (std::ranges::any_of(*call.inputs, is_empty)) return std::nullopt;
  if (call.output != nullptr && is_empty(*call.output)) return std::nullopt;
  const std::string_view name = plain_name(call.name);
  for (const FrameworkMapping* mapping : framework_mappings()) {
    if (std::ranges::find(mapping->copies, name) != mapping->copies.end()) {
      return FrameworkWork{.op = std::string(mapping->op)};
    }
    const auto row = std::ranges::find(mapping->rows, name, &FrameworkRow::name);
    if (row != mapping->rows.end()) return compute_row_work(call, *row, platform);
  }
  const auto described = find_described_function(name);
  return described ? compute_described_work(call, *described, platform) : std::nullopt;
}

FrameworkWorkProvider make_framework_work_provider(const std::optional<Platform>& platform) {
  return CachingWorkProvider(platform);
}

FrameworkWorkProvider make_framework_case_provider() {
  return [provider = CachingWorkProvider({})](const FrameworkCall& call) mutable {
    auto work = provider(call);
    if (work) work->parameters = work->case_parameters;
    return work;
  };
}

std::vector<std::string_view> framework_operator_names() {
  std::vector<std::string_view> names;
  for (const FrameworkMapping* mapping : framework_mappings()) {
    for (const FrameworkRow& row : mapping->rows) names.push_back(row.name);
    names.insert(names.end(), mapping->copies.begin(), mapping->copies.end());
  }
  for (const Operator* op : all_operators()) {
    if (op->description == nullptr) continue;
    for (const FrameworkFunction& function : op->description->description().framework) {
      names.push_back(function.name);
    }
  }
  return names;
}

}  // namespace bench::ops
