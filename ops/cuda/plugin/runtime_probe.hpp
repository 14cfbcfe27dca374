// SPDX-License-Identifier: Apache-2.0
// Probes the machine through the CUDA runtime, NVML and the loader. Works without a driver: the
// result then reports that there is none.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/cuda/probe.hpp"
#include "ops/cuda/support.hpp"

#include <span>
#include <string>

namespace bench::ops::cuda {

// Returns the status of cudaGetDeviceCount and the versions of driver and runtime. Works without a
// driver.
RuntimeAnswers ask_runtime(const Variables& variables);

// Returns the compute capability of device 0, or kNoDevice if there is none. Creates no context.
ComputeCapability capability_here(const Variables& variables);

// Probes everything that `extent` includes. The expected CUPTI version is that of this build's
// toolkit.
ProbeReport probe(ProbeExtent extent, std::span<const SearchStep> search,
                  const Variables& variables);

// Returns the folder of the shared library that contains this function.
std::string own_folder();

// Wraps getenv.
std::optional<std::string> process_variable(const std::string& name);

}  // namespace bench::ops::cuda
