// SPDX-License-Identifier: Apache-2.0
// The exported function of libbench_cuda.so. Loading the library calls no function of CUDA.
#include "ops/cuda/plugin/backends.hpp"
#include "ops/cuda/plugin/handover.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/plugin/support_answer.hpp"
#include "ops/cuda/runtime/own_operators.hpp"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr const char* kNoMemory =
    R"({"runs":"unknown","by":"","reason":"not enough memory on this machine","engines":[]})";

class Services final : public PluginServices {
 public:
  std::span<const OfferedBackend> backends() const override { return backends_; }

  Result<ProbeReport> probe(ProbeExtent extent) override {
    try {
      ProbeReport report = cuda::probe(extent, search_, process_variable);
      report.operators = served_operators(backends_);
      return report;
    } catch (const std::exception& exception) {
      return Error{fmt::format("the probe failed: {}", exception.what()), "", ""};
    }
  }

  std::string support(const Problem& problem, std::string_view backend,
                      std::string_view device) override {
    return answer_about(device, [&](const DescribedDevice& described) {
      const auto own = with_own_operator(problem);
      return own ? support_answer(*own, backend, described, search_)
                 : refusal_answer(own.error().reason);
    });
  }

  std::string plan(const Network& network, std::string_view device) override {
    return answer_about(device, [&](const DescribedDevice& described) {
      const auto own = with_own_operators(network);
      return own ? plan_answer(*own, described, search_) : refusal_answer(own.error().reason);
    });
  }

 private:
  // Returns what `answer` says about the device that the JSON describes, or about device 0 if it is
  // empty.
  template <class Answer>
  std::string answer_about(std::string_view json, Answer answer) const {
    try {
      const DescribedDevice device = json.empty()
                                         ? DescribedDevice{capability_here(process_variable)}
                                         : parse_asked_device(json);
      // cuDNN lists the engines that it compiles at run time only if it finds a driver.
      if (!json.empty()) load_driver_or_stub(search_);
      return answer(device);
    } catch (const std::exception&) {
      return kNoMemory;
    }
  }

  std::vector<SearchStep> search_ = library_search_path(process_variable, own_folder());
  std::vector<OfferedBackend> backends_ = cuda_backends(search_, process_variable);
};

}  // namespace
}  // namespace bench::ops::cuda

bench::ops::cuda::Handover bench_cuda_handover(const char* build) {
  namespace cuda = bench::ops::cuda;
  try {
    // Never destroyed: at the end of the process, CUDA's libraries may already be unloaded.
    static auto* const kServices = new cuda::Services();
    return cuda::hand_over(build, kServices);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return cuda::hand_over(build, nullptr);
  }
}
