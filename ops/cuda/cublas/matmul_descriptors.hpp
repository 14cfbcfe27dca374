// SPDX-License-Identifier: Apache-2.0
// A product's descriptors for cuBLASLt, owned. They are made without a device.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace bench::ops::cuda {

cudaDataType_t cuda_type(DataType dtype);
cublasOperation_t cublas_operation(Operation operation);
cublasComputeType_t cublas_compute_type(ProductCompute compute);
// Of alpha and beta, and of the epilogue.
cudaDataType_t scale_type(ProductCompute compute);
cublasLtEpilogue_t epilogue_of(const GemmForm& form);

class MatmulDescriptors {
 public:
  // Refusal: cuBLASLt does not take an attribute, by its name of the reason.
  static Result<MatmulDescriptors, Refusal> create(std::shared_ptr<const CublasLtApi> api,
                                                   const GemmForm& form);

  cublasLtMatmulDesc_t product() const { return product_.get(); }
  cublasLtMatrixLayout_t a() const { return a_.get(); }
  cublasLtMatrixLayout_t b() const { return b_.get(); }
  // Where no residual is added cuBLASLt wants the layout of the result in its place.
  cublasLtMatrixLayout_t c() const { return c_.get(); }
  cublasLtMatrixLayout_t d() const { return d_.get(); }
  DataType destination() const { return destination_; }
  // Of the bias vector, on the device.
  Status set_bias(const void* bias);
  // Of the float on the device by which fp8 operands, and an fp8 result, are multiplied.
  Status set_scale(const void* scale);

 private:
  using Product = std::shared_ptr<cublasLtMatmulDescOpaque_t>;
  using MatrixLayout = std::shared_ptr<cublasLtMatrixLayoutOpaque_t>;
  explicit MatmulDescriptors(std::shared_ptr<const CublasLtApi> api) : api_(std::move(api)) {}
  Status set_pointer(cublasLtMatmulDescAttributes_t name, std::string_view what,
                     const void* address);
  static Result<MatrixLayout, Refusal> make_layout(const std::shared_ptr<const CublasLtApi>& api,
                                                   const MatrixForm& form, std::int64_t batch);
  static Result<Product, Refusal> make_product(const std::shared_ptr<const CublasLtApi>& api,
                                               const GemmForm& form);
  std::shared_ptr<const CublasLtApi> api_;
  Product product_;
  MatrixLayout a_, b_, c_, d_;
  DataType destination_ = DataType::f32;
};

}  // namespace bench::ops::cuda
