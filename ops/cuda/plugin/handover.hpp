// SPDX-License-Identifier: Apache-2.0
// How libbench_cuda.so gives its backends to the program that loads it: as objects of C++, since
// both come from one build (docs/decisions/0065-the-cuda-plugin-hands-over-a-backend.md).
//
// Program and library each contain a copy of base/, profiler/ and ops/ with hidden symbols; they
// share only the C++ runtime and its allocator. What crosses are virtual functions, containers,
// strings and std::function, whose layouts are the same if build_id() is. Therefore:
// - Another build gets no object, only the reason.
// - Each copy has its own table of operators, which code compares by address. A problem from the
//   program is translated once, where it enters the library (ops/cuda/runtime/own_operators.hpp).
// - Nothing else may be compared by address or by typeid across the border. Static data that a
//   caller passes (names, parameter tables) may be read, because no side is ever unloaded.
// - An exception may cross, since there is one C++ runtime. The library turns those of creations
//   and answers into errors, so that they fail one case.
#pragma once

#include "base/result.hpp"
#include "base/version.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/probe.hpp"
#include "ops/network/network.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// A backend that is not open yet.
struct OfferedBackend {
  std::string name;                    // the backend's name in case ids: "cudnn"
  std::vector<std::string> operators;  // built-in operators that it serves; "network"
  // Returns why the backend cannot run here, or nullopt if it can. Is cheap.
  std::function<std::optional<std::string>()> probe;
  // Called at most once per process, after probe() found nothing.
  std::function<Result<std::unique_ptr<Backend>, BackendError>()> open;
};

// What the library can do. It lives as long as the process. Call it from one thread at a time.
class PluginServices {
 public:
  virtual ~PluginServices() = default;
  // In order of preference. They share one device, its memory, tracer and counters.
  virtual std::span<const OfferedBackend> backends() const = 0;
  // Loads the driver and, with ProbeExtent::libraries, NVIDIA's libraries: call it in a process of
  // its own.
  virtual Result<ProbeReport> probe(ProbeExtent extent) = 0;
  // Returns what would compute the problem on a device, determined without one, as JSON:
  // {"runs": "yes" | "no" | "unknown", "by": ..., "reason": ..., "engines": [...]}. `backend`:
  // cudnn, cublaslt or cublas. `device` is cuDNN's description of a device as JSON; the answer then
  // lists cuDNN's engines for it, the first choice first. With only `deviceVer` (900: compute
  // capability 9.0), the answer contains what depends on that. "" means device 0 of this machine,
  // if there is one. May load NVIDIA's libraries and its driver, for a described device also the
  // toolkit's stub of the driver: call it in a process of its own.
  virtual std::string support(const Problem& problem, std::string_view backend,
                              std::string_view device) = 0;
  // The same for a network. If it runs, the answer has also "basis", which says what the answer
  // rests on, and "steps", in order. Each has "node", "kind", "way", "implementation", "layouts"
  // and "other_ways" (ops/cuda/cudnn/network_plan.hpp).
  virtual std::string plan(const Network& network, std::string_view device) = 0;
};

inline constexpr std::uint32_t kHandoverVersion = 1;

// The answer of the exported function. Its layout is the same in all builds: only with the same
// `build` may the caller use `services`.
struct Handover {
  std::uint32_t version;     // kHandoverVersion
  const char* program;       // the library's tool_version()
  const char* build;         // its build_id()
  PluginServices* services;  // null for another build, or if the library reported an error
};

// The function that the library exports: extern "C" Handover bench_cuda_handover(const char*
// build). `build` is the caller's build_id().
using HandoverFunction = Handover (*)(const char* build);
inline constexpr const char* kHandoverFunction = "bench_cuda_handover";

// Makes the answer to a caller. Called by the library.
inline Handover hand_over(std::string_view caller_build, PluginServices* services) {
  // Both texts are literals.
  return {kHandoverVersion, tool_version().data(), build_id().data(),
          caller_build == build_id() ? services : nullptr};
}

}  // namespace bench::ops::cuda

extern "C" __attribute__((visibility("default"))) bench::ops::cuda::Handover bench_cuda_handover(
    const char* build);
