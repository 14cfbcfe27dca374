// SPDX-License-Identifier: Apache-2.0
#include "harness/import/gpu_execution.hpp"

#include "base/characters.hpp"
#include "harness/import/framework_case.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace bench {
namespace {

using ops::Direction;

// Work of one execution, and streams with open work.
constexpr std::size_t kMaxGroup = 1024;
constexpr std::size_t kMaxOpenStreams = 10'000;
constexpr std::size_t kMaxHostCalls = 100'000;

// Parts of the names of kernels that compute one gradient of a convolution.
struct GradientName {
  std::string_view part;  // in lower case
  Direction direction;
};
constexpr std::array<GradientName, 4> kGradientNames = {
    {{"dgrad", Direction::backward_data},
     {"wgrad", Direction::backward_weights},
     {"bwd_data", Direction::backward_data},
     {"bwd_filter", Direction::backward_weights}}};

std::optional<Direction> find_gradient(std::string_view kernel) {
  const std::string name = lower_case(kernel);
  for (const auto& [part, direction] : kGradientNames) {
    if (name.find(part) != std::string::npos) return direction;
  }
  return std::nullopt;
}

bool is_same_execution(const Activity& a, const Activity& b) {
  const auto text_differs = [&](Attribute attribute) {
    const std::string_view left = a.attributes.text(attribute);
    const std::string_view right = b.attributes.text(attribute);
    return !left.empty() && !right.empty() && left != right;
  };
  const auto left = a.attributes.integer(Attribute::sequence);
  const auto right = b.attributes.integer(Attribute::sequence);
  return a.attributes.text(Attribute::op) == b.attributes.text(Attribute::op) &&
         a.direction == b.direction && a.scope == b.scope && (!left || !right || left == right) &&
         !text_differs(Attribute::in_shapes) && !text_differs(Attribute::parameters) &&
         b.attributes.integer(Attribute::sub) != 0;
}

// What an operation of the host and its kernels have in common.
std::string make_call_key(std::string_view name, const Activity& activity) {
  return fmt::format("{}|{}|{}|{}", name, activity.attributes.text(Attribute::in_shapes),
                     activity.attributes.text(Attribute::dtype),
                     activity.attributes.integer(Attribute::sequence).value_or(-1));
}

GpuCall describe_call(const Activity& caller, bool names_tf32) {
  const Attributes& attributes = caller.attributes;
  return {.op = attributes.text(Attribute::op),
          .direction = caller.direction,
          .dtype = attributes.text(Attribute::dtype),
          .parameters = attributes.text(Attribute::parameters),
          .in_shapes = attributes.text(Attribute::in_shapes),
          .problem = attributes.text(Attribute::problem),
          .arguments = attributes.text(Attribute::auxiliary),
          .names_tf32 = names_tf32};
}

std::string make_key(const GpuCall& call, std::string_view part) {
  return fmt::format("gpu|{}|{}|{}|{}|{}|{}|{}|{}|{}", call.op, call.direction, call.dtype,
                     call.parameters, call.in_shapes, call.problem, call.arguments, call.names_tf32,
                     part);
}

Error unknown_gradient() {
  return {"the names of its kernels do not show which gradient they compute", {}, {}};
}

}  // namespace

GpuExecutionCollector::GpuExecutionCollector(ExecutionTable& table, Imported& found)
    : table_(table), found_(found), compute_work_(ops::make_work_provider()) {}

Status GpuExecutionCollector::consume(const Activity& activity) {
  if (activity.kind == ActivityKind::operation) remember(activity);
  const bool is_work = analysis::facts_of(activity.kind).category == "device";
  if (!is_work || !activity.duration) return Done{};
  const Track& track = activity.track;
  Works& works = open_[{track.pid, track.device.value_or(-1), track.stream.value_or(-1)}];
  const bool has_operator = !activity.attributes.text(Attribute::op).empty();
  const bool joins = has_operator && !works.empty() && works.size() < kMaxGroup &&
                     is_same_execution(works.back().activity, activity);
  if (!joins) BENCH_RETURN_IF_ERROR(finish(works));
  if (!has_operator) {
    ++found_.unattributed.count;
    found_.unattributed.time = saturating_sum(found_.unattributed.time, *activity.duration);
    return Done{};
  }
  auto flops = activity.attributes.integer(Attribute::flops);
  if (!flops && activity.kind == ActivityKind::kernel) {
    if (const auto work = compute_work_(activity)) flops = work->flops;
  }
  const bool is_kineto = activity.kind == ActivityKind::kernel &&
                         activity.attributes.text(Attribute::problem).starts_with("[[");
  works.push_back({activity, is_kineto || flops.value_or(0) > 0});
  return open_.size() > kMaxOpenStreams ? end_file() : Status(Done{});
}

