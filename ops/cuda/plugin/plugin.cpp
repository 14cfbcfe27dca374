// SPDX-License-Identifier: Apache-2.0
// The exported functions of libbench_cuda.so. Loading the library calls no function of CUDA.
#include "ops/cuda/plugin/backends.hpp"
#include "ops/cuda/plugin/bench_cuda.h"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/plugin/support_answer.hpp"
#include "ops/plugin/exported_backend.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {
namespace {

std::vector<BackendExport> backends() {
  return cuda_backends(library_search_path(process_variable, own_folder()), process_variable);
}

std::string run_probe(int32_t extent) {
  const auto search = library_search_path(process_variable, own_folder());
  ProbeReport report =
      probe(extent == BENCH_CUDA_PROBE_LIBRARIES ? ProbeExtent::libraries : ProbeExtent::devices,
            search, process_variable);
  report.operators = served_operators(backends());
  return format_probe(report);
}

// Writes what `answer` says about the device that the JSON describes, or about device 0 if it is
// empty.
template <class Answer>
void answer_about(std::string_view json, void (*write)(void* self, const char* text, size_t size),
                  void* self, Answer answer) {
  std::string text;
  try {
    const DescribedDevice device = json.empty() ? DescribedDevice{capability_here(process_variable)}
                                                : parse_asked_device(json);
    const auto search = library_search_path(process_variable, own_folder());
    // cuDNN lists the engines that it compiles at run time only if it finds a driver.
    if (!json.empty()) load_driver_or_stub(search);
    text = answer(device, search);
  } catch (const std::exception&) {  // no exception may cross this interface
    text =
        R"({"runs":"unknown","by":"","reason":"not enough memory on this machine","engines":[]})";
  }
  write(self, text.data(), text.size());
}

}  // namespace
}  // namespace bench::ops::cuda

// Never destroyed: at the end of the process, CUDA's libraries may already be unloaded.
const bench_plugin* bench_plugin_entry(void) {
  namespace cuda = bench::ops::cuda;
  try {
    static auto* const kPlugin = new bench::plugin::Plugin(
        bench::ops::export_plugin("cuda", BENCH_CUDA_PLUGIN_VERSION, cuda::backends()));
    return kPlugin->raw();
  } catch (const std::exception&) {  // no exception may cross this interface
    return nullptr;
  }
}

void bench_cuda_probe(int32_t extent, void (*write)(void* self, const char* text, size_t size),
                      void* self) {
  std::string text;
  try {
    text = bench::ops::cuda::run_probe(extent);
  } catch (const std::exception& exception) {  // no exception may cross this interface
    text = std::string("the probe failed: ") + exception.what();
  }
  write(self, text.data(), text.size());
}

void bench_cuda_support(const bench_problem* problem, const char* backend, const char* device,
                        void (*write)(void* self, const char* text, size_t size), void* self) {
  namespace cuda = bench::ops::cuda;
  cuda::answer_about(device, write, self, [&](const auto& described, const auto& search) {
    return cuda::support_answer(*problem, backend, described, search);
  });
}

void bench_cuda_plan(const bench_network* network, const char* device,
                     void (*write)(void* self, const char* text, size_t size), void* self) {
  namespace cuda = bench::ops::cuda;
  cuda::answer_about(device, write, self, [&](const auto& described, const auto& search) {
    return cuda::plan_answer(*network, described, search);
  });
}
