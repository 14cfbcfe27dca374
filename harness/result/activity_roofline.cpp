// SPDX-License-Identifier: Apache-2.0
#include "harness/result/activity_roofline.hpp"

#include "base/data_type.hpp"
#include "harness/result/roofline.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace bench {
namespace {

std::optional<ops::Direction> direction_named(std::string_view name) {
  const auto names = ops::direction_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<ops::Direction>(found - names.begin());
}

std::optional<ops::Problem> problem_of_activity(const Activity& activity) {
  const ops::Operator* op = ops::find_operator(activity.attributes.text(Attribute::op));
  const auto dtype = data_type_from_name(activity.attributes.text(Attribute::dtype));
  const auto direction = direction_named(activity.direction);
  const std::string_view tokens = activity.attributes.text(Attribute::parameters);
  if (op == nullptr || !dtype || !direction || tokens.empty()) return std::nullopt;
  auto parsed = ops::parse_problem_tokens(*op, tokens);
  if (!parsed.ok()) return std::nullopt;
  auto problem = ops::make_problem({.op = op,
                                    .direction = *direction,
                                    .dtype = *dtype,
                                    .parameters = std::move(parsed->parameters),
                                    .post_ops = std::move(parsed->post_ops)});
  if (!problem.ok()) return std::nullopt;
  return *std::move(problem);
}

Bytes weights_of_problem(const ops::Problem& problem) {
  Bytes sum{0};
  for (const ops::Tensor& tensor : problem.tensors) {
    if (tensor.role == ops::TensorRole::weights) sum.count += tensor.size().count;
  }
  return sum;
}

// Enclosing activities, creations and copies have no ceiling of their own.
bool is_executed_on_cpu(const Activity& activity) {
  if (activity.track.device || activity.attributes.text(Attribute::engine) == "gpu") return false;
  if (activity.kind == ActivityKind::operation) return true;
  if (activity.kind != ActivityKind::primitive) return false;
  const std::string_view phase = activity.attributes.text(Attribute::phase);
  return phase.empty() || phase == "exec";
}

ActivityIdeal activity_ideal(Nanoseconds time, Bound bound) {
  return {time, bound_names()[static_cast<std::size_t>(bound)]};
}

}  // namespace

const std::optional<ActivityWorkModel::Known>& ActivityWorkModel::modelled(
    const Activity& activity) {
  key_ = fmt::format("{}/{}/{}/{}", activity.attributes.text(Attribute::op), activity.direction,
                     activity.attributes.text(Attribute::dtype),
                     activity.attributes.text(Attribute::parameters));
  const auto found = known_.find(key_);
  if (found != known_.end()) return found->second;
  // Limits memory for profiles in which every row differs.
  constexpr std::size_t kMaxKnown = 16384;
  if (known_.size() >= kMaxKnown) known_.clear();
  const auto problem = problem_of_activity(activity);
  const auto known =
      problem ? std::optional(Known{problem->work, weights_of_problem(*problem)}) : std::nullopt;
  return known_.emplace(key_, known).first->second;
}

std::optional<ActivityWorkModel::Known> ActivityWorkModel::work(const Activity& activity) {
  const auto flops = activity.attributes.integer(Attribute::flops);
  const auto bytes = activity.attributes.integer(Attribute::bytes);
  if (!flops && !bytes) return std::nullopt;
  Known known;
  known.work.flops = flops.value_or(0);
  known.work.bytes_read = bytes.value_or(0);
  const std::optional<Known>& model = modelled(activity);
  if (!model) return known;
  known.weights = model->weights;
  // An activity with other operations than its parameters imply is not the case they name.
  if (model->work.flops == known.work.flops) known.work.flops_valid = model->work.flops_valid;
  return known;
}

IdealProvider make_ideal_provider(Ceilings ceilings) {
  return [ceilings = std::move(ceilings), works = std::make_shared<ActivityWorkModel>()](
             const Activity& activity) -> std::optional<ActivityIdeal> {
    const auto known = is_executed_on_cpu(activity) ? works->work(activity) : std::nullopt;
    if (!known) return std::nullopt;
    const IdSegments segments = split_id(activity.case_id);
    RooflineQuestion question;
    question.work = known->work;
    // The ideal time does not depend on the time.
    question.time = Nanoseconds(1);
    question.dtype = activity.attributes.text(Attribute::dtype);
    question.cache = segments.cache;
    question.threads = threads_in(segments.options);
    question.weights = known->weights;
    const auto roofline = compute_roofline(question, ceilings);
    if (!roofline) return std::nullopt;
    return activity_ideal(roofline->ideal, roofline->bound);
  };
}

IdealProvider make_ideal_provider(std::map<std::string, Roofline> cases) {
  return [cases = std::move(cases), works = std::make_shared<ActivityWorkModel>()](
             const Activity& activity) -> std::optional<ActivityIdeal> {
    const auto found = cases.find(activity.case_id);
    if (found == cases.end() || !is_executed_on_cpu(activity)) return std::nullopt;
    const auto known = works->work(activity);
    const auto ideal = known ? compute_partial_ideal(known->work, found->second) : std::nullopt;
    if (!ideal) return std::nullopt;
    return activity_ideal(ideal->time, ideal->bound);
  };
}

}  // namespace bench
