// SPDX-License-Identifier: Apache-2.0
// The gradients read what a forward pass left in its workspace, and its result: a preparation
// computes both. The library takes the weights of a forward pass in another order than those of a
// backward pass.
#include "ops/recurrent/onednn.hpp"

#include "ops/onednn/layout.hpp"
#include "ops/operator.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

using dnnl::memory;

struct Argument {
  std::string_view name;
  int number;
};
constexpr std::array<Argument, 6> kInputs = {{{"source", DNNL_ARG_SRC_LAYER},
                                              {"initial_state", DNNL_ARG_SRC_ITER},
                                              {"initial_cell", DNNL_ARG_SRC_ITER_C},
                                              {"weights", DNNL_ARG_WEIGHTS_LAYER},
                                              {"recurrent_weights", DNNL_ARG_WEIGHTS_ITER},
                                              {"bias", DNNL_ARG_BIAS}}};
constexpr std::array<Argument, 3> kResults = {{{"destination", DNNL_ARG_DST_LAYER},
                                               {"final_state", DNNL_ARG_DST_ITER},
                                               {"final_cell", DNNL_ARG_DST_ITER_C}}};
constexpr std::array<Argument, 5> kGradients = {
    {{"diff_destination", DNNL_ARG_DIFF_DST_LAYER},
     {"diff_source", DNNL_ARG_DIFF_SRC_LAYER},
     {"diff_weights", DNNL_ARG_DIFF_WEIGHTS_LAYER},
     {"diff_recurrent_weights", DNNL_ARG_DIFF_WEIGHTS_ITER},
     {"diff_bias", DNNL_ARG_DIFF_BIAS}}};

// What a gradient demands and the problem does not have: the result, and states that are zeros, and
// their gradients.
constexpr int kUnused[] = {
    DNNL_ARG_DST_LAYER,       DNNL_ARG_SRC_ITER,      DNNL_ARG_SRC_ITER_C,
    DNNL_ARG_DST_ITER,        DNNL_ARG_DST_ITER_C,    DNNL_ARG_DIFF_SRC_ITER,
    DNNL_ARG_DIFF_SRC_ITER_C, DNNL_ARG_DIFF_DST_ITER, DNNL_ARG_DIFF_DST_ITER_C};
constexpr int kKept[] = {DNNL_ARG_DST_LAYER, DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C,
                         DNNL_ARG_DST_ITER, DNNL_ARG_DST_ITER_C};

// The tensors of the problem in plain order; a zero descriptor if it does not have one. The library
// chooses the order of weights.
struct Forms {
  memory::desc source, state, cell, weights, recurrent, bias, destination, last_state, last_cell;

  explicit Forms(const Problem& problem) {
    const auto plain = [&](std::string_view name) {
      if (!has_tensor(problem, name)) return memory::desc();
      const Tensor& tensor = tensor_named(problem, name);
      return plain_desc(tensor.dims, tensor.dtype);
    };
    const auto free = [&](std::string_view name) {
      const Tensor& tensor = tensor_named(problem, name);
      return any_desc(tensor.dims, tensor.dtype);
    };
    source = plain("source"), state = plain("initial_state"), cell = plain("initial_cell");
    weights = free("weights"), recurrent = free("recurrent_weights"), bias = plain("bias");
    const bool is_forward = problem.direction == Direction::forward;
    destination = plain(is_forward ? "destination" : "diff_destination");
    last_state = plain("final_state"), last_cell = plain("final_cell");
    if (is_forward) return;
    // Without states, oneDNN 3.2 computes wrong gradients of the recurrent weights of a layer with
    // one direction. They are zeros.
    const Dims& weights_dims = tensor_named(problem, "recurrent_weights").dims;
    const Dims dims = {weights_dims[0], weights_dims[1], problem.parameters.count("n"),
                       weights_dims[2]};
    state = last_state = plain_desc(dims, problem.dtype);
    if (problem.op->name == "lstm") cell = last_cell = plain_desc(dims, DataType::f32);
  }
};

