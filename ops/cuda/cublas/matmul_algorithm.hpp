// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's algorithms for a product: what its heuristics offer, and what they are in numbers.
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

// Whether it is by this status that cuBLAS and cuBLASLt say that they have no such product.
bool says_unsupported(cublasStatus_t status);

// At most `count` of them, the one that cuBLASLt holds for the fastest first, each with at most
// `workspace`, for operands aligned to kProductAlignment. Refusal: unsupported where cuBLASLt has
// none, else failed, with its word.
Result<std::vector<MatmulAlgorithm>, Refusal> matmul_algorithms(
    const CublasLtApi& api, cublasLtHandle_t handle, const MatmulDescriptors& descriptors,
    Bytes workspace, int count);

// As in cublasLt.h: "algorithm" -> "66", "tile", "stages", "split_k", "reduction", "swizzle",
// "custom", "inner_shape", "cluster", "workspace_bytes". What cuBLASLt does not say is left out.
std::map<std::string, std::string> algorithm_details(const CublasLtApi& api,
                                                     const MatmulAlgorithm& algorithm);
// Of those: "cublaslt:66:tile20:stages36:split_k3"; splits only where there are.
std::string algorithm_name(const std::map<std::string, std::string>& details);

}  // namespace bench::ops::cuda
