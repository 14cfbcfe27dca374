// SPDX-License-Identifier: Apache-2.0
// The state of CUDA on this machine: whether the CUDA plugin exists and loads, and which devices
// and libraries it finds. A child process (`bench worker --probe`) determines the state, because
// drivers and libraries may crash. Its parent parses the child's output.
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
  std::string plugin;      // path of libbench_cuda.so; empty: there is no plugin
  std::optional<int> abi;  // version of the handover that the plugin reports
  std::string version;     // version of the plugin
  // Why there is no report: the plugin is missing, does not load, or crashed. Empty if there is a
  // report.
  std::string reason;
  std::string remedy;  // what to do; may be empty
  std::optional<ops::cuda::ProbeReport> report;
};

// Returns the status of a plugin without a report. `plugin` is empty if there is no plugin.
CudaStatus make_status_without_report(std::string plugin, std::string reason, std::string remedy);

// Returns the backends that libbench_cuda.so provides: "cudnn", "cublaslt", "cublas".
std::span<const std::string_view> cuda_backend_names();
bool is_cuda_backend(std::string_view name);

// Format and parse a status as one line of JSON, schema bench.worker_probe/1.
std::string format_cuda_status(const CudaStatus& status);
Result<CudaStatus> parse_cuda_status(std::string_view text);

// Returns why no case can run on CUDA: "no CUDA device: no NVIDIA driver: ...". Returns nullopt if
// cases may run.
std::optional<std::string> cuda_unavailable_reason(const CudaStatus& status);

// Returns the device that the CUDA backends use. Returns nullptr if there is none.
const ops::cuda::DeviceProperties* usable_device(const CudaStatus& status);

// Returns the properties of the usable device and its driver for the run record: "gpu.name",
// "gpu.driver" and others. Some of them decide whether times of two runs are comparable. Omits
// unknown properties. Returns an empty map if there is no usable device.
std::map<std::string, std::string> gpu_details(const CudaStatus& status);

// The rights of this process. Only administrators may use restricted hardware counters.
enum class Privilege { user, administrator };
Privilege own_privilege();

// Returns the GPU findings of `doctor`, from a probe's status and the files under `root`. Covers
// plugin, driver, devices with clocks and modes, each library, and the permission to use counters.
// A missing library is a problem only if there is a device that could use it.
std::vector<Finding> examine_cuda(const CudaStatus& status, const SystemRoot& root,
                                  Privilege privilege);

}  // namespace bench