dnnl::rnn_direction find_direction(const Problem& problem) {
  return problem.parameters.flag("bidirectional") ? dnnl::rnn_direction::bidirectional_concat
                                                  : dnnl::rnn_direction::unidirectional_left2right;
}

dnnl::algorithm find_activation(const Problem& problem) {
  return problem.parameters.word("function") == "relu" ? dnnl::algorithm::eltwise_relu
                                                       : dnnl::algorithm::eltwise_tanh;
}

dnnl::prop_kind find_propagation(const Problem& problem) {
  return problem.direction == Direction::forward ? dnnl::prop_kind::forward_inference
                                                 : dnnl::prop_kind::forward_training;
}

// Weights' gradients are f32 also for narrower types.
struct GradientForms {
  memory::desc weights, recurrent, bias;

  explicit GradientForms(const Problem& problem) {
    const auto free = [&](std::string_view name) {
      const Tensor& tensor = tensor_named(problem, name);
      return any_desc(tensor.dims, tensor.dtype);
    };
    weights = free("diff_weights"), recurrent = free("diff_recurrent_weights");
    if (!has_tensor(problem, "diff_bias")) return;
    const Tensor& tensor = tensor_named(problem, "diff_bias");
    bias = plain_desc(tensor.dims, tensor.dtype);
  }
};

template <class Description>
CreatedPrimitive finish_forward(OnednnContext& context, const OnednnRequest& request,
                                Description described) {
  const auto description = take_implementation(context, request, std::move(described));
  PrimitiveBuilder builder(context, request, "rnn");
  for (const auto& [name, number] : kInputs) {
    if (!has_tensor(request.problem, name)) continue;
    builder.add(name, number, description.query_md(dnnl::query::exec_arg_md, number));
  }
  for (const auto& [name, number] : kResults) {
    if (!has_tensor(request.problem, name)) continue;
    builder.add(name, number, description.query_md(dnnl::query::exec_arg_md, number));
  }
  return builder.finish(description);
}

template <class Forward, class Backward>
CreatedPrimitive finish_backward(OnednnContext& context, const OnednnRequest& request,
                                 const Forward& forward, Backward described) {
  const Problem& problem = request.problem;
  const auto description = take_implementation(context, request, std::move(described));
  PrimitiveBuilder builder(context, request, "rnn");
  OnednnPreparation preparation{.primitive = context.create(forward),
                                .inputs = {},
                                .output = forward.dst_layer_desc(),
                                .scratchpad = forward.scratchpad_desc()};
  for (const auto& [name, number] : kInputs) {
    if (!has_tensor(problem, name)) continue;
    builder.add(name, number, description.query_md(dnnl::query::exec_arg_md, number));
    preparation.inputs.push_back(
        {tensor_index(problem, name), number, forward.query_md(dnnl::query::exec_arg_md, number)});
  }
  for (const auto& [name, number] : kGradients) {
    if (!has_tensor(problem, name)) continue;
    builder.add(name, number, description.query_md(dnnl::query::exec_arg_md, number));
  }
  for (const int number : kUnused) {
    const memory::desc desc = description.query_md(dnnl::query::exec_arg_md, number);
    if (desc.get_size() > 0) builder.add_discarded(number, desc);
  }
  preparation.shared.assign(std::begin(kKept), std::end(kKept));
  auto result = builder.finish(description);
  result->preparation = std::move(preparation);
  for (const std::string_view name : {"diff_weights", "diff_recurrent_weights", "diff_bias"}) {
    if (has_tensor(problem, name)) result->accumulated.push_back(tensor_index(problem, name));
  }
  return result;
}

constexpr std::string_view kNeedsBias = "oneDNN's cells have a bias; leave `bias: false` out";

}  // namespace

