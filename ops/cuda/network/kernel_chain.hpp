// SPDX-License-Identifier: Apache-2.0
// Kernels one after the other on a device's stream, with the buffers between them: plain data, made
// once; chain_kernel.hpp executes it.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/network/buffer_plan.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda {

// Memory that a step's tensor lies in: a tensor of the chain, by its number, or a result between.
struct ChainPlace {
  enum class Kind { tensor, between };
  Kind kind = Kind::tensor;
  std::size_t number = 0;
  friend bool operator==(const ChainPlace&, const ChainPlace&) = default;
};

struct ChainStep {
  std::string node;  // of a network; empty: of a problem
  std::unique_ptr<Kernel> kernel;
  std::vector<ChainPlace> tensors;  // one a buffer of the kernel
  std::string kind;                 // where the kernel has no steps of its own: "gemm"
  MetLayouts met = {};
  std::optional<MovedTensor> moved = std::nullopt;  // of a reorder
};

// A tensor of the chain: its buffer, and which tensor of which step converts it. Absent: it is
// plain, or nothing reads it.
struct ChainTensor {
  KernelBuffer buffer;
  std::optional<std::pair<std::size_t, std::size_t>> packed_by = std::nullopt;
};

struct KernelChain {
  std::vector<ChainStep> steps;
  std::vector<ChainTensor> tensors;
  std::vector<std::int64_t> between;  // bytes of each result between, in the order of first use
};

// Which buffers the results between share, by liveness.
BufferPlan plan_between(const KernelChain& chain);

}  // namespace bench::ops::cuda
