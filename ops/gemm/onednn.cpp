// SPDX-License-Identifier: Apache-2.0
// Matrix product and its gradients. Activations and gradients keep the plain (or transposed) form
// that callers use: reordering them first would measure a different product. In a forward product,
// weights that are constant take the layout that the library prefers. In training each step changes
// them, so a gradient takes them as they are.
#include "ops/gemm/gemm.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

using dnnl::memory;

// Batch dimensions of a tensor: none, one, or two, of which the second is 1 if it is shared.
using BatchDims = Dims;

// The library broadcasts dimensions of size 1.
BatchDims batch_dims(const GemmShape& shape, std::int64_t batch) {
  if (shape.batch == 1) return {};
  const std::int64_t shared = std::min({shape.left.batch, shape.right.batch, shape.result_batch});
  if (shared == 1 || shared == shape.batch) return {batch};
  return {shared, batch / shared};
}

// Describes a plain buffer with the dimensions that the product expects. If a matrix is stored
// transposed, its last dimension has the large stride.
memory::desc matrix_desc(Dims dims, const GemmSize& rows, const GemmSize& columns, DataType dtype,
                         Storage storage) {
  const bool is_plain = storage == Storage::plain;
  dims.push_back(is_plain ? rows.count : columns.count);
  dims.push_back(is_plain ? columns.count : rows.count);
  const memory::desc stored = plain_desc(dims, dtype);
  if (is_plain) return stored;
  std::vector<int> axes;
  for (std::size_t i = 0; i < dims.size(); ++i) axes.push_back(static_cast<int>(i));
  std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
  return stored.permute_axes(axes);
}

struct ProductDescs {
  memory::desc left, right, bias, result;
};

ProductDescs describe_product(const Problem& problem, const GemmShape& shape) {
  const auto dtype = [&](std::size_t tensor) { return problem.tensors[tensor].dtype; };
  ProductDescs descs;
  descs.left = matrix_desc(batch_dims(shape, shape.left.batch), shape.rows, shape.inner,
                           dtype(shape.left.tensor), shape.left.storage);
  descs.right = matrix_desc(batch_dims(shape, shape.right.batch), shape.inner, shape.columns,
                            dtype(shape.right.tensor), shape.right.storage);
  descs.result = matrix_desc(batch_dims(shape, shape.result_batch), shape.rows, shape.columns,
                             dtype(shape.result), Storage::plain);
  if (shape.has_bias) {  // one value per column, with the rank of the product
    Dims dims(descs.result.get_dims().size(), 1);
    dims.back() = shape.columns.count;
    descs.bias = plain_desc(dims, tensor_named(problem, "bias").dtype);
  }
  return descs;
}

// A scale or a zero point, which the library reads when it executes the product. `mask`: the
// dimensions along which it has several values.
struct Quantisation {
  std::string_view tensor;
  int operand, attribute;
};
constexpr Quantisation kQuantisations[] = {
    {"src_scale", DNNL_ARG_SRC, DNNL_ARG_ATTR_SCALES},
    {"weights_scale", DNNL_ARG_WEIGHTS, DNNL_ARG_ATTR_SCALES},
    {"src_zero_point", DNNL_ARG_SRC, DNNL_ARG_ATTR_ZERO_POINTS},
};

void set_quantisation(const Problem& problem, std::size_t rank, dnnl::primitive_attr& attributes) {
  for (const Quantisation& row : kQuantisations) {
    if (!has_tensor(problem, row.tensor)) continue;
    const bool is_per_column =
        problem.parameters.word("weights_scale") == "channel" && row.operand == DNNL_ARG_WEIGHTS;
    const int mask = is_per_column ? 1 << (rank - 1) : 0;
    if (row.attribute == DNNL_ARG_ATTR_SCALES) {
      attributes.set_scales_mask(row.operand, mask);
    } else {
      attributes.set_zero_points_mask(row.operand, mask);
    }
  }
}

void add_quantisation(const Problem& problem, PrimitiveBuilder& builder) {
  for (const Quantisation& row : kQuantisations) {
    if (!has_tensor(problem, row.tensor)) continue;
    const Tensor& tensor = tensor_named(problem, row.tensor);
    builder.add(row.tensor, row.attribute | row.operand, plain_desc(tensor.dims, tensor.dtype));
  }
}

