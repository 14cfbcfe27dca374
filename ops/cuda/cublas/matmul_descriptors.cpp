// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/matmul_descriptors.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace bench::ops::cuda {
namespace {

struct TypeRow {
  DataType dtype;
  cudaDataType_t code;
};
// In the order of the enumerators.
constexpr TypeRow kTypes[] = {
    {DataType::f64, CUDA_R_64F},        {DataType::f32, CUDA_R_32F},
    {DataType::f16, CUDA_R_16F},        {DataType::bf16, CUDA_R_16BF},
    {DataType::s32, CUDA_R_32I},        {DataType::s8, CUDA_R_8I},
    {DataType::u8, CUDA_R_8U},          {DataType::f8_e4m3, CUDA_R_8F_E4M3},
    {DataType::f8_e5m2, CUDA_R_8F_E5M2}};

struct ComputeRow {
  ProductCompute compute;
  cublasComputeType_t code;
  cudaDataType_t scale;
};
// In the order of the enumerators.
constexpr ComputeRow kComputes[] = {
    {ProductCompute::f32, CUBLAS_COMPUTE_32F, CUDA_R_32F},
    {ProductCompute::f32_as_tf32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F},
    {ProductCompute::f64, CUBLAS_COMPUTE_64F, CUDA_R_64F},
    {ProductCompute::s32, CUBLAS_COMPUTE_32I, CUDA_R_32I}};

BackendError descriptor_error(const CublasLtApi& api, std::string_view what,
                              cublasStatus_t status) {
  return {BackendError::Kind::unsupported, fmt::format("cuBLASLt: {}: {}", what, api.text(status))};
}

}  // namespace

cublasOperation_t cublas_operation(Operation operation) {
  return operation == Operation::transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
}

cudaDataType_t cuda_type(DataType dtype) { return kTypes[static_cast<std::size_t>(dtype)].code; }

cublasComputeType_t cublas_compute_type(ProductCompute compute) {
  return kComputes[static_cast<std::size_t>(compute)].code;
}

cudaDataType_t scale_type(ProductCompute compute) {
  return kComputes[static_cast<std::size_t>(compute)].scale;
}

