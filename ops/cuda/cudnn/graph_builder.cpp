// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/graph_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace bench::ops::cuda {
namespace {

struct ConvAttributes {
  cudnnBackendDescriptorType_t type;
  std::string_view name;
  cudnnBackendAttributeName_t convolution, x, w, y, alpha, beta;
};

// In the order of ConvKind.
constexpr ConvAttributes kConvolutions[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, "the convolution",
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     "the gradient of the convolution's input", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     "the gradient of the convolution's weights",
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

Result<Descriptor> convolution_descriptor(const std::shared_ptr<const CudnnApi>& api,
                                          const ConvForm& form, DataType compute) {
  return DescriptorBuilder(api, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "the convolution's shape")
      .code(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, cudnn_type(compute))
      .code(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .integer(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<std::int64_t>(form.stride.size()))
      .integers(CUDNN_ATTR_CONVOLUTION_DILATIONS, form.dilation)
      .integers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, form.stride)
      .integers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, form.pad_before)
      .integers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, form.pad_after)
      .finish();
}

bool has_truth_values(cudnnPointwiseMode_t mode) {
  return (mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE) ||
         (mode >= CUDNN_POINTWISE_LOGICAL_AND && mode <= CUDNN_POINTWISE_LOGICAL_NOT);
}

}  // namespace

std::optional<std::size_t> GraphBuilder::keep(Result<Descriptor> descriptor) {
  if (!descriptor) {
    if (error_.empty()) error_ = descriptor.error().message();
    return std::nullopt;
  }
  parts_.push_back(*std::move(descriptor));
  return parts_.size() - 1;
}

void GraphBuilder::operation(Result<Descriptor> descriptor) {
  if (const auto index = keep(std::move(descriptor))) operations_.push_back(parts_[*index].get());
}

std::size_t GraphBuilder::add_tensor(const TensorForm& form, TensorKind kind,
                                     std::optional<cudnnDataType_t> type) {
  if (failed()) return 0;
  const bool is_number = kind == TensorKind::number;
  DescriptorBuilder builder(api_, CUDNN_BACKEND_TENSOR_DESCRIPTOR,
                            fmt::format("tensor `{}`", form.name));
  builder
      .code(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
            type.value_or(cudnn_type(form.dtype)))
      .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, form.dims)
      .integers(CUDNN_ATTR_TENSOR_STRIDES, form.strides)
      .integer(CUDNN_ATTR_TENSOR_UNIQUE_ID, form.uid)
      .integer(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
               is_number ? info(form.dtype).bytes : kTensorAlignment)
      .boolean(CUDNN_ATTR_TENSOR_IS_VIRTUAL, kind == TensorKind::intermediate);
  if (is_number) builder.boolean(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
  return keep(builder.finish()).value_or(0);
}

std::size_t GraphBuilder::tensor(const TensorForm& form) {
  tensors_.push_back(form);
  return add_tensor(form, TensorKind::buffer);
}

std::size_t GraphBuilder::intermediate(std::string name, DataType dtype,
                                       std::vector<std::int64_t> dims,
                                       std::vector<std::int64_t> strides) {
  return add_tensor({std::move(name), next_uid_++, dtype, std::move(dims), std::move(strides)},
                    TensorKind::intermediate);
}

std::size_t GraphBuilder::condition(std::string name, std::vector<std::int64_t> dims,
                                    std::vector<std::int64_t> strides) {
  return add_tensor(
      {std::move(name), next_uid_++, DataType::u8, std::move(dims), std::move(strides)},
      TensorKind::intermediate, CUDNN_DATA_BOOLEAN);
}

std::size_t GraphBuilder::add_constant(TensorForm form, GraphConstant::Memory memory,
                                       std::span<const double> values) {
  form.uid = kFirstConstant + std::ssize(constants_);
  std::vector<std::uint8_t> bytes(values.size() * static_cast<std::size_t>(info(form.dtype).bytes));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(form.dtype, bytes.data(), i, values[i]);
  }
  const std::size_t index = add_tensor(
      form, memory == GraphConstant::Memory::host ? TensorKind::number : TensorKind::buffer);
  constants_.push_back({std::move(form), memory, std::move(bytes)});
  return index;
}

std::size_t GraphBuilder::number(std::string name, DataType dtype, double value, std::size_t rank) {
  const std::vector<std::int64_t> ones(rank, 1);
  return add_constant({std::move(name), 0, dtype, ones, ones}, GraphConstant::Memory::host,
                      std::span(&value, 1));
}

std::size_t GraphBuilder::constant(TensorForm form, std::span<const double> values) {
  return add_constant(std::move(form), GraphConstant::Memory::device, values);
}

std::size_t GraphBuilder::scratch(std::string name, DataType dtype, std::vector<std::int64_t> dims,
                                  std::vector<std::int64_t> strides) {
  scratch_.push_back({std::move(name), kFirstScratch + std::ssize(scratch_), dtype, std::move(dims),
                      std::move(strides)});
  return add_tensor(scratch_.back(), TensorKind::buffer);
}

