// SPDX-License-Identifier: Apache-2.0
// The GPU part of `doctor`: a pure function of a probe's report and of files below a root.
#pragma once

#include "harness/host/cuda_status.hpp"
#include "harness/host/environment.hpp"

#include <vector>

namespace bench {

// Rights of the process: administrators may use hardware counters that are closed to others.
enum class Privilege { user, administrator };
Privilege own_privilege();

// Reports plugin, driver, devices with clocks and modes, each library, and the permission for
// counters. A missing part is a problem only if there is a device that could use it.
std::vector<Finding> examine_cuda(const CudaStatus& status, const SystemRoot& root,
                                  Privilege privilege);

}  // namespace bench
