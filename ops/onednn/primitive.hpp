// SPDX-License-Identifier: Apache-2.0
// A created oneDNN primitive with what its execution needs, and the helpers with which the
// operators' kernels (ops/<op>/onednn.cpp) create one.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/onednn/context.hpp"
#include "ops/problem.hpp"

#include <dnnl.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {

// An eltwise algorithm of oneDNN with its coefficients.
struct EltwiseAlgorithm {
  dnnl::algorithm algorithm;
  float alpha;
  float beta;
};

// Return oneDNN's eltwise (binary) algorithm for a unary (binary) function of pointwise or of a
// post-op, or nullopt if the name is not such a function. alpha and beta are those of the function.
std::optional<EltwiseAlgorithm> find_eltwise(std::string_view function, double alpha, double beta);
std::optional<dnnl::algorithm> find_binary(std::string_view function);

// The post-op that adds a residual.
inline constexpr std::string_view kAddPostOp = "add";

// Where the post-op `add` gets its residual: from a separate tensor, or from the destination's
// buffer, which already contains it, so that the sum is in place.
enum class ResidualAdd { separate, in_place };

// Whether a forward primitive keeps what its backward primitive reads later (max pooling: where the
// maxima are).
enum class ForwardWorkspace { none, kept };

struct OnednnRequest {
  const Problem& problem;
  // By tensor of the problem: the layout in which its producer provides it; for a gradient in a
  // network, the layout of the tensor whose gradient it is. Zero descriptors (or an empty vector)
  // if there is none.
  std::vector<dnnl::memory::desc> producer_layouts;
  ResidualAdd residual = ResidualAdd::separate;
  ForwardWorkspace workspace = ForwardWorkspace::none;
  // Position in the library's list of implementations, from 0, which the library takes by itself.
  int implementation = 0;
};

// One tensor of the problem as the primitive sees it.
struct OnednnTensor {
  std::optional<int> argument;  // DNNL_ARG_*; nullopt if the primitive itself does not read it
  dnnl::memory::desc plain;     // the user's row-major buffer, in the primitive's dimensions
  dnnl::memory::desc desc;      // the layout that the primitive requires
};

// A forward pass whose workspace a backward primitive needs. Runs once and is never timed.
struct OnednnPreparation {
  struct Input {
    std::size_t tensor;  // its index in the problem
    int argument;        // DNNL_ARG_*
    // The layout that the forward pass requires, if it is another one than the backward pass's.
    dnnl::memory::desc desc = {};
  };
  dnnl::primitive primitive;
  std::vector<Input> inputs;
  dnnl::memory::desc output;  // DNNL_ARG_DST; discarded unless it is one of `shared`
  dnnl::memory::desc scratchpad;
  // Arguments of both passes among OnednnPrimitive::discarded: the backward pass reads what the
  // forward pass wrote.
  std::vector<int> shared = {};
};

struct OnednnPrimitive {
  std::string kind;            // "convolution"
  std::string implementation;  // "brgconv:avx512_core"
  dnnl::primitive primitive;
  std::vector<OnednnTensor> tensors;  // those of the problem, in its order
  // Arguments that the library demands but does not read. Each gets the buffer of a tensor.
  std::vector<std::pair<std::size_t, int>> demanded;
  // Arguments that the library demands and the problem does not have. The kernel keeps memory for
  // them, which begins with zeros.
  std::vector<std::pair<int, dnnl::memory::desc>> discarded;
  // Outputs to which the library adds. They are set to 0 before each execution, as a part of it.
  std::vector<std::size_t> accumulated;
  dnnl::memory::desc scratchpad;
  dnnl::memory::desc workspace;  // zero if there is none
  std::optional<OnednnPreparation> preparation;
  // If set, this kernel replaces the primitive; the arguments are the indexes of its tensors.
  std::shared_ptr<Kernel> foreign = nullptr;

  const OnednnTensor& output() const { return tensors.back(); }
};

using CreatedPrimitive = Result<std::unique_ptr<OnednnPrimitive>, BackendError>;

// --- What the operators' kernels need from a request.

// Returns the index of the tensor with this name; asserts that the problem has it.
std::size_t tensor_index(const Problem& problem, std::string_view name);
bool has_tensor(const Problem& problem, std::string_view name);
const Tensor& tensor_named(const Problem& problem, std::string_view name);

