// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/steps.hpp"

#include "base/data_type.hpp"
#include "ops/model.hpp"
#include "ops/operator.hpp"
#include "ops/reorder/reorder.hpp"
#include "profiler/scope_path.hpp"

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace bench {

namespace {

constexpr std::string_view kReorder = "reorder";

void append_shape(const ops::Tensor& tensor, std::string& shapes) {
  if (!shapes.empty()) shapes += ' ';
  shapes += ops::join_dims(tensor.dims);
}

void set_work(std::span<const ops::Tensor> tensors, const ops::Work& work, Attributes& attributes) {
  std::string in, out;
  for (const ops::Tensor& tensor : tensors) {
    append_shape(tensor, tensor.role == ops::TensorRole::output ? out : in);
  }
  attributes.set(Attribute::in_shapes, in);
  attributes.set(Attribute::out_shapes, out);
  if (work.macs) attributes.set(Attribute::macs, *work.macs);
  attributes.set(Attribute::flops, work.flops);
  attributes.set(Attribute::bytes, work.traffic().count);
}

void set_step(const ops::KernelStep& step, Attributes& attributes) {
  attributes.set(Attribute::primitive, step.kind);
  attributes.set(Attribute::implementation, step.implementation);
  attributes.set(Attribute::layouts, step.layouts);
}

// A node of a training step is named for the pass, which is its direction.
std::string_view direction_name(const ops::Node& node) {
  if (node.pass == ops::Pass::forward) return to_string(node.problem.direction);
  return ops::pass_names()[static_cast<std::size_t>(node.pass)];
}

StepFacts make_step_facts(const ops::Problem& problem, const ops::KernelStep& step) {
  StepFacts facts;
  facts.name = step.node.empty() ? std::string(problem.op->name) : step.node;
  facts.layer = step.node;
  facts.primitive = step.kind;
  facts.direction = to_string(problem.direction);
  facts.attributes.set(Attribute::op, problem.op->name);
  facts.attributes.set(Attribute::parameters, ops::problem_tokens(problem));
  facts.attributes.set(Attribute::dtype, info(problem.dtype).name);
  set_step(step, facts.attributes);
  set_work(problem.tensors, problem.work, facts.attributes);
  return facts;
}

// Describes a reorder between two nodes. It does no part of its node's work. A kernel
// may not state which tensor it moves.
StepFacts make_reorder_facts(const ops::KernelStep& step, std::string_view direction) {
  StepFacts facts;
  facts.name = kReorder;
  facts.layer = step.node;
  facts.primitive = step.kind;
  facts.direction = direction;
  facts.attributes.set(Attribute::op, kReorder);
  set_step(step, facts.attributes);
  facts.attributes.set(Attribute::flops, std::int64_t{0});
  if (!step.moved) return facts;
  facts.attributes.set(Attribute::parameters, ops::join_dims(step.moved->dims));
  facts.attributes.set(Attribute::dtype, info(step.moved->dtype).name);
  const auto model = ops::reorder_model(step.moved->dims, step.moved->dtype);
  if (model) set_work(model->tensors, model->work, facts.attributes);
  return facts;
}

// Describes a step that belongs to no layer of the network, such as one that its kernel adds. Its
// operator and work are unknown.
StepFacts make_added_step_facts(const ops::KernelStep& step) {
  StepFacts facts;
  facts.name = !step.node.empty() ? step.node : step.kind.empty() ? "step" : step.kind;
  facts.layer = step.node;
  facts.primitive = step.kind;
  facts.direction = to_string(ops::Direction::forward);
  set_step(step, facts.attributes);
  return facts;
}

StepFacts make_step_facts(const ops::Network& network, const ops::KernelStep& step) {
  const auto node = std::ranges::find(network.nodes, step.node, &ops::Node::name);
  const bool has_node = node != network.nodes.end();
  const std::string_view direction =
      has_node ? direction_name(*node) : to_string(ops::Direction::forward);
  const bool is_reorder = step.kind == kReorder && has_node && node->problem.op->name != kReorder;
  if (step.moved || is_reorder) return make_reorder_facts(step, direction);
  if (!has_node) return make_added_step_facts(step);
  StepFacts facts = make_step_facts(node->problem, step);
  facts.direction = direction;
  return facts;
}

// Describes a network whose kernel names no steps as one step.
StepFacts make_network_facts(const ops::Network& network, const ops::Kernel& kernel) {
  StepFacts facts;
  facts.name = network.name;
  facts.direction = to_string(ops::Direction::forward);
  facts.attributes.set(Attribute::op, "network");
  facts.attributes.set(Attribute::dtype, info(network.dtype).name);
  facts.attributes.set(Attribute::implementation, kernel.implementation());
  set_work(network.tensors, network.work, facts.attributes);
  return facts;
}

// Several steps of one node share its work, and nothing shows which step does which part. If one
// step alone is of the operator's own kind, it gets all of the work, as one kernel of an operator
// does (profiler/gpu/kernel_work.hpp). Otherwise, no step gets the counts. `steps`: of one problem
// or node, without the reorders beside them.
void share_work(std::span<StepFacts* const> steps) {
  if (steps.size() < 2) return;
  const auto is_main = [](const StepFacts* step) {
    return step->primitive == step->attributes.text(Attribute::op);
  };
  const bool is_known = std::ranges::count_if(steps, is_main) == 1;
  for (StepFacts* step : steps) {
    if (is_known && is_main(step)) continue;
    for (const Attribute count : {Attribute::macs, Attribute::flops, Attribute::bytes}) {
      step->attributes.erase(count);
    }
    if (is_known) step->attributes.set(Attribute::flops, std::int64_t{0});
  }
}

// Whether the step is a reorder between two nodes: its name is not that of its layer.
bool is_between_nodes(const StepFacts& step) {
  return !step.layer.empty() && step.name != step.layer;
}

void share_work_of_each_layer(std::vector<StepFacts>& facts) {
  std::map<std::string_view, std::vector<StepFacts*>> layers;
  for (StepFacts& step : facts) {
    const bool has_work = step.attributes.find(Attribute::flops) != nullptr;
    if (has_work && !is_between_nodes(step)) layers[step.layer].push_back(&step);
  }
  for (const auto& [layer, steps] : layers) share_work(steps);
}

}  // namespace

std::vector<StepFacts> step_facts(const Workload& workload, const ops::Kernel& kernel) {
  std::vector<StepFacts> facts;
  const auto* problem = std::get_if<ops::Problem>(&workload);
  for (const ops::KernelStep& step : kernel.steps()) {
    facts.push_back(problem != nullptr
                        ? make_step_facts(*problem, step)
                        : make_step_facts(std::get<NetworkPair>(workload).network, step));
  }
  share_work_of_each_layer(facts);
  if (!facts.empty()) return facts;
  if (problem != nullptr) {
    ops::KernelStep whole;
    whole.implementation = kernel.implementation();
    facts.push_back(make_step_facts(*problem, whole));
  } else {
    facts.push_back(make_network_facts(std::get<NetworkPair>(workload).network, kernel));
  }
  return facts;
}

namespace {

// Marks per iteration for which memory is reserved; the vector grows if there are more.
constexpr std::size_t kReservedMarks = 1024;

// Returns the text attributes in `names` that the step has.
Attributes select_texts(const Attributes& step_attributes, std::initializer_list<Attribute> names) {
  Attributes attributes;
  for (const Attribute attribute : names) {
    if (const auto text = step_attributes.text(attribute); !text.empty())
      attributes.set(attribute, text);
  }
  return attributes;
}

// Returns the attributes of a step that also apply to each of its parts: not the work, the shapes
// or the implementation.
Attributes make_part_attributes(const Attributes& step_attributes) {
  Attributes attributes =
      select_texts(step_attributes, {Attribute::op, Attribute::parameters, Attribute::dtype});
  if (const auto number = step_attributes.integer(Attribute::iteration)) {
    attributes.set(Attribute::iteration, *number);
  }
  return attributes;
}

}  // namespace

StepRecorder::StepRecorder(std::vector<StepFacts> facts, std::string path,
                           const StepContext& context, Clock& clock)
    : facts_(std::move(facts)), path_(std::move(path)), context_(context), clock_(clock) {
  for (const StepFacts& step : facts_) {
    scopes_.push_back(step.layer.empty() ? path_ : append_scope(path_, step.layer));
    ranges_.push_back(scope_range_name(step.name));
  }
  observed_.reserve(facts_.size());
  marks_.reserve(kReservedMarks);
}

void StepRecorder::clear() {
  observed_.clear();
  marks_.clear();
  waited_.reset();
  if (context_.capture != nullptr) context_.capture->clear();
}

void StepRecorder::begins(std::size_t step) noexcept {
  assert(step < facts_.size());
  range_.emplace(ranges_[step].c_str());
  ObservedStep& observed = observed_.emplace_back();
  observed.step = step;
  observed.first_mark = marks_.size();
  if (context_.trace != nullptr) observed.region = context_.trace->begin_region();
  observed.begin = clock_.now();
  if (context_.on_announced) announce(observed);
}

// What follows a step that is not awaited belongs to the case: after the last step, the host's wait
// for all of them.
void StepRecorder::enqueued(std::size_t /*the last step that began*/) noexcept {
  ObservedStep& observed = observed_.back();
  observed.enqueued = clock_.now();
  if (context_.wait != ops::StepWait::end) return;
  end_step();
  if (context_.trace != nullptr) observed.wait_region = context_.trace->begin_region();
}

void StepRecorder::done(std::size_t /*the last step that began*/) noexcept {
  observed_.back().done = clock_.now();
  end_step();
}

void StepRecorder::end_step() noexcept {
  if (context_.trace != nullptr) context_.trace->end_region();
  if (context_.capture != nullptr) observed_.back().printed = context_.capture->written();
  range_.reset();
}

void StepRecorder::execution_ended() noexcept {
  for (ObservedStep& observed : observed_) {
    if (observed.done || !observed.enqueued) continue;
    observed.done = observed.enqueued;
    waited_ = {*observed.enqueued, clock_.now()};
  }
}

void StepRecorder::part_begins(std::string_view name) noexcept {
  auto entry = std::find(part_names_.begin(), part_names_.end(), name);
  if (entry == part_names_.end()) entry = part_names_.emplace(entry, name);
  const auto index = static_cast<std::size_t>(entry - part_names_.begin());
  marks_.push_back({clock_.now(), index});
}

void StepRecorder::part_ends() noexcept { marks_.push_back({clock_.now(), std::nullopt}); }

std::span<const StepRecorder::Mark> StepRecorder::find_marks(const ObservedStep& observed) const {
  const auto next = static_cast<std::size_t>(&observed - observed_.data()) + 1;
  const std::size_t end = next < observed_.size() ? observed_[next].first_mark : marks_.size();
  return std::span(marks_).subspan(observed.first_mark, end - observed.first_mark);
}

Activity StepRecorder::make_operation(const ObservedStep& observed,
                                      std::optional<std::int64_t> iteration) const {
  const StepFacts& facts = facts_[observed.step];
  Activity activity;
  activity.kind = ActivityKind::operation;
  activity.name = facts.name;
  activity.start = observed.begin;
  activity.scope = scopes_[observed.step];
  activity.direction = facts.direction;
  activity.attributes = facts.attributes;
  if (iteration) activity.attributes.set(Attribute::iteration, *iteration);
  if (observed.done) {
    activity.duration = *observed.done - observed.begin;
  } else {
    activity.attributes.set(Attribute::unfinished, std::int64_t{1});
  }
  return activity;
}

void StepRecorder::announce(const ObservedStep& observed) const {
  Activity activity = make_operation(observed, std::nullopt);
  context_.recorder->record_unfinished(activity);
  const std::string& primitive = facts_[observed.step].primitive;
  if (!primitive.empty()) {
    activity.kind = ActivityKind::primitive;
    activity.name = primitive;
    context_.recorder->record_unfinished(std::move(activity));
  }
  context_.on_announced();
}

Status StepRecorder::write(std::optional<std::int64_t> iteration, std::int64_t printed) {
  range_.reset();  // open if the step failed
  if (context_.trace != nullptr) context_.trace->end_region();
  for (const ObservedStep& observed : observed_) {
    Activity activity = make_operation(observed, iteration);
    attribute_region(observed, activity);
    attribute_wait(observed, iteration);
    // If another source reports the calls, it also sets their correlation.
    if (observed.enqueued && context_.api != nullptr) activity.correlation = ++executions_;
    // If the kernel names the parts of a step, the parts replace the library's primitives and
    // calls.
    const bool has_parts = !find_marks(observed).empty();
    if (observed.done) {
      if (has_parts) {
        write_parts(observed, activity);
      } else {
        BENCH_RETURN_IF_ERROR(write_primitives(observed, activity, printed));
      }
      printed = observed.printed;
    }
    if (!has_parts) write_calls(observed, activity);
    const Activity owner = activity;
    context_.recorder->record(std::move(activity));
    if (observed.done) context_.memory->on_operator_done(*observed.done, owner);
  }
  return context_.recorder->status();
}

void StepRecorder::attribute_region(const ObservedStep& observed, const Activity& owner) {
  if (observed.region == 0) return;
  OperatorExecution execution{context_.case_id,
                              owner.scope,
                              owner.direction,
                              std::string(owner.attributes.text(Attribute::op)),
                              owner.attributes.integer(Attribute::iteration),
                              {},
                              {}};
  const auto flops = owner.attributes.integer(Attribute::flops);
  const auto bytes = owner.attributes.integer(Attribute::bytes);
  if (flops && bytes) execution.work = GpuOperatorWork{*flops, *bytes};
  execution.inherited_attributes = select_texts(
      owner.attributes,
      {Attribute::parameters, Attribute::dtype, Attribute::in_shapes, Attribute::out_shapes});
  context_.trace->attribute(observed.region, std::move(execution));
}

void StepRecorder::attribute_wait(const ObservedStep& observed,
                                  std::optional<std::int64_t> iteration) {
  if (observed.wait_region == 0) return;
  context_.trace->attribute(
      observed.wait_region,
      {context_.case_id, path_, facts_[observed.step].direction, {}, iteration, {}, {}});
}

// Records the primitives that the library printed during the step, or the step itself if it printed
// none. A library that prints waits for completion before the execution call returns, so the
// primitives end at `enqueued`.
Status StepRecorder::write_primitives(const ObservedStep& observed, const Activity& owner,
                                      std::int64_t from) {
  if (context_.verbose == nullptr) return Done{};
  VerboseOrigin origin;
  origin.begin = observed.begin;
  origin.end = *observed.enqueued;
  origin.owner = owner;
  origin.primitive = facts_[observed.step].primitive;
  const std::int64_t executions = context_.verbose->executions();
  BENCH_RETURN_IF_ERROR(
      context_.verbose->collect(from, observed.printed, origin, VerbosePhases::all));
  if (context_.verbose->executions() == executions) write_step_as_primitive(observed, owner);
  return Done{};
}

// Records the step as the only primitive of itself, with all of its work. Such a step ends when the
// call returns; the wait of the chain is not its work.
void StepRecorder::write_step_as_primitive(const ObservedStep& observed, const Activity& owner) {
  Activity primitive = owner;
  primitive.kind = ActivityKind::primitive;
  const std::string& name = facts_[observed.step].primitive;
  if (!name.empty()) primitive.name = name;
  primitive.duration = *observed.enqueued - observed.begin;
  context_.recorder->record(std::move(primitive));
}

// Writes one activity per contiguous time in the same part. If a step has only one part, that part
// keeps all attributes of the step. With several parts, it is unknown which part did which work.
void StepRecorder::write_parts(const ObservedStep& observed, const Activity& owner) {
  const std::span<const Mark> marks = find_marks(observed);
  const auto begins = [](const Mark& mark) { return mark.name.has_value(); };
  const bool is_only_part = std::ranges::count_if(marks, begins) == 1;
  std::vector<std::size_t> open;
  Nanoseconds since = observed.begin;
  for (const Mark& mark : marks) {
    const bool ends = !mark.name;
    if (!open.empty() && (ends || mark.time > since)) {
      Activity part = owner;
      part.kind = ActivityKind::primitive;
      part.name = facts_[observed.step].name + "::" + part_names_[open.back()];
      part.start = since;
      part.duration = mark.time - since;
      if (!is_only_part) part.attributes = make_part_attributes(owner.attributes);
      context_.recorder->record(std::move(part));
    }
    since = mark.time;
    if (!ends) {
      open.push_back(*mark.name);
    } else if (!open.empty()) {
      open.pop_back();
    }
  }
}

void StepRecorder::write_calls(const ObservedStep& observed, const Activity& owner) {
  if (!observed.enqueued || context_.api == nullptr ||
      !context_.recorder->is_recording(RecordGroup::api)) {
    return;
  }
  Activity call;
  call.scope = owner.scope;
  call.direction = owner.direction;
  if (const auto iteration = owner.attributes.integer(Attribute::iteration)) {
    call.attributes.set(Attribute::iteration, *iteration);
  }
  call.correlation = owner.correlation;
  call.name = "dnnl_primitive_execute";
  call.start = observed.begin;
  call.duration = *observed.enqueued - observed.begin;
  context_.api->completed(call);
  if (!observed.done) return;
  call.correlation.reset();
  call.name = "dnnl_stream_wait";
  call.start = *observed.enqueued;
  call.duration = *observed.done - *observed.enqueued;
  context_.api->completed(std::move(call));
}

Nanoseconds StepRecorder::time_in_steps() const {
  Nanoseconds sum{0};
  for (const ObservedStep& observed : observed_) {
    if (observed.done) sum += *observed.done - observed.begin;
  }
  if (waited_) sum += waited_->end - waited_->begin;
  return sum;
}

}  // namespace bench
