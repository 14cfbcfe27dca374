// SPDX-License-Identifier: Apache-2.0
// Matrix product. Source and destination keep the plain (or transposed) form that callers use:
// reordering activations first would measure a different product. Weights that are constant take
// the layout that the library prefers.
#include "ops/gemm/gemm.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <numeric>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using dnnl::memory;

// Describes a plain buffer with the dimensions that the product expects. If the matrix is stored
// transposed, its last two dimensions are swapped.
memory::desc matrix_desc(const Tensor& tensor, Storage storage) {
  const memory::desc stored = plain_desc(tensor.dims, tensor.dtype);
  if (storage == Storage::plain) return stored;
  std::vector<int> axes(tensor.dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
  return stored.permute_axes(axes);
}

// One value per column, with the rank of the product.
memory::desc bias_desc(const Problem& problem) {
  if (!has_tensor(problem, "bias")) return {};
  const Tensor& bias = tensor_named(problem, "bias");
  Dims dims(tensor_named(problem, "destination").dims.size(), 1);
  dims.back() = bias.dims.back();
  return plain_desc(dims, bias.dtype);
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const GemmShape shape = gemm_shape(problem.parameters);
  const memory::desc source = matrix_desc(tensor_named(problem, "source"), shape.a);
  const memory::desc plain_weights = matrix_desc(tensor_named(problem, "weights"), shape.b);
  const bool is_constant = tensor_named(problem, "weights").role == TensorRole::weights;
  const memory::desc weights =
      is_constant ? memory::desc(plain_weights.get_dims(), plain_weights.get_data_type(),
                                 memory::format_tag::any)
                  : plain_weights;
  const memory::desc destination =
      matrix_desc(tensor_named(problem, "destination"), Storage::plain);
  const auto description = context.call("dnnl_matmul_primitive_desc_create", [&] {
    return dnnl::matmul::primitive_desc(context.engine(), source, weights, bias_desc(problem),
                                        destination, make_attributes(request));
  });
  PrimitiveBuilder builder(context, request, "matmul");
  builder.add("source", DNNL_ARG_SRC, description.src_desc(), source);
  builder.add("weights", DNNL_ARG_WEIGHTS, description.weights_desc(), plain_weights);
  if (shape.has_bias) builder.add("bias", DNNL_ARG_BIAS, bias_desc(problem));
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry gemm_onednn_kernel;
const OnednnKernelEntry gemm_onednn_kernel = {.op = "gemm", .create = create};

}  // namespace bench::ops
