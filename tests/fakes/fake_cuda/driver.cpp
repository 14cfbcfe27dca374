// SPDX-License-Identifier: Apache-2.0
// Replaces libcuda: cuInit loads a tool as NVIDIA's driver does.
#include <cstdlib>
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) {  // NOLINT: CUDA's name
  const char* const tool = std::getenv("CUDA_INJECTION64_PATH");
  if (tool == nullptr) return 0;
  void* const library = dlopen(tool, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  const auto initialise = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  constexpr int kNotInitialised = 3;
  return initialise != nullptr && initialise() == 1 ? 0 : kNotInitialised;
}