cublasLtEpilogue_t to_epilogue(const GemmForm& form) {
  switch (form.bias_gradient) {
    case BiasGradient::none:
      break;
    case BiasGradient::of_a:
      return CUBLASLT_EPILOGUE_BGRADA;
    case BiasGradient::of_b:
      return CUBLASLT_EPILOGUE_BGRADB;
  }
  const bool has_bias = form.bias == Presence::present;
  switch (form.activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::gelu:
      return has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  }
  return has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

Result<MatmulDescriptors::MatrixLayout, BackendError> MatmulDescriptors::make_layout(
    const std::shared_ptr<const CublasLtApi>& api, const MatrixForm& form, std::int64_t batch) {
  cublasLtMatrixLayout_t raw = nullptr;
  cublasStatus_t status =
      api->create_layout(&raw, cuda_type(form.dtype), static_cast<std::uint64_t>(form.rows),
                         static_cast<std::uint64_t>(form.columns), form.leading);
  if (status != CUBLAS_STATUS_SUCCESS) return descriptor_error(*api, "a matrix", status);
  MatrixLayout layout(raw, [api](cublasLtMatrixLayout_t owned) { api->destroy_layout(owned); });
  if (batch == 1) return layout;
  if (batch > std::numeric_limits<std::int32_t>::max()) {
    return BackendError{BackendError::Kind::unsupported, "cuBLASLt counts batches in 32 bits"};
  }
  const auto count = static_cast<std::int32_t>(batch);
  status = api->set_layout(raw, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
  if (status != CUBLAS_STATUS_SUCCESS) return descriptor_error(*api, "the batch", status);
  status = api->set_layout(raw, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &form.batch_stride,
                           sizeof(form.batch_stride));
  if (status != CUBLAS_STATUS_SUCCESS) return descriptor_error(*api, "the batch's stride", status);
  return layout;
}

Result<MatmulDescriptors::Product, BackendError> MatmulDescriptors::make_product(
    const std::shared_ptr<const CublasLtApi>& api, const GemmForm& form) {
  cublasLtMatmulDesc_t raw = nullptr;
  cublasStatus_t status =
      api->create_product(&raw, cublas_compute_type(form.compute), scale_type(form.compute));
  if (status != CUBLAS_STATUS_SUCCESS) return descriptor_error(*api, "the product", status);
  Product product(raw, [api](cublasLtMatmulDesc_t owned) { api->destroy_product(owned); });
  struct Setting {
    cublasLtMatmulDescAttributes_t name;
    std::int32_t value;
    std::string_view what;
  };
  const Setting settings[] = {
      {CUBLASLT_MATMUL_DESC_TRANSA, cublas_operation(form.a.operation), "the transposition of a"},
      {CUBLASLT_MATMUL_DESC_TRANSB, cublas_operation(form.b.operation), "the transposition of b"},
      {CUBLASLT_MATMUL_DESC_EPILOGUE, to_epilogue(form), "the epilogue"}};
  for (const Setting& setting : settings) {
    status = api->set_product(raw, setting.name, &setting.value, sizeof(setting.value));
    if (status != CUBLAS_STATUS_SUCCESS) return descriptor_error(*api, setting.what, status);
  }
  if (is_fp8(form.a.dtype)) {
    const std::int8_t fast = form.accumulation == Accumulation::fast ? 1 : 0;
    status = api->set_product(raw, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast));
    if (status != CUBLAS_STATUS_SUCCESS) return descriptor_error(*api, "the accumulation", status);
  }
  if (form.bias == Presence::absent || !is_fp8(form.d.dtype)) return product;
  const auto bias_type = static_cast<std::int32_t>(cuda_type(addend_type(form.d.dtype)));
  status =
      api->set_product(raw, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias_type, sizeof(bias_type));
  if (status != CUBLAS_STATUS_SUCCESS) return descriptor_error(*api, "the bias's type", status);
  return product;
}

Result<MatmulDescriptors, BackendError> MatmulDescriptors::create(
    std::shared_ptr<const CublasLtApi> api, const GemmForm& form) {
  MatmulDescriptors descriptors(std::move(api));
  BENCH_ASSIGN_OR_RETURN(descriptors.product_, make_product(descriptors.api_, form));
  BENCH_ASSIGN_OR_RETURN(descriptors.a_, make_layout(descriptors.api_, form.a, form.batch));
  BENCH_ASSIGN_OR_RETURN(descriptors.b_, make_layout(descriptors.api_, form.b, form.batch));
  BENCH_ASSIGN_OR_RETURN(descriptors.d_, make_layout(descriptors.api_, form.d, form.batch));
  MatrixForm addend = form.c.value_or(form.d);
  addend.dtype = addend_type(form.d.dtype);
  BENCH_ASSIGN_OR_RETURN(descriptors.c_, make_layout(descriptors.api_, addend, form.batch));
  descriptors.destination_ = form.d.dtype;
  return descriptors;
}

Status MatmulDescriptors::set_pointer(cublasLtMatmulDescAttributes_t name, std::string_view what,
                                      const void* address) {
  const cublasStatus_t status = api_->set_product(product(), name, &address, sizeof(address));
  if (status == CUBLAS_STATUS_SUCCESS) return Done{};
  return Error{fmt::format("cuBLASLt: {}: {}", what, api_->text(status)), "", ""};
}

Status MatmulDescriptors::set_bias(const void* bias) {
  return set_pointer(CUBLASLT_MATMUL_DESC_BIAS_POINTER, "the bias", bias);
}

Status MatmulDescriptors::set_scale(const void* scale) {
  BENCH_RETURN_IF_ERROR(set_pointer(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, "the scale of a", scale));
  BENCH_RETURN_IF_ERROR(set_pointer(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, "the scale of b", scale));
  if (!is_fp8(destination_)) return Done{};
  return set_pointer(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, "the scale of d", scale);
}

}  // namespace bench::ops::cuda
