// SPDX-License-Identifier: Apache-2.0
// A network as a chain of primitives with layouts handed on from one to the next: plain data, made
// once; ops/onednn/network_kernel.hpp executes it.
//
// Operators that choose their layout (convolution, matrix product) do so; the others take what
// their producer hands over; a reorder stands where the two differ, once for each result and
// layout. The network's input and output are plain row-major, as a framework's user has them.
// A residual add is done in place (`sum` into the residual's buffer) where nothing reads the
// residual afterwards, else as a binary post-op.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/network/buffer_plan.hpp"
#include "ops/network/network.hpp"
#include "ops/onednn/context.hpp"
#include "ops/onednn/primitive.hpp"

#include <dnnl.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {

// Memory that values live in; several values share one where one is another's view or is computed
// in its place.
struct ChainStorage {
  enum class Kind { input, output, internal };
  Kind kind = Kind::internal;
  StorageLife life;
  std::size_t buffer = 0;  // of Chain::buffers, where internal
};

struct ChainValue {
  dnnl::memory::desc desc;
  std::size_t storage;
};

struct ChainStep {
  std::size_t node;            // that it belongs to
  std::string kind;            // "convolution"
  std::string implementation;  // "brgconv:avx512_core"
  std::string layouts;         // for people
  MetLayouts met;
  std::optional<MovedTensor> moved;  // of a reorder
  dnnl::primitive primitive;
  // Set: a kernel that is no primitive. It takes plain tensors, whose numbers are the arguments.
  std::shared_ptr<Kernel> foreign;
  dnnl::memory::desc scratchpad;
  std::vector<std::pair<int, std::size_t>> values;      // DNNL_ARG_* -> value
  std::vector<std::pair<int, std::size_t>> parameters;  // DNNL_ARG_* -> parameter of the network
};

// A parameter's layouts: the user's and the primitive's.
struct ChainParameter {
  dnnl::memory::desc plain;
  dnnl::memory::desc desc;
};

struct Chain {
  std::vector<ChainStep> steps;
  std::vector<ChainValue> values;
  std::vector<ChainStorage> storages;
  std::vector<ChainParameter> parameters;  // in the order of Network::parameter_places
  std::vector<std::int64_t> buffers;       // bytes of each buffer for internal storages
  dnnl::memory::desc input;
  dnnl::memory::desc output;
  std::size_t scratchpad_bytes = 0;  // of the one that all steps share
};

// `foreign` makes the kernels of operators that oneDNN does not have; may be empty. May throw
// dnnl::error.
Result<Chain, Refusal> build_chain(OnednnContext& context, const Network& network,
                                   const KernelMaker& foreign = {});

}  // namespace bench::ops
