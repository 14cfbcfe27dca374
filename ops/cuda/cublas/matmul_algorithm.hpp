// SPDX-License-Identifier: Apache-2.0
// Lists cuBLASLt's algorithms for a product: those that its heuristics offer, with their
// properties.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/cublas/matmul_descriptors.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct MatmulAlgorithm {
  cublasLtMatmulAlgo_t code{};
  Bytes workspace;
};

// Whether this is a status with which cuBLAS or cuBLASLt reports an unsupported product.
bool is_unsupported_status(cublasStatus_t status);

// Returns at most `count` algorithms for operands aligned to kProductAlignment, in cuBLASLt's
// order: by its estimate, the fastest comes first. Each algorithm needs at most `workspace`.
// BackendError: unsupported if cuBLASLt has no algorithm, else failed, with cuBLASLt's status.
Result<std::vector<MatmulAlgorithm>, BackendError> find_matmul_algorithms(
    const CublasLtApi& api, cublasLtHandle_t handle, const MatmulDescriptors& descriptors,
    Bytes workspace, int count);

// Returns an algorithm's properties, as cublasLt.h names them: "algorithm" -> "66", "tile",
// "stages", "split_k", "reduction", "swizzle", "custom", "inner_shape", "cluster",
// "workspace_bytes". Omits properties that cuBLASLt does not report.
std::map<std::string, std::string> algorithm_details(const CublasLtApi& api,
                                                     const MatmulAlgorithm& algorithm);
// Formats details of algorithm_details(): "cublaslt:66:tile20:stages36:split_k3". Omits "split_k"
// if K is not split.
std::string algorithm_name(const std::map<std::string, std::string>& details);

}  // namespace bench::ops::cuda
