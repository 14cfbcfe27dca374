// SPDX-License-Identifier: Apache-2.0
// The unary functions of pointwise and of post-ops as oneDNN's eltwise algorithms, the binary ones
// as its binary algorithms.
#pragma once

#include <dnnl.hpp>

#include <optional>
#include <string_view>

namespace bench::ops {

struct EltwiseAlgorithm {
  dnnl::algorithm algorithm;
  float alpha;
  float beta;
};

// Absent for names that are no unary function. alpha and beta are those of the function.
std::optional<EltwiseAlgorithm> find_eltwise(std::string_view function, double alpha, double beta);
std::optional<dnnl::algorithm> find_binary(std::string_view function);

}  // namespace bench::ops
