// SPDX-License-Identifier: Apache-2.0
// The state of CUDA on this machine, as cases and `bench doctor` need it: whether there is a
// plugin, whether it loads, and what it finds. A child process (`bench worker --probe`) determines
// this, because drivers and libraries may crash. The process that started it reads the answer.
#pragma once

#include "base/result.hpp"
#include "harness/host/environment.hpp"
#include "ops/cuda/probe.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct CudaStatus {
  std::string plugin;      // path of libbench_cuda.so; empty: none
  std::optional<int> abi;  // as reported by the plugin
  std::string version;     // version of the plugin
  // Why there is no report: there is no plugin, it does not load, or it crashed. Empty if there is
  // a report.
  std::string reason;
  std::string remedy;  // may be empty
  std::optional<ops::cuda::ProbeReport> report;
};

// The status of a plugin that gave no report; `plugin` is empty if there is none.
CudaStatus make_status_without_report(std::string plugin, std::string reason, std::string remedy);

// The backends that libbench_cuda.so provides: "cudnn", "cublaslt", "cublas".
std::span<const std::string_view> cuda_backend_names();

// Write and parse one line with schema bench.worker_probe/1.
std::string format_cuda_status(const CudaStatus& status);
Result<CudaStatus> parse_cuda_status(std::string_view text);

// Names of an extent: "devices", "libraries".
std::string_view to_string(ops::cuda::ProbeExtent extent);
std::optional<ops::cuda::ProbeExtent> probe_extent_from_name(std::string_view name);

// Returns why no case can run on CUDA: "no CUDA device: no NVIDIA driver: ...". Returns nullopt if
// cases may run.
std::optional<std::string> cuda_unavailable_reason(const CudaStatus& status);

// The device that the CUDA backends use; nullptr if there is none.
const ops::cuda::DeviceProperties* usable_device(const CudaStatus& status);

// Returns "gpu.name", "gpu.driver", ...: the facts that decide whether times of two runs are
// comparable, and further information. Omits unknown facts; empty without a usable device.
std::map<std::string, std::string> gpu_details(const CudaStatus& status);

// Rights of the process: administrators may use hardware counters that are closed to others.
enum class Privilege { user, administrator };
Privilege own_privilege();

// The GPU part of `doctor`: a pure function of a probe's report and of files below a root. Reports
// plugin, driver, devices with clocks and modes, each library, and the permission for
// counters. A missing part is a problem only if there is a device that could use it.
std::vector<Finding> examine_cuda(const CudaStatus& status, const SystemRoot& root,
                                  Privilege privilege);

}  // namespace bench
