// SPDX-License-Identifier: Apache-2.0
// Names of CUDA calls by the numbers that nvprof stores for them (CUpti_CallbackId). The numbers
// never change. Those of the calls that launch, copy, allocate and wait are known here.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <string>

namespace bench {

// Returns "runtime call 17" or "driver call 17" for other calls.
std::string cuda_call_name(GpuApiDomain domain, std::int64_t number);

}  // namespace bench
