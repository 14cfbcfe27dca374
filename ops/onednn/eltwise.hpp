// SPDX-License-Identifier: Apache-2.0
// Maps the unary functions of pointwise and post-ops to oneDNN's eltwise algorithms, and the binary
// ones to its binary algorithms.
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

// Return nullopt if the name is not a unary (binary) function. alpha and beta are those of the
// function.
std::optional<EltwiseAlgorithm> find_eltwise(std::string_view function, double alpha, double beta);
std::optional<dnnl::algorithm> find_binary(std::string_view function);

}  // namespace bench::ops
