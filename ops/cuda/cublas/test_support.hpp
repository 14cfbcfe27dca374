// SPDX-License-Identifier: Apache-2.0
// For tests with this machine's cuBLASLt, which creates descriptors without a device.
#pragma once

#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/library_search.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::test {

inline std::vector<SearchStep> search_path() {
  return library_search_path(
      [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (value == nullptr) return std::nullopt;
        return std::string(value);
      },
      "");
}

}  // namespace bench::ops::cuda::test

// Skips a test with a message if this machine has no cuBLASLt.
#define BENCH_NEED_CUBLASLT(api)                                                                 \
  auto loaded_cublaslt = bench::ops::cuda::load_cublaslt(bench::ops::cuda::test::search_path()); \
  if (!loaded_cublaslt) GTEST_SKIP() << loaded_cublaslt.error().reason;                          \
  const std::shared_ptr<const bench::ops::cuda::CublasLtApi> api = *std::move(loaded_cublaslt)
