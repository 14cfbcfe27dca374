// SPDX-License-Identifier: Apache-2.0
// Asks child processes of this program about devices. Drivers and libraries may crash or hang, so
// only workers load them.
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

// Asks a child, `PROGRAM worker --probe EXTENT`, for the state of CUDA, for at most
// kCudaProbeLimit. If the child crashes, hangs or sends invalid output, this is the reason why CUDA
// is unavailable.
CudaStatus ask_cuda(const std::string& worker_program,
                    const std::map<std::string, std::string>& worker_environment,
                    ops::cuda::ProbeExtent extent, Env& env);
// Without persistence mode, the driver of a machine with many devices takes seconds per device.
inline constexpr Nanoseconds kCudaProbeLimit = std::chrono::seconds(60);

// What would compute the cases on a GPU. Asks children of `worker_program`, which live at most
// kCudaSupportLimit each.
Result<CudaSupports> ask_cuda_support(const std::string& worker_program,
                                      const CudaSupportQuestion& question, Env& env);
inline constexpr Nanoseconds kCudaSupportLimit = std::chrono::seconds(60);

// Asks a child on first use, and keeps the answer.
class Devices {
 public:
  // `ask` is called at most once.
  explicit Devices(std::function<CudaStatus()> ask) : ask_(std::move(ask)) {}
  // Returns why there is no device for such a case. Returns nullopt for the CPU, and for backends
  // of user plugins, which report this themselves.
  std::optional<std::string> missing(const CaseKey& key);
  // For the run record (docs/cuda.md): details of the device that kernels run on, and of the
  // driver. Empty if no case has requested a device, or there is none.
  std::map<std::string, std::string> details() const;

 private:
  std::function<CudaStatus()> ask_;
  std::optional<CudaStatus> status_;
};

}  // namespace bench
