// SPDX-License-Identifier: Apache-2.0
// The GPU part of `doctor`: pure, of what a probe found and of files below a root.
#pragma once

#include "harness/host/cuda_status.hpp"
#include "harness/host/environment.hpp"

#include <vector>

namespace bench {

// What the process may do: administrators may use hardware counters that are closed to others.
enum class Privilege { user, administrator };
Privilege own_privilege();

// Plugin, driver, devices with clocks and modes, each library, permission for counters. What is
// missing is a problem only where a device is there to use it.
std::vector<Finding> examine_cuda(const CudaStatus& status, const SystemRoot& root,
                                  Privilege privilege);

}  // namespace bench