// The layout of an activation for primitives that choose their own (convolution): the layout that
// the problem's `layout` fixes, else `any`.
dnnl::memory::desc free_layout(const Problem& problem, std::string_view name);
// The layout for primitives without a preference: what `layout` fixes, else the producer's layout,
// else that of a convolution, else plain. The convolution's layout applies to tensors of rank 4 and
// 5, and to all tensors of an operator that is spatial by nature.
enum class Nature { spatial, shaped };
dnnl::memory::desc inherited_layout(OnednnContext& context, const OnednnRequest& request,
                                    std::string_view name, Nature nature);

// The layout of the problem's first tensor: plain without a producer and a fixed layout, for every
// rank, as of attention scores and class scores; else inherited_layout().
dnnl::memory::desc plain_or_inherited_layout(OnednnContext& context, const OnednnRequest& request);

// Returns attributes with the problem's post-ops and a scratchpad that the caller provides.
dnnl::primitive_attr make_attributes(const OnednnRequest& request);
// The same for a primitive whose output has other dimensions than the problem's.
dnnl::primitive_attr make_attributes(const OnednnRequest& request, const Dims& output_dims);

// Moves the description on to the implementation that is `count` places further in the library's
// list. Throws dnnl::error (dnnl_unimplemented) if the list ends before.
void skip_implementations(const OnednnContext& context, int count,
                          dnnl::primitive_desc& description);
// The same for a primitive of which the library offers one implementation only (reorder, concat).
void skip_implementations(const OnednnContext& context, int count,
                          const dnnl::primitive_desc_base& description);

// Returns the description of the implementation that the request asks for. `description` is that of
// the first one. Every kernel describes its primitive with it, before it asks for layouts, which
// depend on the implementation.
template <class Description>
Description take_implementation(const OnednnContext& context, const OnednnRequest& request,
                                Description description) {
  skip_implementations(context, request.implementation, description);
  return description;
}

// --- Collects the arguments of a primitive.
class PrimitiveBuilder {
 public:
  PrimitiveBuilder(const OnednnContext& context, const OnednnRequest& request,
                   std::string_view kind);

  // Adds the tensor `name` as the argument `argument` in the layout `desc`. Its plain form is
  // row-major over desc's dimensions.
  void add(std::string_view name, int argument, const dnnl::memory::desc& desc);
  // The same with a separate plain form (transposed operands).
  void add(std::string_view name, int argument, const dnnl::memory::desc& desc,
           const dnnl::memory::desc& plain);
  // Passes the tensor `name` also as an argument that the library demands but does not read.
  void add_demanded(std::string_view name, int argument);
  // Adds an argument that the library demands and the problem does not have.
  void add_discarded(int argument, const dnnl::memory::desc& desc);
  // Adds a tensor that only the preparation reads.
  void add_unused(std::string_view name, const dnnl::memory::desc& desc);

  // Adds the residuals and creates the primitive. Every tensor of the problem must have been added.
  std::unique_ptr<OnednnPrimitive> finish(const dnnl::primitive_desc_base& description);

 private:
  void add_residuals(const dnnl::primitive_desc_base& description);

  const OnednnContext& context_;
  const OnednnRequest& request_;
  std::unique_ptr<OnednnPrimitive> primitive_;
};

// How an operator gets its oneDNN kernel: one `extern const OnednnKernelEntry <op>_onednn_kernel`
// in ops/<op>/onednn.cpp. The table onednn_kernels() is generated from ops/CMakeLists.txt.
struct OnednnKernelEntry {
  std::string_view op;
  // Chooses layouts and creates the primitive. The layout is that of the problem's `layout` if it
  // fixes one, else that of the request, else the library's preference. May throw dnnl::error: call
  // it through ops/onednn/guard.hpp.
  // nullptr if `parts` is set.
  Result<std::unique_ptr<OnednnPrimitive>, BackendError> (*create)(OnednnContext& context,
                                                                   const OnednnRequest& request);
  // Set for an operator that the library does not have: returns the problems that its problem
  // consists of (ops/backend/grouped_parts.hpp).
  std::vector<Problem> (*parts)(const Problem& problem) = nullptr;
};

std::span<const OnednnKernelEntry* const> onednn_kernels();

}  // namespace bench::ops