void GraphBuilder::matmul(std::size_t a, std::size_t b, std::size_t c, const MatrixSizes& sizes) {
  if (failed()) return;
  const auto shape =
      keep(DescriptorBuilder(api_, CUDNN_BACKEND_MATMUL_DESCRIPTOR, "the product of matrices")
               .code(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, cudnn_type(DataType::f32))
               .finish());
  if (!shape) return;
  DescriptorBuilder builder(api_, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                            "the operation of matrices");
  builder.descriptor(CUDNN_ATTR_OPERATION_MATMUL_ADESC, parts_[a])
      .descriptor(CUDNN_ATTR_OPERATION_MATMUL_BDESC, parts_[b])
      .descriptor(CUDNN_ATTR_OPERATION_MATMUL_CDESC, parts_[c])
      .descriptor(CUDNN_ATTR_OPERATION_MATMUL_DESC, parts_[*shape]);
  for (const auto& [name, size] :
       {std::pair(CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, sizes.rows),
        std::pair(CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, sizes.columns),
        std::pair(CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, sizes.inner)}) {
    if (size) builder.descriptor(name, parts_[*size]);
  }
  operation(builder.finish());
}

void GraphBuilder::reshape(std::size_t x, std::size_t y) {
  if (failed()) return;
  operation(DescriptorBuilder(api_, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, "a change of shape")
                .descriptor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, parts_[x])
                .descriptor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, parts_[y])
                .finish());
}

void GraphBuilder::reduction(cudnnReduceTensorOp_t function, std::size_t x, std::size_t y) {
  if (failed()) return;
  const auto descriptor = keep(
      DescriptorBuilder(api_, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, "a reduction's function")
          .code(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, function)
          .code(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, cudnn_type(DataType::f32))
          .finish());
  if (!descriptor) return;
  operation(DescriptorBuilder(api_, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, "a reduction")
                .descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC, parts_[*descriptor])
                .descriptor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, parts_[x])
                .descriptor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, parts_[y])
                .finish());
}

void GraphBuilder::convolution(const ConvForm& form, DataType compute, std::size_t x, std::size_t w,
                               std::size_t y) {
  if (failed()) return;
  const auto shape = keep(convolution_descriptor(api_, form, compute));
  if (!shape) return;
  const ConvAttributes& row = kConvolutions[static_cast<std::size_t>(form.kind)];
  DescriptorBuilder builder(api_, row.type, std::string(row.name));
  builder.descriptor(row.convolution, parts_[*shape])
      .descriptor(row.x, parts_[x])
      .descriptor(row.w, parts_[w])
      .descriptor(row.y, parts_[y]);
  if (compute == DataType::f64) {
    builder.real(row.alpha, 1.0).real(row.beta, 0.0);
  } else {
    builder.real(row.alpha, 1.0F).real(row.beta, 0.0F);
  }
  operation(builder.finish());
}

std::optional<std::size_t> GraphBuilder::function_descriptor(const Pointwise& function) {
  struct Setting {
    cudnnBackendAttributeName_t name;
    const std::optional<double>& value;
  };
  DescriptorBuilder mode(api_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "a pointwise function");
  mode.code(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, function.mode)
      .code(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
            has_truth_values(function.mode) ? CUDNN_DATA_BOOLEAN : cudnn_type(function.compute));
  if (function.axis) mode.integer(CUDNN_ATTR_POINTWISE_AXIS, *function.axis);
  for (const Setting& setting :
       {Setting{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, function.lower_clip},
        Setting{CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, function.upper_clip},
        Setting{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, function.slope},
        Setting{CUDNN_ATTR_POINTWISE_ELU_ALPHA, function.elu_alpha},
        Setting{CUDNN_ATTR_POINTWISE_SWISH_BETA, function.swish_beta}}) {
    if (setting.value) mode.real(setting.name, *setting.value);
  }
  return keep(mode.finish());
}

void GraphBuilder::pointwise(const Pointwise& function, std::size_t x, std::optional<std::size_t> b,
                             std::size_t y) {
  if (failed()) return;
  const auto descriptor = function_descriptor(function);
  if (!descriptor) return;
  DescriptorBuilder builder(api_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                            "a pointwise operation");
  builder.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parts_[*descriptor])
      .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[x])
      .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, parts_[y]);
  if (b) builder.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, parts_[*b]);
  operation(builder.finish());
}

void GraphBuilder::select(std::size_t condition, std::size_t x, std::size_t other, std::size_t y) {
  if (failed()) return;
  const auto descriptor = function_descriptor({CUDNN_POINTWISE_BINARY_SELECT});
  if (!descriptor) return;
  operation(DescriptorBuilder(api_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "a selection")
                .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parts_[*descriptor])
                .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[x])
                .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, parts_[other])
                .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, parts_[condition])
                .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, parts_[y])
                .finish());
}

void GraphBuilder::pointwise_gradient(const Pointwise& function, std::size_t x, std::size_t dy,
                                      std::size_t dx) {
  if (failed()) return;
  const auto descriptor = function_descriptor(function);
  if (!descriptor) return;
  operation(
      DescriptorBuilder(api_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "a pointwise gradient")
          .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parts_[*descriptor])
          .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[x])
          .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, parts_[dy])
          .descriptor(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, parts_[dx])
          .finish());
}

Result<OperationGraph, BackendError> GraphBuilder::finish() {
  if (!failed()) {
    assert(!operations_.empty());
    DescriptorBuilder builder(api_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "the operation graph");
    builder.descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
    if (handle_ != nullptr) builder.handle(kGraphHandle, handle_);
    auto graph = builder.finish();
    if (graph) {
      std::sort(tensors_.begin(), tensors_.end(),
                [](const TensorForm& a, const TensorForm& b) { return a.uid < b.uid; });
      return OperationGraph{std::move(parts_), *std::move(graph), std::move(tensors_),
                            std::move(constants_), std::move(scratch_)};
    }
    error_ = graph.error().message();
  }
  return BackendError{BackendError::Kind::unsupported, "cuDNN: " + error_};
}

}  // namespace bench::ops::cuda
