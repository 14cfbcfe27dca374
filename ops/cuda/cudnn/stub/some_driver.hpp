// SPDX-License-Identifier: Apache-2.0
// For tests that ask cuDNN about engines that it compiles at run time.
#pragma once

#include "ops/cuda/library_search.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda::cudnn_test {

// Loads the machine's driver or the toolkit's stub, whose file is FOLDER/stubs/libcuda.so.
inline bool load_some_driver(const std::string& stub) {
  const std::string folder = stub.substr(0, stub.rfind("/stubs/"));
  const SearchStep search[] = {{folder, "the toolkit"}};
  return load_driver_or_stub(search);
}

}  // namespace bench::ops::cuda::cudnn_test

#define BENCH_NEED_A_DRIVER()                                             \
  if (!::bench::ops::cuda::cudnn_test::load_some_driver(BENCH_CUDA_STUB)) \
  GTEST_SKIP() << "neither a driver nor a stub"
