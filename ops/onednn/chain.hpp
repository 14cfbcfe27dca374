// SPDX-License-Identifier: Apache-2.0
// Plans a network as a chain of primitives, each of which forwards its layout to the next. Plain
// data, created once; ops/onednn/kernels.hpp executes it.
//
// Operators that choose their own layout (convolution, matrix product) do so. The others use the
// layout of their producer. A reorder is inserted if the two differ, once per result and layout.
// Kernels of other backends, and those of several primitives, read and write plain values. The
// network's inputs and outputs are plain
// row-major, as the users of a framework have them. The chain of a training step keeps the
// workspace of a forward primitive for the backward one. A residual addition is done in place
// (`sum` into the residual's buffer) if nothing reads the residual afterwards. Otherwise it is a
// binary post-op.
#pragma once

#include "ops/backend/chain_planner.hpp"
#include "ops/backend/kernel.hpp"
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

using ChainValue = PlannedValue<dnnl::memory::desc>;

struct ChainStep {
  std::size_t node;            // node that it belongs to
  std::string kind;            // "convolution"
  std::string implementation;  // "brgconv:avx512_core"
  std::string layouts;         // human-readable
  InputLayouts input_layouts;
  std::optional<MovedTensor> moved;  // for a reorder
  dnnl::primitive primitive;
  // If set, this kernel runs instead of a primitive: one of another backend, or one of several
  // primitives. It takes plain activations; the arguments are the indexes of its tensors.
  std::shared_ptr<Kernel> foreign;
  dnnl::memory::desc scratchpad;
  std::vector<std::pair<int, std::size_t>> values;      // DNNL_ARG_* -> value
  std::vector<std::pair<int, std::size_t>> parameters;  // DNNL_ARG_* -> parameter of the network
};

// A parameter's layouts: the user's and the primitive's. A parameter that several steps read is a
// value in its plain layout, which they reorder as they need it.
struct ChainParameter {
  dnnl::memory::desc plain;
  dnnl::memory::desc desc;
  // If set, the parameter is tensor `tensor` of this kernel in the kernel's own layout, which no
  // descriptor describes; `desc` is then the plain one.
  std::shared_ptr<Kernel> packer = nullptr;
  std::size_t tensor = 0;

  // Size of the parameter in the layout that its step reads.
  Bytes size() const;
};

// Create the kernels of layers for which the library has no single primitive.
struct LayerMakers {
  KernelMaker foreign = {};  // of other backends; may be empty
  KernelMaker parts = {};    // of operators with OnednnKernelEntry::parts
};

struct Chain {
  std::vector<ChainStep> steps;
  std::vector<ChainValue> values;
  std::vector<ChainStorage> storages;      // `index`: in inputs, parameters, outputs or buffers
  std::vector<ChainParameter> parameters;  // in the order of Network::parameter_places
  std::vector<std::int64_t> buffers;       // bytes of each buffer for internal storages
  std::vector<dnnl::memory::desc> inputs;
  std::vector<dnnl::memory::desc> outputs;
  std::size_t scratchpad_bytes = 0;  // size of the scratchpad that all steps share
};

// A layer runs on the first backend of its operator's list (Operator::cpu) that supports it. May
// throw dnnl::error.
Result<Chain, BackendError> build_chain(OnednnContext& context, const Network& network,
                                        const LayerMakers& makers);

}  // namespace bench::ops
