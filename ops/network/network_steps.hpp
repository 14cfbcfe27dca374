// SPDX-License-Identifier: Apache-2.0
// The steps that create a network from its definition: sizes are inferred, layers are fused, and
// the work is counted.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bench::ops {

// The index of a parameter before the network has numbered its parameters.
inline constexpr std::size_t kUnnumbered = static_cast<std::size_t>(-1);

// Returns `written`, completed with the parameters that Operator::inference infers.
// Errors: wrong number of inputs, no spatial dimensions, a written size that contradicts the input.
// Error::where is the name of the parameter, or "inputs".
Result<ParameterSet> infer_parameters(const Operator& op, const ParameterSet& written,
                                      std::span<const Dims> inputs);

// Numbers the parameters that have no number yet, and adds their places.
void number_parameters(Network& network);

// Appends the loss, the gradients and the optimizer to a network of the forward pass whose
// parameters are numbered. Its outputs, with their names, become the loss and the new parameters;
// the inputs get two more. Sets Network::gap if the step cannot run as one. Error: the shapes of a
// problem exceed the range.
Status add_training(std::span<const LayerDefinition> definition, Network& network,
                    std::vector<Tensor>& inputs, std::vector<std::string>& output_names);

// Fusion as in deployed networks: batch norm is folded into the convolution before it. Activations
// and residual additions become post-ops of the convolution or gemm that produces their input.
// `nodes` are single layers in execution order, `outputs` those whose results leave the network. A
// layer joins its producer if it is the producer's only reader:
//   batch_norm       joins a conv without post-ops, which gets a bias
//   unary pointwise  joins a conv or gemm
//   add              of two equal shapes: joins the later conv or gemm of its two producers; the
//                    other input becomes the residual
Result<std::vector<Node>> fuse(const std::vector<Node>& nodes, std::span<const Source> outputs);

// Sets Network::work. Error: a count exceeds 2^63 - 1.
Status count_work(Network& network);

}  // namespace bench::ops
