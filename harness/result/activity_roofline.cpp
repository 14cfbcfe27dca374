// SPDX-License-Identifier: Apache-2.0
#include "harness/result/activity_roofline.hpp"

#include "base/data_type.hpp"
#include "harness/result/roofline.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace bench {
namespace {

std::optional<ops::Problem> parse_problem(const Activity& activity) {
  const ops::Operator* op = ops::find_operator(activity.attributes.text(Attribute::op));
  const auto dtype = data_type_from_name(activity.attributes.text(Attribute::dtype));
  const auto direction = enumerator_from_name<ops::Direction>(activity.direction);
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

Bytes sum_weights(const ops::Problem& problem) {
  Bytes sum{0};
  for (const ops::Tensor& tensor : problem.tensors) {
    if (tensor.role == ops::TensorRole::weights) sum.count += tensor.size().count;
  }
  return sum;
}

// Returns false for enclosing activities, creations and copies, which have no ceiling.
bool is_executed_on_cpu(const Activity& activity) {
  if (activity.track.device || activity.attributes.text(Attribute::engine) == "gpu") return false;
  if (activity.kind == ActivityKind::operation) return true;
  return activity.kind == ActivityKind::primitive && is_executed(activity);
}

ActivityIdeal make_ideal(Nanoseconds time, Bound bound) { return {time, to_string(bound)}; }

}  // namespace

const std::optional<ActivityWorkModel::ModelledWork>& ActivityWorkModel::model_work(
    const Activity& activity) {
  key_ = fmt::format("{}/{}/{}/{}", activity.attributes.text(Attribute::op), activity.direction,
                     activity.attributes.text(Attribute::dtype),
                     activity.attributes.text(Attribute::parameters));
  const auto cached = cache_.find(key_);
  if (cached != cache_.end()) return cached->second;
  // Limits memory for profiles in which every activity differs.
  constexpr std::size_t kMaxCached = 16384;
  if (cache_.size() >= kMaxCached) cache_.clear();
  const auto problem = parse_problem(activity);
  const auto model =
      problem ? std::optional(ModelledWork{problem->work, sum_weights(*problem)}) : std::nullopt;
  return cache_.emplace(key_, model).first->second;
}

std::optional<ActivityWorkModel::ModelledWork> ActivityWorkModel::work(const Activity& activity) {
  const auto flops = activity.attributes.integer(Attribute::flops);
  const auto bytes = activity.attributes.integer(Attribute::bytes);
  if (!flops && !bytes) return std::nullopt;
  ModelledWork result;
  result.work.flops = flops.value_or(0);
  result.work.bytes_read = bytes.value_or(0);
  const std::optional<ModelledWork>& model = model_work(activity);
  if (!model) return result;
  result.weights = model->weights;
  // If the FLOPs differ, the activity is not the problem that its parameters describe.
  if (model->work.flops == result.work.flops) result.work.flops_valid = model->work.flops_valid;
  return result;
}

IdealProvider make_ideal_provider(Ceilings ceilings) {
  return [ceilings = std::move(ceilings), model = std::make_shared<ActivityWorkModel>()](
             const Activity& activity) -> std::optional<ActivityIdeal> {
    const auto modelled = is_executed_on_cpu(activity) ? model->work(activity) : std::nullopt;
    if (!modelled) return std::nullopt;
    const IdSegments segments = split_id(activity.case_id);
    RooflineInput input;
    input.work = modelled->work;
    // The ideal time does not depend on the measured time, which only has to be positive.
    input.time = Nanoseconds(1);
    input.dtype = activity.attributes.text(Attribute::dtype);
    input.cache = segments.cache;
    input.threads = threads_in(segments.options);
    input.weights = modelled->weights;
    const auto roofline = compute_roofline(input, ceilings);
    if (!roofline) return std::nullopt;
    return make_ideal(roofline->ideal, roofline->bound);
  };
}

IdealProvider make_ideal_provider(std::map<std::string, Roofline> cases) {
  return [cases = std::move(cases), model = std::make_shared<ActivityWorkModel>()](
             const Activity& activity) -> std::optional<ActivityIdeal> {
    const auto found = cases.find(activity.case_id);
    if (found == cases.end() || !is_executed_on_cpu(activity)) return std::nullopt;
    const auto modelled = model->work(activity);
    const auto ideal =
        modelled ? compute_partial_ideal(modelled->work, found->second) : std::nullopt;
    if (!ideal) return std::nullopt;
    return make_ideal(ideal->time, ideal->bound);
  };
}

}  // namespace bench
