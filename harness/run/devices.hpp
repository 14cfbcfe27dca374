// SPDX-License-Identifier: Apache-2.0
// Asks child processes about devices. Drivers and libraries may crash or hang, so only workers load
// them.
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

// Asks a child process, `PROGRAM worker --probe EXTENT`, for the state of CUDA. Waits at most
// kCudaProbeLimit. If the child crashes, hangs or sends invalid output, returns a status that
// states this as the reason why CUDA is unavailable. Does the same if `interrupted`, which may be
// empty, ends the waiting.
CudaStatus ask_cuda(const std::string& worker_program,
                    const std::map<std::string, std::string>& worker_environment,
                    ops::cuda::ProbeExtent extent, Env& env,
                    const std::function<bool()>& interrupted = {});
// Time limit of the probe. Without persistence mode, the driver takes seconds per device.
inline constexpr Nanoseconds kCudaProbeLimit = std::chrono::seconds(60);

// Returns what would compute the cases of `question` on a GPU. Asks children of `worker_program`,
// one after another: one per 200 ids, each for at most kCudaSupportLimit. Returns an error at the
// first child that does not answer.
Result<CudaSupports> ask_cuda_support(const std::string& worker_program,
                                      const CudaSupportQuestion& question, Env& env);
inline constexpr Nanoseconds kCudaSupportLimit = std::chrono::seconds(60);

// Checks whether devices are available. Asks a child process on first use and keeps its answer.
class Devices {
 public:
  // `ask` is called at most once.
  explicit Devices(std::function<CudaStatus()> ask) : ask_(std::move(ask)) {}
  // Returns why the device of a case is unavailable, or nullopt if it is available. Also returns
  // nullopt for the CPU, and for backends of user plugins, which report missing devices themselves.
  std::optional<std::string> unavailable_reason(const CaseKey& key);
  // Returns details of the driver and of the device that runs kernels, for the run record
  // (docs/cuda.md). Empty if no case has requested a device, or there is none.
  std::map<std::string, std::string> details() const;
  // Returns the properties of the device that runs kernels. Empty under the same conditions.
  std::optional<ops::cuda::DeviceProperties> properties() const;

 private:
  std::function<CudaStatus()> ask_;
  std::optional<CudaStatus> status_;
};

}  // namespace bench
