// SPDX-License-Identifier: Apache-2.0
// The exported functions of libbench_cuda.so. Nothing of CUDA is touched before one is called.
#include "ops/cuda/plugin/bench_cuda.h"
#include "ops/cuda/plugin/runtime_probe.hpp"

#include <exception>
#include <string>

namespace bench::ops::cuda {
namespace {

std::string probe_text(int32_t extent) {
  const auto search = library_search_path(process_variable, own_folder());
  return format_probe(
      probe(extent == BENCH_CUDA_PROBE_LIBRARIES ? ProbeExtent::libraries : ProbeExtent::devices,
            search, process_variable));
}

const bench_plugin kPlugin = {sizeof(bench_plugin),
                              BENCH_PLUGIN_ABI,
                              "cuda",
                              BENCH_CUDA_PLUGIN_VERSION,
                              nullptr,
                              0,
                              nullptr,
                              0};

}  // namespace
}  // namespace bench::ops::cuda

const bench_plugin* bench_plugin_entry(void) { return &bench::ops::cuda::kPlugin; }

void bench_cuda_probe(int32_t extent, void (*write)(void* self, const char* text, size_t size),
                      void* self) {
  std::string text;
  try {
    text = bench::ops::cuda::probe_text(extent);
  } catch (const std::exception& exception) {  // nothing is thrown across this interface
    text = std::string("the probe failed: ") + exception.what();
  }
  write(self, text.data(), text.size());
}