CreatedPrimitive create_rnn(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  if (!has_tensor(problem, "bias")) return unsupported(std::string(kNeedsBias));
  using Forward = dnnl::vanilla_rnn_forward;
  using Backward = dnnl::vanilla_rnn_backward;
  const Forms f(problem);
  const auto activation = find_activation(problem);
  const auto direction = find_direction(problem);
  const auto forward = context.call("dnnl_vanilla_rnn_forward_primitive_desc_create", [&] {
    return Forward::primitive_desc(context.engine(), find_propagation(problem), activation,
                                   direction, f.source, f.state, f.weights, f.recurrent, f.bias,
                                   f.destination, f.last_state, make_attributes(request));
  });
  if (problem.direction == Direction::forward) return finish_forward(context, request, forward);
  const GradientForms g(problem);
  auto backward = context.call("dnnl_vanilla_rnn_backward_primitive_desc_create", [&] {
    return Backward::primitive_desc(
        context.engine(), dnnl::prop_kind::backward, activation, direction, f.source, f.state,
        f.weights, f.recurrent, f.bias, f.destination, f.last_state, f.source, f.state, g.weights,
        g.recurrent, g.bias, f.destination, f.last_state, forward, make_attributes(request));
  });
  return finish_backward(context, request, forward, std::move(backward));
}

CreatedPrimitive create_lstm(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  if (!has_tensor(problem, "bias")) return unsupported(std::string(kNeedsBias));
  const Forms f(problem);
  const auto direction = find_direction(problem);
  const auto forward = context.call("dnnl_lstm_forward_primitive_desc_create", [&] {
    return dnnl::lstm_forward::primitive_desc(context.engine(), find_propagation(problem),
                                              direction, f.source, f.state, f.cell, f.weights,
                                              f.recurrent, f.bias, f.destination, f.last_state,
                                              f.last_cell, make_attributes(request));
  });
  if (problem.direction == Direction::forward) return finish_forward(context, request, forward);
  const GradientForms g(problem);
  auto backward = context.call("dnnl_lstm_backward_primitive_desc_create", [&] {
    return dnnl::lstm_backward::primitive_desc(
        context.engine(), dnnl::prop_kind::backward, direction, f.source, f.state, f.cell,
        f.weights, f.recurrent, f.bias, f.destination, f.last_state, f.last_cell, f.source, f.state,
        f.cell, g.weights, g.recurrent, g.bias, f.destination, f.last_state, f.last_cell, forward,
        make_attributes(request));
  });
  return finish_backward(context, request, forward, std::move(backward));
}

namespace {

template <class Forward, class Backward>
CreatedPrimitive create_gru_of(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  if (!has_tensor(problem, "bias")) return unsupported(std::string(kNeedsBias));
  const Forms f(problem);
  const auto direction = find_direction(problem);
  const auto forward = context.call("dnnl_gru_forward_primitive_desc_create", [&] {
    return typename Forward::primitive_desc(context.engine(), find_propagation(problem), direction,
                                            f.source, f.state, f.weights, f.recurrent, f.bias,
                                            f.destination, f.last_state, make_attributes(request));
  });
  if (problem.direction == Direction::forward) return finish_forward(context, request, forward);
  const GradientForms g(problem);
  auto backward = context.call("dnnl_gru_backward_primitive_desc_create", [&] {
    return typename Backward::primitive_desc(
        context.engine(), dnnl::prop_kind::backward, direction, f.source, f.state, f.weights,
        f.recurrent, f.bias, f.destination, f.last_state, f.source, f.state, g.weights, g.recurrent,
        g.bias, f.destination, f.last_state, forward, make_attributes(request));
  });
  return finish_backward(context, request, forward, std::move(backward));
}

}  // namespace

CreatedPrimitive create_gru(OnednnContext& context, const OnednnRequest& request) {
  return request.problem.parameters.word("reset") == "after"
             ? create_gru_of<dnnl::lbr_gru_forward, dnnl::lbr_gru_backward>(context, request)
             : create_gru_of<dnnl::gru_forward, dnnl::gru_backward>(context, request);
}

}  // namespace bench::ops