Status GpuExecutionCollector::end_file() {
  for (auto& [stream, works] : open_) BENCH_RETURN_IF_ERROR(finish(works));
  open_.clear();
  return Done{};
}

void GpuExecutionCollector::remember(const Activity& operation) {
  const std::string_view problem = operation.attributes.text(Attribute::problem);
  if (problem.empty()) return;
  if (calls_.size() >= kMaxHostCalls) calls_.clear();
  const std::string_view arguments = operation.attributes.text(Attribute::auxiliary);
  const auto [entry, is_new] = calls_.try_emplace(make_call_key(operation.name, operation));
  HostCall& call = entry->second;
  if (is_new) {
    call = {std::string(problem), std::string(arguments)};
  } else if (call.problem != problem || call.arguments != arguments) {
    call.is_ambiguous = true;
  }
}

// Adds the work as executions of the case, or cases, of its operator.
Status GpuExecutionCollector::finish(Works& works) {
  if (works.empty()) return Done{};
  auto caller = std::ranges::find(works, true, &Work::computes);
  if (caller == works.end())
    caller = std::ranges::find(works, ActivityKind::kernel,
                               [](const Work& work) { return work.activity.kind; });
  if (caller == works.end()) caller = works.begin();
  Activity call = caller->activity;
  if (call.attributes.text(Attribute::problem).empty()) {
    const auto known = calls_.find(make_call_key(call.attributes.text(Attribute::op), call));
    if (known != calls_.end() && !known->second.is_ambiguous) {
      call.attributes.set(Attribute::problem, known->second.problem);
      call.attributes.set(Attribute::auxiliary, known->second.arguments);
    }
  }
  const Status status = add_parts(works, call);
  works.clear();
  return status;
}

// Divides the work between the two gradients. Other work belongs to the kernel of a gradient
// after it, else to the one before. Error: a kernel that computes does not show its gradient.
Result<GpuExecutionCollector::Parts> GpuExecutionCollector::divide(const Works& works) {
  Parts parts(works.size());
  Part next;
  for (std::size_t i = works.size(); i-- > 0;) {
    const auto found = find_gradient(works[i].activity.name);
    if (found) next = found;
    if (works[i].computes && !found) return unknown_gradient();
    parts[i] = next;
  }
  if (!next) return unknown_gradient();
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!parts[i]) parts[i] = parts[i - 1];
  return parts;
}

std::map<GpuExecutionCollector::Part, ImportedExecution> GpuExecutionCollector::sum_parts(
    const Works& works, const Parts& parts, const ImportPlace& place) {
  std::map<Part, ImportedExecution> executions;
  std::map<Part, Nanoseconds> longest;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto [entry, is_new] = executions.try_emplace(parts[i]);
    ImportedExecution& execution = entry->second;
    if (is_new) execution = {.source = ExecutionSource::gpu, .place = place, .count = 0};
    const Activity& work = works[i].activity;
    execution.time = saturating_sum(execution.time, *work.duration);
    if (works[i].computes) ++execution.count;
    if (work.kind != ActivityKind::kernel || *work.duration < longest[parts[i]]) continue;
    longest[parts[i]] = *work.duration;
    execution.implementation = work.name;
  }
  for (auto& [part, execution] : executions)
    execution.count = std::max<std::int64_t>(execution.count, 1);
  return executions;
}

Status GpuExecutionCollector::add_parts(const Works& works, const Activity& caller) {
  const bool names_tf32 = std::ranges::any_of(
      works, [](const Work& work) { return work.activity.name.find("tf32") != std::string::npos; });
  const GpuCall call = describe_call(caller, names_tf32);
  auto cases = find_gpu_cases(call, caller);
  Parts parts(works.size());
  if (cases.ok() && cases->size() > 1) {
    auto divided = divide(works);
    if (divided.ok()) {
      parts = *std::move(divided);
    } else {
      cases = divided.error();
    }
  }
  const ImportPlace place{file_,
                          static_cast<int>(caller.attributes.integer(Attribute::line).value_or(0))};
  for (const auto& [part, execution] : sum_parts(works, parts, place)) {
    const auto identify = [&, wanted = part]() -> ExecutionIdentity {
      if (!cases.ok()) return {describe_gpu_call(call), cases.error()};
      const auto found = std::ranges::find_if(*cases, [&](const ops::Problem& problem) {
        return !wanted || problem.direction == *wanted;
      });
      return {describe_gpu_call(call), *found};
    };
    const std::string_view direction = part ? to_string(*part) : "";
    BENCH_RETURN_IF_ERROR(
        table_.add(make_key(call, cases.ok() ? direction : "refused"), execution, identify));
  }
  return Done{};
}

}  // namespace bench
