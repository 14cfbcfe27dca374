// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's algorithms for a product: what its heuristics offer, and their properties as numbers.
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

// Whether cuBLAS and cuBLASLt use this status to report an unsupported product.
bool says_unsupported(cublasStatus_t status);

// Returns at most `count` algorithms for operands aligned to kProductAlignment, in cuBLASLt's
// order, the fastest by its estimate first. Each needs at most `workspace`. BackendError:
// unsupported if cuBLASLt has none, else failed, with cuBLASLt's status.
Result<std::vector<MatmulAlgorithm>, BackendError> matmul_algorithms(
    const CublasLtApi& api, cublasLtHandle_t handle, const MatmulDescriptors& descriptors,
    Bytes workspace, int count);

// Properties as named in cublasLt.h: "algorithm" -> "66", "tile", "stages", "split_k", "reduction",
// "swizzle", "custom", "inner_shape", "cluster", "workspace_bytes". Omits those that cuBLASLt does
// not report.
std::map<std::string, std::string> algorithm_details(const CublasLtApi& api,
                                                     const MatmulAlgorithm& algorithm);
// Formats these details: "cublaslt:66:tile20:stages36:split_k3"; splits only if there are any.
std::string algorithm_name(const std::map<std::string, std::string>& details);

}  // namespace bench::ops::cuda
