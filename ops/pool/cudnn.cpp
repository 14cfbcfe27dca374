// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"
#include "ops/pool/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

struct ModeRow {
  std::string_view function;
  cudnnResampleMode_t mode;
  cudnnPaddingMode_t padding;
};
constexpr ModeRow kModes[] = {
    {kPoolMax, CUDNN_RESAMPLE_MAXPOOL, CUDNN_NEG_INF_PAD},
    {kPoolIncludePad, CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING, CUDNN_ZERO_PAD},
    {kPoolExcludePad, CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING, CUDNN_ZERO_PAD}};

struct PoolForm {
  std::vector<std::int64_t> input, output;  // n, c, spatial
  std::vector<std::int64_t> window, stride, before, after;
};

// Returns the form of a problem. One-dimensional problems get a height of 1, as in convolutions.
PoolForm make_pool_form(const Problem& problem) {
  const std::vector<SpatialAxis> axes = pool_axes(problem.parameters);
  PoolForm form;
  form.input = {problem.parameters.count("n"), problem.parameters.count("c")};
  form.output = form.input;
  if (axes.size() == 1) {
    for (auto* sizes : {&form.input, &form.output, &form.window, &form.stride}) {
      sizes->push_back(1);
    }
    form.before = form.after = {0};
  }
  for (const SpatialAxis& axis : axes) {
    form.input.push_back(axis.input);
    form.output.push_back(axis.output);
    form.window.push_back(axis.kernel);
    form.stride.push_back(axis.stride);
    form.before.push_back(axis.pad.begin);
    form.after.push_back(axis.pad.end);
  }
  return form;
}

Result<Descriptor> make_resample_descriptor(const CudnnTarget& target, const PoolForm& form,
                                            const ModeRow& row, DataType compute) {
  return DescriptorBuilder(target.api, CUDNN_BACKEND_RESAMPLE_DESCRIPTOR, "the pooling's shape")
      .code(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, row.mode)
      .code(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, cudnn_type(compute))
      .code(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, row.padding)
      .integer(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, static_cast<std::int64_t>(form.window.size()))
      .integers(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, form.window)
      .integers(CUDNN_ATTR_RESAMPLE_STRIDES, form.stride)
      .integers(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, form.before)
      .integers(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, form.after)
      .finish();
}

// Returns the form of the tensor of maxima. For each output element, the tensor contains one byte:
// the maximum's position in its window.
TensorForm make_maxima_form(const Problem& problem, const PoolForm& form) {
  TensorForm maxima = tensor_form(problem, 0, form.output, chosen_layout(problem));
  maxima.name = "maxima";
  maxima.uid = kForwardMaxima;
  maxima.dtype = DataType::s8;
  return maxima;
}

enum class MaximaOutput { no, yes };

// Adds the pooling of the problem's first tensor to the graph. `result` describes the result's
// tensor.
void add_forward(GraphBuilder& builder, const Problem& problem, const PoolForm& form,
                 const Descriptor& shape, const TensorForm& result, MaximaOutput maxima_output) {
  const std::size_t x = builder.tensor(tensor_form(problem, 0, form.input, chosen_layout(problem)));
  const std::size_t y = builder.tensor(result);
  std::size_t maxima = 0;
  if (maxima_output == MaximaOutput::yes) maxima = builder.tensor(make_maxima_form(problem, form));
  if (builder.failed()) return;
  DescriptorBuilder operation(builder.api(), CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
                              "the pooling");
  operation.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, builder.at(x))
      .descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, builder.at(y))
      .descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, shape);
  if (maxima_output == MaximaOutput::yes) {
    operation.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, builder.at(maxima));
  }
  builder.operation(operation.finish());
}

// Returns the form of the forward pass's result, which the problem of a gradient does not contain.
TensorForm make_result_form(const Problem& problem, const PoolForm& form, std::int64_t uid) {
  TensorForm result = tensor_form(problem, 0, form.output, chosen_layout(problem));
  result.name = "destination";
  result.uid = uid;
  return result;
}

// Adds the tensors of the forward pass that the gradient's engine demands, to the graph and to the
// operation. In nhwc, the engine of a maximum reads the positions of the maxima. In nchw, the
// engine is cudnnPoolingBackward: it demands source and result, but reads them only for a maximum.
void add_forward_tensors(GraphBuilder& builder, DescriptorBuilder& operation,
                         const Problem& problem, const PoolForm& form, const ModeRow& row) {
  const bool is_max = row.mode == CUDNN_RESAMPLE_MAXPOOL;
  if (is_in_nchw(problem)) {
    TensorForm source = tensor_form(problem, 0, form.input, chosen_layout(problem));
    if (!is_max) source.uid = kUnreadSource;
    source.name = "source";
    const std::size_t x = builder.tensor(source);
    const std::size_t y =
        builder.tensor(make_result_form(problem, form, is_max ? kMaximaResult : kUnreadResult));
    if (builder.failed()) return;
    operation.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, builder.at(x))
        .descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC, builder.at(y));
  } else if (is_max) {
    const std::size_t maxima = builder.tensor(make_maxima_form(problem, form));
    if (builder.failed()) return;
    operation.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, builder.at(maxima));
  }
}

