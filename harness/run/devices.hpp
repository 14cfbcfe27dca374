// SPDX-License-Identifier: Apache-2.0
// What other processes of this program are asked about devices: drivers and libraries may crash or
// hang, and only workers load them.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/case_id.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/wire/cuda_support.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace bench {

// CUDA as a child sees it, `PROGRAM worker --probe EXTENT`, at most kCudaProbeLimit long. A
// crash, a hang or nonsense of the child is a reason like others.
CudaStatus ask_cuda(const std::string& worker_program,
                    const std::map<std::string, std::string>& worker_environment,
                    ops::cuda::ProbeExtent extent, Env& env);
// The driver of a machine with many devices and no persistence mode takes seconds for each.
inline constexpr Nanoseconds kCudaProbeLimit = std::chrono::seconds(60);

// What would compute the cases on a GPU, by children of `worker_program`, which live at most
// kCudaSupportLimit each.
Result<CudaSupports> ask_cuda_support(const std::string& worker_program,
                                      const CudaSupportQuestion& question, Env& env);
inline constexpr Nanoseconds kCudaSupportLimit = std::chrono::seconds(60);

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