CreatedPrimitive create_product(OnednnContext& context, const OnednnRequest& request,
                                const GemmShape& shape) {
  const Problem& problem = request.problem;
  const ProductDescs descs = describe_product(problem, shape);
  const bool is_constant = problem.direction == Direction::forward &&
                           tensor_named(problem, "weights").role == TensorRole::weights;
  const memory::desc right = is_constant
                                 ? memory::desc(descs.right.get_dims(), descs.right.get_data_type(),
                                                memory::format_tag::any)
                                 : descs.right;
  const Dims result_dims = descs.result.get_dims();
  dnnl::primitive_attr attributes = make_attributes(request, result_dims);
  set_quantisation(problem, result_dims.size(), attributes);
  const auto description =
      take_implementation(context, request, context.call("dnnl_matmul_primitive_desc_create", [&] {
        return dnnl::matmul::primitive_desc(context.engine(), descs.left, right, descs.bias,
                                            descs.result, attributes);
      }));
  PrimitiveBuilder builder(context, request, "matmul");
  const auto name = [&](std::size_t tensor) { return problem.tensors[tensor].name; };
  builder.add(name(shape.left.tensor), DNNL_ARG_SRC, description.src_desc(), descs.left);
  builder.add(name(shape.right.tensor), DNNL_ARG_WEIGHTS, description.weights_desc(), descs.right);
  if (shape.has_bias) builder.add("bias", DNNL_ARG_BIAS, descs.bias);
  add_quantisation(problem, builder);
  builder.add(name(shape.result), DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

// Computes both gradients of a linear layer, as only an inner product does.
CreatedPrimitive create_layer_gradient(OnednnContext& context, const OnednnRequest& request,
                                       const GemmShape& shape) {
  using dnnl::inner_product_backward_weights;
  using dnnl::inner_product_forward;
  const Problem& problem = request.problem;
  const ParameterSet& parameters = problem.parameters;
  if (shape.batch != 1 || parameters.flag("trans_a")) {
    return unsupported(
        "oneDNN has a gradient of the bias only in an inner product, whose source is one plain "
        "matrix; leave bias, batch or trans_a out");
  }
  const GemmSize m{"m", shape.inner.count}, n{"n", parameters.count("n")},
      k{"k", parameters.count("k")};
  const auto dtype = [&](std::string_view name) { return tensor_named(problem, name).dtype; };
  const memory::desc source = matrix_desc({}, m, k, dtype("source"), Storage::plain);
  const memory::desc gradient = matrix_desc({}, m, n, dtype("diff_destination"), Storage::plain);
  // The library's weights are n x k.
  const memory::desc weights =
      matrix_desc({}, n, k, dtype("diff_weights"),
                  parameters.flag("trans_b") ? Storage::plain : Storage::transposed);
  const memory::desc bias = plain_desc({n.count}, dtype("diff_bias"));
  const auto forward = context.call("dnnl_inner_product_forward_primitive_desc_create", [&] {
    return inner_product_forward::primitive_desc(context.engine(),
                                                 dnnl::prop_kind::forward_training, source, weights,
                                                 bias, gradient, make_attributes(request));
  });
  const auto description = take_implementation(
      context, request,
      context.call("dnnl_inner_product_backward_weights_primitive_desc_create", [&] {
        return inner_product_backward_weights::primitive_desc(
            context.engine(), source, weights, bias, gradient, forward, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, "inner_product");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, description.diff_dst_desc());
  builder.add("diff_weights", DNNL_ARG_DIFF_WEIGHTS, description.diff_weights_desc(), weights);
  builder.add("diff_bias", DNNL_ARG_DIFF_BIAS, description.diff_bias_desc());
  return builder.finish(description);
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const GemmShape shape = gemm_shape(request.problem);
  if (shape.result_batch != shape.batch) {
    return unsupported(
        "the gradient of a shared matrix adds up products, which is one product only if their "
        "source is plain and the weights are shared; oneDNN does not add up products");
  }
  return shape.bias_gradient ? create_layer_gradient(context, request, shape)
                             : create_product(context, request, shape);
}

}  // namespace

extern const OnednnKernelEntry gemm_onednn_kernel;
const OnednnKernelEntry gemm_onednn_kernel = {.op = "gemm", .create = create};

}  // namespace bench::ops
