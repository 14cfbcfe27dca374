// SPDX-License-Identifier: Apache-2.0
// The CUDA plugin as a worker finds, loads and asks it. Only children do so: drivers and libraries
// may crash, and what they print goes to standard error.
#pragma once

#include "base/result.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/wire/cuda_support.hpp"

#include <functional>
#include <optional>
#include <string>

namespace bench {

using LookUp = std::function<std::optional<std::string>(const std::string&)>;  // getenv

// Where the plugin is: the file $BENCH_CUDA_PLUGIN, else lib/bench/libbench_cuda.so beside
// `program`, in an installed tree or in a build. Error: it is nowhere, and why.
Result<std::string> find_cuda_plugin(const std::string& program, const LookUp& variable);

// Loads the plugin into this process and asks it; standard output must not be in use.
CudaStatus inspect_cuda(const std::string& program, ops::cuda::ProbeExtent extent,
                        const LookUp& variable);

// What would compute each case of the question. Error: the plugin is not to be had, or too old to
// know; the file describes no device.
Result<CudaSupports> inspect_cuda_support(const std::string& program, const LookUp& variable,
                                          const CudaSupportQuestion& question);

}  // namespace bench
