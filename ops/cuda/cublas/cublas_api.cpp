// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/cublas_api.hpp"

#include "ops/cuda/library_report.hpp"

#include <fmt/format.h>

namespace bench::ops::cuda {
std::string CublasLtApi::text(cublasStatus_t status) const {
  return fmt::format("{} ({})", status_name(status), static_cast<int>(status));
}

std::string CublasApi::text(cublasStatus_t status) const {
  return fmt::format("{} ({})", status_name(status), static_cast<int>(status));
}

Result<std::shared_ptr<const CublasLtApi>, LoadFailure> load_cublaslt(
    std::span<const SearchStep> search) {
  return load_functions<CublasLtApi>("cuBLASLt", search);
}

Result<std::shared_ptr<const CublasApi>, LoadFailure> load_cublas(
    std::span<const SearchStep> search) {
  return load_functions<CublasApi>("cuBLAS", search);
}

}  // namespace bench::ops::cuda
