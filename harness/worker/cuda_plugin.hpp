// SPDX-License-Identifier: Apache-2.0
// Finds, loads and queries the CUDA plugin. Only child processes load it, because drivers and
// libraries may crash. What they print goes to standard error.
#pragma once

#include "base/result.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/wire/cuda_support.hpp"
#include "ops/cuda/plugin/handover.hpp"
#include "ops/network/network.hpp"

#include <functional>
#include <optional>
#include <string>

namespace bench {

using LookUp = std::function<std::optional<std::string>(const std::string&)>;  // like getenv

// Returns the path of the plugin: $BENCH_CUDA_PLUGIN if set, else lib/bench/libbench_cuda.so
// relative to `program`, in an installed tree or in a build. The error lists the paths tried.
Result<std::string> find_cuda_plugin(const std::string& program, const LookUp& variable);

struct CudaPlugin {
  std::string file;
  ops::cuda::Handover handover;  // of this build, with services
};

// Loads the plugin until the process ends. Error: it cannot be loaded, or is of another build than
// this program; `what` names the file.
Result<CudaPlugin> load_cuda_plugin(const std::string& path);

// Loads the plugin into this process and queries it; standard output must not be in use.
CudaStatus inspect_cuda(const std::string& program, ops::cuda::ProbeExtent extent,
                        const LookUp& variable);

// Returns the network of a case id.
using NetworkFinder = std::function<Result<ops::Network>(const std::string& id)>;

// Returns for each case of the question what would compute it, for a network with its plan. Returns
// an error if the plugin is not available or too old for this question, or if the file of the
// question describes no device.
Result<CudaSupports> inspect_cuda_support(const std::string& program, const LookUp& variable,
                                          const CudaSupportQuestion& question,
                                          const NetworkFinder& find_network);

}  // namespace bench
