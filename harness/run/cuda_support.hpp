// SPDX-License-Identifier: Apache-2.0
// What would compute a case on a CUDA device, told without one by the CUDA plugin: asked in a child
// process (`bench worker --support`), since NVIDIA's libraries are loaded for it.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/run/cuda_status.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct CudaSupport {
  std::string runs;    // "yes", "no"; "unknown": the library to be asked is not here
  std::string by;      // "cuDNN", "cuBLASLt", "bench:softmax_block"
  std::string reason;  // of no and unknown; of yes: why no library does it
  friend bool operator==(const CudaSupport&, const CudaSupport&) = default;
};
using CudaSupports = std::map<std::string, CudaSupport>;  // by case id

// In this process, for a child. Ids of operators, not of networks. Error: the plugin is not to be
// had, or too old to know.
Result<CudaSupports> inspect_cuda_support(const std::string& program, const LookUp& variable,
                                          const std::vector<std::string>& ids);

// One line, schema bench.cuda_support/1, and its inverse.
std::string format_cuda_support(const CudaSupports& supports);
Result<CudaSupports> parse_cuda_support(std::string_view text);

// The same by children of `worker_program`, which live at most kCudaSupportLimit each.
Result<CudaSupports> ask_cuda_support(const std::string& worker_program,
                                      const std::vector<std::string>& ids, Env& env);
inline constexpr Nanoseconds kCudaSupportLimit = std::chrono::seconds(60);

}  // namespace bench
