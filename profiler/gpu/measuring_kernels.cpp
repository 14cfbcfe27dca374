// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/measuring_kernels.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::string_view kNamespace = "bench::ops::cuda::";
// ops/cuda/runtime/kernels.cu
constexpr std::array<std::string_view, 3> kKernels = {"::blocking_kernel", "::clock_kernel",
                                                      "::empty_kernel"};

}  // namespace

bool is_measuring_kernel(std::string_view short_name) {
  return short_name.starts_with(kNamespace) &&
         std::ranges::any_of(kKernels,
                             [&](std::string_view kernel) { return short_name.ends_with(kernel); });
}

Status MeasuringKernelFilter::consume(const Activity& activity) {
  if (activity.kind != ActivityKind::kernel || !is_measuring_kernel(activity.name)) {
    return next_.consume(activity);
  }
  ++dropped_;
  return Done{};
}

std::string MeasuringKernelFilter::note() const {
  if (dropped_ == 0) return "";
  return fmt::format("{} not shown; `--name _kernel` shows them",
                     pluralise(dropped_, "kernel with which bench itself measures is",
                               "kernels with which bench itself measures are"));
}

}  // namespace bench
