// SPDX-License-Identifier: Apache-2.0
// For tests that ask cuDNN about engines that it compiles at run time.
#pragma once

#include <gtest/gtest.h>

#include <dlfcn.h>

namespace bench::ops::cuda::cudnn_test {

// Loads the machine's driver or, failing that, the toolkit's stub from the file `stub`. The stub
// has the driver's soname, so cuDNN finds it.
inline bool load_driver_or_stub(const char* stub) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  return dlopen(stub, RTLD_NOW | RTLD_GLOBAL) != nullptr;
}

}  // namespace bench::ops::cuda::cudnn_test

#define BENCH_NEED_A_DRIVER()                                                \
  if (!::bench::ops::cuda::cudnn_test::load_driver_or_stub(BENCH_CUDA_STUB)) \
  GTEST_SKIP() << "neither a driver nor a stub: " << dlerror()