// Adds the gradient to the graph. What the gradient of a maximum reads of the forward pass is not a
// tensor of the problem. The forward pass computes it once, before anything is timed.
void add_backward(GraphBuilder& builder, const Problem& problem, const PoolForm& form,
                  const ModeRow& row, const Descriptor& shape) {
  const Layout layout = chosen_layout(problem);
  const std::size_t last = problem.tensors.size() - 1;
  const std::size_t dy = builder.tensor(tensor_form(problem, last - 1, form.output, layout));
  const std::size_t dx = builder.tensor(tensor_form(problem, last, form.input, layout));
  if (builder.failed()) return;
  DescriptorBuilder operation(builder.api(), CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
                              "the pooling's gradient");
  operation.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, builder.at(dx))
      .descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, builder.at(dy))
      .descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, shape);
  add_forward_tensors(builder, operation, problem, form, row);
  builder.operation(operation.finish());
}

Result<OperationGraph, BackendError> pool_graph(const CudnnTarget& target, const Problem& problem) {
  if (!problem.post_ops.empty()) {
    return unsupported("cuDNN cannot fuse post-ops with pooling here; leave post-ops out");
  }
  const auto* row = std::find_if(std::begin(kModes), std::end(kModes), [&](const ModeRow& mode) {
    return mode.function == problem.parameters.word("function");
  });
  if (row == std::end(kModes)) return unsupported("cuDNN has no such pooling");
  const PoolForm form = make_pool_form(problem);
  auto shape = make_resample_descriptor(target, form, *row, pointwise_compute_type(problem));
  if (!shape) return unsupported("cuDNN: " + shape.error().message());
  GraphBuilder builder(target);
  if (problem.direction == Direction::forward) {
    const TensorForm result = tensor_form(problem, 1, form.output, chosen_layout(problem));
    add_forward(builder, problem, form, *shape, result, MaximaOutput::no);
  } else {
    add_backward(builder, problem, form, *row, *shape);
  }
  builder.keep(std::move(shape));
  return builder.finish();
}

bool is_bf16_forward_in_nhwc(const Problem& problem) {
  return problem.direction == Direction::forward && problem.dtype == DataType::bf16 &&
         !is_in_nchw(problem);
}
bool is_byte_in_nchw(const Problem& problem) {
  return is_in_nchw(problem) && (is_f8(problem) || problem.dtype == DataType::u8);
}
bool is_f64_in_nhwc(const Problem& problem) { return is_f64(problem) && !is_in_nchw(problem); }

// Seen with cuDNN 9.19, driver 580 on an H100: the engine (3, compiled at run time) returned wrong
// maxima and unwritten elements, for a description that it computes correctly in f16 and f32.
constexpr CudnnGap kGaps[] = {
    {is_bf16_forward_in_nhwc, "cuDNN 9.19's engine for pooling of bf16 in nhwc is wrong"},
};

constexpr CudnnGap kExpectedGaps[] = {
    {is_byte_in_nchw, "cuDNN has no engine for pooling of u8 and f8 in nchw"},
    {is_f64_in_nhwc, "cuDNN has no engine for pooling of f64 in nhwc"},
};

}  // namespace

Result<OperationGraph, BackendError> maxima_graph(const CudnnTarget& target,
                                                  const Problem& problem) {
  const PoolForm form = make_pool_form(problem);
  auto shape = make_resample_descriptor(target, form, kModes[0], pointwise_compute_type(problem));
  if (!shape) return unsupported("cuDNN: " + shape.error().message());
  GraphBuilder builder(target);
  add_forward(builder, problem, form, *shape, make_result_form(problem, form, kMaximaResult),
              is_in_nchw(problem) ? MaximaOutput::no : MaximaOutput::yes);
  builder.keep(std::move(shape));
  return builder.finish();
}

extern const CudnnEntry pool_cudnn;
const CudnnEntry pool_cudnn = {
    .op = "pool", .graph = pool_graph, .gaps = kGaps, .expected_gaps = kExpectedGaps};

}  // namespace bench::ops::cuda
