// SPDX-License-Identifier: Apache-2.0
// For tests with this machine's cuBLASLt, which creates descriptors without a device.
#pragma once

#include "base/env.hpp"
#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/cuda/network/test_support.hpp"
#include "ops/cuda/runtime/test_support.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::test {

inline std::vector<SearchStep> search_path() {
  return library_search_path(environment_variable, "");
}

// Without variables.
inline ProductSetting product_setting(const ScriptedDevice& device) {
  return {device.parts(), [](const std::string&) { return std::nullopt; },
          std::make_shared<StreamLauncher>(device.runtime)};
}

}  // namespace bench::ops::cuda::test

// Skips a test with a message if this machine has no cuBLASLt.
#define BENCH_NEED_CUBLASLT(api)                                                                 \
  auto loaded_cublaslt = bench::ops::cuda::load_cublaslt(bench::ops::cuda::test::search_path()); \
  if (!loaded_cublaslt) GTEST_SKIP() << loaded_cublaslt.error().reason;                          \
  const std::shared_ptr<const bench::ops::cuda::CublasLtApi> api = *std::move(loaded_cublaslt)
