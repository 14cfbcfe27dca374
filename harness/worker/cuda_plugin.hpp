// SPDX-License-Identifier: Apache-2.0
// How a worker finds, loads and queries the CUDA plugin. Only child processes do this: drivers and
// libraries may crash, and their output goes to standard error.
#pragma once

#include "base/result.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/wire/cuda_support.hpp"

#include <functional>
#include <optional>
#include <string>

namespace bench {

using LookUp = std::function<std::optional<std::string>(const std::string&)>;  // getenv

// Finds the plugin: the file $BENCH_CUDA_PLUGIN, else lib/bench/libbench_cuda.so relative to
// `program`, in an installed tree or in a build. If it is in none of these places, the error states
// why.
Result<std::string> find_cuda_plugin(const std::string& program, const LookUp& variable);

// Loads the plugin into this process and queries it; standard output must not be in use.
CudaStatus inspect_cuda(const std::string& program, ops::cuda::ProbeExtent extent,
                        const LookUp& variable);

// What would compute each case of the question. Returns an error if the plugin is not available or
// too old for this question, or if the file describes no device.
Result<CudaSupports> inspect_cuda_support(const std::string& program, const LookUp& variable,
                                          const CudaSupportQuestion& question);

}  // namespace bench
