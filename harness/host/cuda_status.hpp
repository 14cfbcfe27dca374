// SPDX-License-Identifier: Apache-2.0
// CUDA on this machine, as far as cases and `bench doctor` care: is there a plugin, does it load,
// what does it find. Found out in a child process (`bench worker --probe`), since drivers and
// libraries may crash, and read by whoever asked it.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/probe.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

struct CudaStatus {
  std::string plugin;      // path of libbench_cuda.so; empty: none
  std::optional<int> abi;  // as the plugin says
  std::string version;     // of the plugin
  // Why there is no report: no plugin, it does not load, it crashed. Empty with one.
  std::string reason;
  std::string remedy;  // may be empty
  std::optional<ops::cuda::ProbeReport> report;
};

// What libbench_cuda.so is there for: "cudnn", "cublaslt", "cublas".
std::span<const std::string_view> cuda_backend_names();

// One line, schema bench.worker_probe/1, and its inverse.
std::string format_cuda_status(const CudaStatus& status);
Result<CudaStatus> parse_cuda_status(std::string_view text);

// "devices", "libraries".
std::string_view name_of(ops::cuda::ProbeExtent extent);
std::optional<ops::cuda::ProbeExtent> probe_extent_from_name(std::string_view name);

// Why nothing runs there: "no CUDA device: no NVIDIA driver: ...". Absent: something may.
std::optional<std::string> why_no_cuda(const CudaStatus& status);

// "gpu.name", "gpu.driver", ...: what decides whether times of two runs compare, and what else is
// to be known. Unknown facts are absent; without a usable device all are.
std::map<std::string, std::string> gpu_details(const CudaStatus& status);

}  // namespace bench
