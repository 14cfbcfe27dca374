// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/step_facts.hpp"

#include "base/data_type.hpp"
#include "ops/model.hpp"
#include "ops/operator.hpp"
#include "ops/reorder/reorder.hpp"

#include <algorithm>
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

StepFacts facts_of(const ops::Problem& problem, const ops::KernelStep& step) {
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

StepFacts facts_of(const ops::MovedTensor& moved, const ops::KernelStep& step) {
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

StepFacts facts_of(const ops::Network& network, const ops::KernelStep& step) {
  if (step.moved) return facts_of(*step.moved, step);
  const auto node = std::ranges::find(network.nodes, step.node, &ops::Node::name);
  return node != network.nodes.end() ? facts_of(node->problem, step) : facts_of_own(step);
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

std::vector<StepFacts> step_facts(const Subject& subject, const ops::Kernel& kernel) {
  std::vector<StepFacts> facts;
  const auto* problem = std::get_if<ops::Problem>(&subject);
  for (const ops::KernelStep& step : kernel.steps()) {
    facts.push_back(problem != nullptr ? facts_of(*problem, step)
                                       : facts_of(std::get<NetworkPair>(subject).network, step));
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
    facts.push_back(facts_of(*problem, whole));
  } else {
    facts.push_back(facts_of_whole(std::get<NetworkPair>(subject).network, kernel));
  }
  return facts;
}

}  // namespace bench
