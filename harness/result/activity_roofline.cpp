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

// What executed an activity. none: it encloses others, is a creation or a copy, or ran on a device
// of which no ceilings are known.
enum class Executor { none, cpu, gpu };

Executor find_executor(const Activity& activity) {
  if (activity.kind == ActivityKind::kernel) return Executor::gpu;
  if (activity.track.device || activity.attributes.text(Attribute::engine).starts_with("gpu"))
    return Executor::none;
  // The operators of a case on a GPU only start its kernels.
  constexpr std::string_view kCudaSegment = "/cuda/";
  if (activity.case_id.find(kCudaSegment) != std::string::npos) return Executor::none;
  if (activity.kind == ActivityKind::operation) return Executor::cpu;
  const bool is_primitive = activity.kind == ActivityKind::primitive && is_executed(activity);
  return is_primitive ? Executor::cpu : Executor::none;
}

// Sets the units that a kernel used. Returns false if they are unknown.
bool set_units(const Activity& kernel, RooflineInput& input) {
  const std::string_view use = kernel.attributes.text(Attribute::tensor_cores);
  if (use.starts_with("not used")) return true;
  if (!use.starts_with("used")) return input.work.flops == 0;
  input.tensor_operand = input.dtype == "f32" ? "tf32" : input.dtype;
  return true;
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

namespace {

// Returns the input without the units of a GPU.
RooflineInput make_input(const Activity& activity, const ActivityWorkModel::ModelledWork& work) {
  const IdSegments segments = split_id(activity.case_id);
  RooflineInput input;
  input.work = work.work;
  // The ideal time does not depend on the measured time, which only has to be positive.
  input.time = Nanoseconds(1);
  input.dtype = activity.attributes.text(Attribute::dtype);
  input.cache = segments.cache;
  input.threads = threads_in(segments.options);
  input.weights = work.weights;
  return input;
}

}  // namespace

IdealProvider make_ideal_provider(MachineCeilings machine) {
  return [machine = std::move(machine), model = std::make_shared<ActivityWorkModel>()](
             const Activity& activity) -> std::optional<ActivityIdeal> {
    const Executor executor = find_executor(activity);
    const bool may_only_launch = machine.has_gpu_work && activity.kind == ActivityKind::operation &&
                                 activity.case_id.empty();
    if (executor == Executor::none || may_only_launch) return std::nullopt;
    const Ceilings& ceilings = executor == Executor::gpu ? machine.gpu : machine.cpu;
    if (ceilings.rows.empty()) return std::nullopt;
    const auto modelled = model->work(activity);
    if (!modelled) return std::nullopt;
    RooflineInput input = make_input(activity, *modelled);
    if (executor == Executor::gpu && !set_units(activity, input)) return std::nullopt;
    const auto roofline = compute_roofline(input, ceilings);
    if (!roofline) return std::nullopt;
    // The bytes alone would promise too short a time if the units or the type are unknown.
    const bool lacks_peak = input.work.flops > 0 && !roofline->peak_flops_per_s;
    if (executor == Executor::gpu && lacks_peak) return std::nullopt;
    return make_ideal(roofline->ideal, roofline->bound);
  };
}

IdealProvider make_ideal_provider(std::map<std::string, Roofline> cases) {
  return [cases = std::move(cases), model = std::make_shared<ActivityWorkModel>()](
             const Activity& activity) -> std::optional<ActivityIdeal> {
    const auto found = cases.find(activity.case_id);
    if (found == cases.end() || find_executor(activity) == Executor::none) return std::nullopt;
    const auto modelled = model->work(activity);
    const auto ideal =
        modelled ? compute_partial_ideal(modelled->work, found->second) : std::nullopt;
    if (!ideal) return std::nullopt;
    return make_ideal(ideal->time, ideal->bound);
  };
}

IdealProvider make_ideal_provider(std::optional<FlopsPerSecond> peak_flops,
                                  std::optional<BytesPerSecond> peak_bandwidth) {
  Roofline stated;
  stated.peak_flops_per_s = peak_flops;
  stated.peak_bytes_per_s = peak_bandwidth;
  stated.level = kMemoryLevels.back();
  return [stated, model = std::make_shared<ActivityWorkModel>()](
             const Activity& activity) -> std::optional<ActivityIdeal> {
    const auto modelled =
        find_executor(activity) == Executor::none ? std::nullopt : model->work(activity);
    if (!modelled) return std::nullopt;
    const bool lacks_flops = necessary_flops(modelled->work) > 0 && !stated.peak_flops_per_s;
    const bool lacks_bytes = modelled->work.traffic().count > 0 && !stated.peak_bytes_per_s;
    if (lacks_flops || lacks_bytes) return std::nullopt;
    const auto ideal = compute_partial_ideal(modelled->work, stated);
    if (!ideal) return std::nullopt;
    return make_ideal(ideal->time, ideal->bound);
  };
}

}  // namespace bench
