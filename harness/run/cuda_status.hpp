// SPDX-License-Identifier: Apache-2.0
// CUDA on this machine, as far as cases and `bench doctor` care: is there a plugin, does it load,
// what does it find. Found out in a child process (`bench worker --probe`), since drivers and
// libraries may crash; read by the coordinator.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/case_id.hpp"
#include "ops/cuda/probe.hpp"

#include <functional>
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

using LookUp = std::function<std::optional<std::string>(const std::string&)>;  // getenv

// Takes an answer of the plugin's functions: assigns it to the std::string at `self`.
void assign_text(void* self, const char* text, std::size_t size);

// Where the plugin is: the file $BENCH_CUDA_PLUGIN, else lib/bench/libbench_cuda.so beside
// `program`, in an installed tree or in a build. Error: it is nowhere, and why.
Result<std::string> find_cuda_plugin(const std::string& program, const LookUp& variable);

// Loads the plugin into this process and asks it. For a child: standard output must not be in use,
// what libraries print there goes to standard error.
CudaStatus inspect_cuda(const std::string& program, ops::cuda::ProbeExtent extent,
                        const LookUp& variable);

// One line, schema bench.worker_probe/1, and its inverse.
std::string format_cuda_status(const CudaStatus& status);
Result<CudaStatus> parse_cuda_status(std::string_view text);

// The same as seen by a child, `PROGRAM worker --probe EXTENT`, at most kCudaProbeLimit long. A
// crash, a hang or nonsense of the child is a reason like others.
CudaStatus ask_cuda(const std::string& worker_program,
                    const std::map<std::string, std::string>& worker_environment,
                    ops::cuda::ProbeExtent extent, Env& env);
// The driver of a machine with many devices and no persistence mode takes seconds for each.
inline constexpr Nanoseconds kCudaProbeLimit = std::chrono::seconds(60);

// "devices", "libraries".
std::optional<ops::cuda::ProbeExtent> probe_extent_from_name(std::string_view name);

// Why nothing runs there: "no CUDA device: no NVIDIA driver: ...". Absent: something may.
std::optional<std::string> why_no_cuda(const CudaStatus& status);

// "gpu.name", "gpu.driver", ...: what decides whether times of two runs compare, and what else is
// to be known. Unknown facts are absent; without a usable device all are.
std::map<std::string, std::string> gpu_details(const CudaStatus& status);

// Asks a child when first needed, and remembers.
class Devices {
 public:
  // `ask` is called at most once.
  explicit Devices(std::function<CudaStatus()> ask) : ask_(std::move(ask)) {}
  // Why there is no device for such a case; absent for the CPU, and for backends of users' plugins,
  // which answer for themselves.
  std::optional<std::string> missing(const CaseKey& key);
  // For the run record (docs/cuda.md): of the device that kernels run on, and the driver. Empty
  // where no case has asked for one, or none is there.
  std::map<std::string, std::string> details() const;

 private:
  std::function<CudaStatus()> ask_;
  std::optional<CudaStatus> status_;
};

}  // namespace bench
