// SPDX-License-Identifier: Apache-2.0
// The machine as the CUDA runtime, NVML and the loader see it. Of use without a driver: that is one
// of the answers.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/cuda/probe.hpp"
#include "ops/cuda/support.hpp"

#include <span>
#include <string>

namespace bench::ops::cuda {

// cudaGetDeviceCount comes first: without a driver nothing else of CUDA is touched.
RuntimeAnswers ask_runtime(const Variables& variables);

// Of device 0; kNoDevice where there is none. Makes no context.
ComputeCapability capability_here(const Variables& variables);

// Everything. CUPTI is expected as of this build's toolkit.
ProbeReport probe(ProbeExtent extent, std::span<const SearchStep> search,
                  const Variables& variables);

// The folder of the shared library that this function is part of.
std::string own_folder();

// getenv.
std::optional<std::string> process_variable(const std::string& name);

}  // namespace bench::ops::cuda
