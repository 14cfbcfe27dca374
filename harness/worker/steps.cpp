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
#include <span>
#include <string_view>
#include <utility>

namespace bench {

namespace {

constexpr std::string_view kReorder = "reorder";

std::string_view direction_name(ops::Direction direction) {
  return ops::direction_names()[static_cast<std::size_t>(direction)];
}

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

StepFacts make_step_facts(const ops::Problem& problem, const ops::KernelStep& step) {
  StepFacts facts;
  facts.name = step.node.empty() ? std::string(problem.op->name) : step.node;
  facts.layer = step.node;
  facts.primitive = step.kind;
  facts.direction = direction_name(problem.direction);
  facts.attributes.set(Attribute::op, problem.op->name);
  facts.attributes.set(Attribute::parameters, ops::problem_tokens(problem));
  facts.attributes.set(Attribute::dtype, info(problem.dtype).name);
  set_step(step, facts.attributes);
  set_work(problem.tensors, problem.work, facts.attributes);
  return facts;
}

StepFacts make_step_facts(const ops::MovedTensor& moved, const ops::KernelStep& step) {
  StepFacts facts;
  facts.name = kReorder;
  facts.layer = step.node;
  facts.primitive = step.kind;
  facts.direction = direction_name(ops::Direction::forward);
  facts.attributes.set(Attribute::op, kReorder);
  facts.attributes.set(Attribute::parameters, ops::join_dims(moved.dims));
  facts.attributes.set(Attribute::dtype, info(moved.dtype).name);
  set_step(step, facts.attributes);
  const auto model = ops::reorder_model(moved.dims, moved.dtype);
  if (model) set_work(model->tensors, model->work, facts.attributes);
  return facts;
}

// A step that a plugin adds to a network; its data are unknown.
StepFacts facts_of_own(const ops::KernelStep& step) {
  StepFacts facts;
  facts.name = !step.node.empty() ? step.node : step.kind.empty() ? "step" : step.kind;
  facts.layer = step.node;
  facts.primitive = step.kind;
  facts.direction = direction_name(ops::Direction::forward);
  set_step(step, facts.attributes);
  return facts;
}

StepFacts make_step_facts(const ops::Network& network, const ops::KernelStep& step) {
  if (step.moved) return make_step_facts(*step.moved, step);
  const auto node = std::ranges::find(network.nodes, step.node, &ops::Node::name);
  return node != network.nodes.end() ? make_step_facts(node->problem, step) : facts_of_own(step);
}

// A network that a backend runs as a whole.
StepFacts facts_of_whole(const ops::Network& network, const ops::Kernel& kernel) {
  StepFacts facts;
  facts.name = network.name;
  facts.direction = direction_name(ops::Direction::forward);
  facts.attributes.set(Attribute::op, "network");
  facts.attributes.set(Attribute::dtype, info(network.dtype).name);
  facts.attributes.set(Attribute::implementation, kernel.implementation());
  set_work(network.tensors, network.work, facts.attributes);
  return facts;
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
  // A problem's work is counted once: with several steps, it is unknown which step did which part.
  if (problem != nullptr && facts.size() > 1) {
    for (StepFacts& step : facts) {
      for (const Attribute count : {Attribute::macs, Attribute::flops, Attribute::bytes}) {
        step.attributes.erase(count);
      }
    }
  }
  if (!facts.empty()) return facts;
  if (problem != nullptr) {
    ops::KernelStep whole;
    whole.implementation = kernel.implementation();
    facts.push_back(make_step_facts(*problem, whole));
  } else {
    facts.push_back(facts_of_whole(std::get<NetworkPair>(workload).network, kernel));
  }
  return facts;
}

namespace {

// Marks per iteration; the vector grows if there are more.
constexpr std::size_t kReservedMarks = 1024;

// Returns those of the `wanted` attributes that the step has.
Attributes select_texts(const Attributes& of_step, std::initializer_list<Attribute> wanted) {
  Attributes attributes;
  for (const Attribute attribute : wanted) {
    if (const auto text = of_step.text(attribute); !text.empty()) attributes.set(attribute, text);
  }
  return attributes;
}

// The attributes that also apply to each part of a step: all except its work.
Attributes part_attributes(const Attributes& of_step) {
  Attributes attributes =
      select_texts(of_step, {Attribute::op, Attribute::parameters, Attribute::dtype});
  if (const auto number = of_step.integer(Attribute::iteration)) {
    attributes.set(Attribute::iteration, *number);
  }
  return attributes;
}

}  // namespace

StepRecorder::StepRecorder(std::vector<StepFacts> facts, std::string path, const StepSinks& sinks,
                           Clock& clock)
    : facts_(std::move(facts)), sinks_(sinks), clock_(clock) {
  for (const StepFacts& step : facts_) {
    scopes_.push_back(step.layer.empty() ? path : append_scope(path, step.layer));
    ranges_.push_back(scope_range_name(step.name));
  }
  taken_.reserve(facts_.size());
  marks_.reserve(kReservedMarks);
}

void StepRecorder::start_over() {
  taken_.clear();
  marks_.clear();
  if (sinks_.capture != nullptr) sinks_.capture->clear();
}

void StepRecorder::begins(std::size_t step) noexcept {
  assert(step < facts_.size());
  range_.emplace(ranges_[step].c_str());
  Taken& taken = taken_.emplace_back();
  taken.step = step;
  taken.first_mark = marks_.size();
  if (sinks_.trace != nullptr) taken.region = sinks_.trace->region_begins();
  taken.begin = clock_.now();
  if (sinks_.announced) announce(taken);
}

void StepRecorder::enqueued(std::size_t /*the last that began*/) noexcept {
  taken_.back().enqueued = clock_.now();
}

void StepRecorder::done(std::size_t /*the last that began*/) noexcept {
  taken_.back().done = clock_.now();
  if (sinks_.trace != nullptr) sinks_.trace->region_ends();
  if (sinks_.capture != nullptr) taken_.back().printed = sinks_.capture->written();
  range_.reset();
}

void StepRecorder::part_begins(std::string_view name) noexcept {
  auto known = std::find(part_names_.begin(), part_names_.end(), name);
  if (known == part_names_.end()) known = part_names_.emplace(known, name);
  const auto index = static_cast<std::size_t>(known - part_names_.begin());
  marks_.push_back({clock_.now(), index});
}

void StepRecorder::part_ends() noexcept { marks_.push_back({clock_.now(), std::nullopt}); }

std::span<const StepRecorder::Mark> StepRecorder::find_marks(const Taken& taken) const {
  const auto next = static_cast<std::size_t>(&taken - taken_.data()) + 1;
  const std::size_t end = next < taken_.size() ? taken_[next].first_mark : marks_.size();
  return std::span(marks_).subspan(taken.first_mark, end - taken.first_mark);
}

Activity StepRecorder::operation(const Taken& taken, std::optional<std::int64_t> iteration) const {
  const StepFacts& facts = facts_[taken.step];
  Activity activity;
  activity.kind = ActivityKind::operation;
  activity.name = facts.name;
  activity.start = taken.begin;
  activity.scope = scopes_[taken.step];
  activity.direction = facts.direction;
  activity.attributes = facts.attributes;
  if (iteration) activity.attributes.set(Attribute::iteration, *iteration);
  if (taken.done) {
    activity.duration = *taken.done - taken.begin;
  } else {
    activity.attributes.set(Attribute::unfinished, std::int64_t{1});
  }
  return activity;
}

void StepRecorder::announce(const Taken& taken) const {
  Activity activity = operation(taken, std::nullopt);
  sinks_.recorder->record_unfinished(activity);
  const std::string& primitive = facts_[taken.step].primitive;
  if (!primitive.empty()) {
    activity.kind = ActivityKind::primitive;
    activity.name = primitive;
    sinks_.recorder->record_unfinished(std::move(activity));
  }
  sinks_.announced();
}

Status StepRecorder::write(std::optional<std::int64_t> iteration, std::int64_t printed) {
  range_.reset();  // open if the step failed
  if (sinks_.trace != nullptr) sinks_.trace->region_ends();
  for (const Taken& taken : taken_) {
    Activity activity = operation(taken, iteration);
    own_region(taken, activity);
    // Other sources of calls number them themselves.
    if (taken.enqueued && sinks_.api != nullptr) activity.correlation = ++executions_;
    // If a kernel names its parts, the library does not run the step, though the kernel may call
    // it.
    const bool has_parts = !find_marks(taken).empty();
    if (taken.done) {
      if (has_parts) {
        write_parts(taken, activity);
      } else {
        BENCH_RETURN_IF_ERROR(write_primitives(taken, activity, printed));
      }
      printed = taken.printed;
    }
    if (!has_parts) write_calls(taken, activity);
    const Activity context = activity;
    sinks_.recorder->record(std::move(activity));
    if (taken.done) sinks_.memory->on_operator_done(*taken.done, context);
  }
  return sinks_.recorder->status();
}

void StepRecorder::own_region(const Taken& taken, const Activity& owner) {
  if (taken.region == 0) return;
  OperatorExecution of{sinks_.case_id,
                       owner.scope,
                       owner.direction,
                       std::string(owner.attributes.text(Attribute::op)),
                       owner.attributes.integer(Attribute::iteration),
                       {},
                       {}};
  const auto flops = owner.attributes.integer(Attribute::flops);
  const auto bytes = owner.attributes.integer(Attribute::bytes);
  if (flops && bytes) of.work = GpuOperatorWork{*flops, *bytes};
  of.inherited_attributes = select_texts(
      owner.attributes,
      {Attribute::parameters, Attribute::dtype, Attribute::in_shapes, Attribute::out_shapes});
  sinks_.trace->own(taken.region, std::move(of));
}

// If the library prints, it has waited for completion before returning from the execution.
Status StepRecorder::write_primitives(const Taken& taken, const Activity& owner,
                                      std::int64_t from) {
  if (sinks_.verbose == nullptr) return Done{};
  VerbosePlace place;
  place.begin = taken.begin;
  place.end = *taken.enqueued;
  place.owner = owner;
  place.primitive = facts_[taken.step].primitive;
  return sinks_.verbose->collect(from, taken.printed, place, VerbosePhases::all);
}

// Writes one slice per stretch of time in the same part. A step with one part is its own compute
// kernel and has the work. With several parts it is unknown which did which work.
void StepRecorder::write_parts(const Taken& taken, const Activity& owner) {
  const std::span<const Mark> marks = find_marks(taken);
  const auto begins = [](const Mark& mark) { return mark.name.has_value(); };
  const bool alone = std::ranges::count_if(marks, begins) == 1;
  std::vector<std::size_t> open;
  Nanoseconds since = taken.begin;
  for (const Mark& mark : marks) {
    const bool ends = !mark.name;
    if (!open.empty() && (ends || mark.time > since)) {
      Activity part = owner;
      part.kind = ActivityKind::primitive;
      part.name = facts_[taken.step].name + "::" + part_names_[open.back()];
      part.start = since;
      part.duration = mark.time - since;
      if (!alone) part.attributes = part_attributes(owner.attributes);
      sinks_.recorder->record(std::move(part));
    }
    since = mark.time;
    if (!ends) {
      open.push_back(*mark.name);
    } else if (!open.empty()) {
      open.pop_back();
    }
  }
}

void StepRecorder::write_calls(const Taken& taken, const Activity& like) {
  if (!taken.enqueued || sinks_.api == nullptr ||
      !sinks_.recorder->is_recording(RecordGroup::api)) {
    return;
  }
  Activity call;
  call.scope = like.scope;
  call.direction = like.direction;
  if (const auto iteration = like.attributes.integer(Attribute::iteration)) {
    call.attributes.set(Attribute::iteration, *iteration);
  }
  call.correlation = like.correlation;
  call.name = "dnnl_primitive_execute";
  call.start = taken.begin;
  call.duration = *taken.enqueued - taken.begin;
  sinks_.api->completed(call);
  if (!taken.done) return;
  call.correlation.reset();
  call.name = "dnnl_stream_wait";
  call.start = *taken.enqueued;
  call.duration = *taken.done - *taken.enqueued;
  sinks_.api->completed(std::move(call));
}

Nanoseconds StepRecorder::in_steps() const {
  Nanoseconds sum{0};
  for (const Taken& taken : taken_) {
    if (taken.done) sum += *taken.done - taken.begin;
  }
  return sum;
}

}  // namespace bench
