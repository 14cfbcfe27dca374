// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/cublas_api.hpp"

#include "ops/cuda/library_report.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace bench::ops::cuda {
namespace {

// Fills the slots of `api` from a library of the table of libraries.
template <class Api>
Result<std::shared_ptr<const Api>, LoadFailure> load(std::string_view name,
                                                     std::span<const SearchStep> search,
                                                     std::shared_ptr<Api> api,
                                                     std::span<const FunctionSlot> slots) {
  auto library = open_library(library_spec(name), search);
  if (!library) return std::move(library).error();
  if (const Status filled = resolve(*library, slots); !filled) {
    return LoadFailure{{}, filled.error().message()};
  }
  api->path = library->path();
  return std::shared_ptr<const Api>(std::move(api));
}

}  // namespace

std::string CublasLtApi::text(cublasStatus_t status) const {
  return fmt::format("{} ({})", status_name(status), static_cast<int>(status));
}

std::string CublasApi::text(cublasStatus_t status) const {
  return fmt::format("{} ({})", status_name(status), static_cast<int>(status));
}

Result<std::shared_ptr<const CublasLtApi>, LoadFailure> load_cublaslt(
    std::span<const SearchStep> search) {
  const auto api = std::make_shared<CublasLtApi>();
  const FunctionSlot slots[] = {
      slot("cublasLtCreate", api->create),
      slot("cublasLtDestroy", api->destroy),
      slot("cublasLtGetStatusName", api->status_name),
      slot("cublasLtGetVersion", api->version),
      slot("cublasLtMatmulDescCreate", api->create_product),
      slot("cublasLtMatmulDescDestroy", api->destroy_product),
      slot("cublasLtMatmulDescSetAttribute", api->set_product),
      slot("cublasLtMatmulDescGetAttribute", api->get_product),
      slot("cublasLtMatrixLayoutCreate", api->create_layout),
      slot("cublasLtMatrixLayoutDestroy", api->destroy_layout),
      slot("cublasLtMatrixLayoutSetAttribute", api->set_layout),
      slot("cublasLtMatrixLayoutGetAttribute", api->get_layout),
      slot("cublasLtMatmulPreferenceCreate", api->create_preference),
      slot("cublasLtMatmulPreferenceDestroy", api->destroy_preference),
      slot("cublasLtMatmulPreferenceSetAttribute", api->set_preference),
      slot("cublasLtMatmulAlgoGetHeuristic", api->heuristic),
      slot("cublasLtMatmulAlgoConfigGetAttribute", api->get_algorithm),
      slot("cublasLtMatmul", api->matmul),
  };
  return load("cuBLASLt", search, api, slots);
}

Result<std::shared_ptr<const CublasApi>, LoadFailure> load_cublas(
    std::span<const SearchStep> search) {
  const auto api = std::make_shared<CublasApi>();
  const FunctionSlot slots[] = {
      slot("cublasCreate_v2", api->create),
      slot("cublasDestroy_v2", api->destroy),
      slot("cublasGetStatusName", api->status_name),
      slot("cublasSetStream_v2", api->set_stream),
      slot("cublasSetMathMode", api->set_math_mode),
      slot("cublasSetWorkspace_v2", api->set_workspace),
      slot("cublasGemmEx", api->gemm),
      slot("cublasGemmStridedBatchedEx", api->gemm_strided_batched),
  };
  return load("cuBLAS", search, api, slots);
}

}  // namespace bench::ops::cuda
