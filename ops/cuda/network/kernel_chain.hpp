// SPDX-License-Identifier: Apache-2.0
// Kernels that run one after the other on a device's stream, with the buffers between them. Plain
// data, created once; chain_kernel.hpp executes it.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/network/buffer_plan.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda {

// Where a tensor of a step is stored: in a tensor of the chain or in an intermediate result.
// `number` is the index in KernelChain::tensors or KernelChain::intermediates.
struct ChainPlace {
  enum class Kind { tensor, intermediate };
  Kind kind = Kind::tensor;
  std::size_t number = 0;
  friend bool operator==(const ChainPlace&, const ChainPlace&) = default;
};

inline ChainPlace tensor_place(std::size_t number) { return {ChainPlace::Kind::tensor, number}; }
inline ChainPlace intermediate_place(std::size_t number) {
  return {ChainPlace::Kind::intermediate, number};
}

struct ChainStep {
  std::string node;  // node of the network; empty for a problem
  std::unique_ptr<Kernel> kernel;
  std::vector<ChainPlace> tensors;  // one per buffer of the kernel
  std::string kind;                 // used if the kernel has no steps of its own: "gemm"
  InputLayouts input_layouts = {};
  std::optional<MovedTensor> moved = std::nullopt;  // the tensor that a reorder converts
};

// A tensor of the chain. `packed_by`: the step, and the number of its tensor, whose kernel converts
// the tensor from and to the plain form. nullopt if the tensor is plain or no step uses it.
struct ChainTensor {
  KernelBuffer buffer;
  std::optional<std::pair<std::size_t, std::size_t>> packed_by = std::nullopt;
};

// Describes the `count` tensors of a problem as the kernels of these steps read and write them.
std::vector<ChainTensor> chain_tensors(const std::vector<ChainStep>& steps, std::size_t count);

struct KernelChain {
  std::vector<ChainStep> steps;
  std::vector<ChainTensor> tensors;
  // Sizes of the intermediate results in bytes, in the order of their first use.
  std::vector<std::int64_t> intermediates;
  std::map<std::string, std::string> details = {};  // facts about the whole chain
};

// Returns the steps that execute a chain, in order, each with its node.
std::vector<KernelStep> list_steps(const KernelChain& chain);

// Plans which buffers the intermediate results share, by liveness.
BufferPlan plan_intermediates(const KernelChain& chain);

}  // namespace bench::ops::cuda
