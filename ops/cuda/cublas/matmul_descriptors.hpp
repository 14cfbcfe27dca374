// SPDX-License-Identifier: Apache-2.0
// Owns a product's cuBLASLt descriptors. Creating them does not require a device.
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
// Returns the type of alpha, beta and the epilogue's computation.
cudaDataType_t scale_type(ProductCompute compute);
cublasLtEpilogue_t to_epilogue(const GemmForm& form);

class MatmulDescriptors {
 public:
  // BackendError: cuBLASLt rejects an attribute; the reason names it.
  static Result<MatmulDescriptors, BackendError> create(std::shared_ptr<const CublasLtApi> api,
                                                        const GemmForm& form);

  cublasLtMatmulDesc_t product() const { return product_.get(); }
  cublasLtMatrixLayout_t a() const { return a_.get(); }
  cublasLtMatrixLayout_t b() const { return b_.get(); }
  // The layout of the residual. Without a residual, it is a layout with the result's sizes, which
  // cuBLASLt expects.
  cublasLtMatrixLayout_t c() const { return c_.get(); }
  cublasLtMatrixLayout_t d() const { return d_.get(); }
  DataType destination() const { return destination_; }
  // Sets the address of the bias vector on the device.
  Status set_bias(const void* bias);
  // Sets the address, on the device, of the float that scales fp8 operands and an fp8 result.
  Status set_scale(const void* scale);

 private:
  using Product = std::shared_ptr<cublasLtMatmulDescOpaque_t>;
  using MatrixLayout = std::shared_ptr<cublasLtMatrixLayoutOpaque_t>;
  explicit MatmulDescriptors(std::shared_ptr<const CublasLtApi> api) : api_(std::move(api)) {}
  Status set_pointer(cublasLtMatmulDescAttributes_t name, std::string_view what,
                     const void* address);
  static Result<MatrixLayout, BackendError> make_layout(
      const std::shared_ptr<const CublasLtApi>& api, const MatrixForm& form, std::int64_t batch);
  static Result<Product, BackendError> make_product(const std::shared_ptr<const CublasLtApi>& api,
                                                    const GemmForm& form);
  std::shared_ptr<const CublasLtApi> api_;
  Product product_;
  MatrixLayout a_, b_, c_, d_;
  DataType destination_ = DataType::f32;
};

}  // namespace bench::ops::cuda
