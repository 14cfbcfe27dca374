// SPDX-License-Identifier: Apache-2.0
// What would compute a case on a CUDA device, as the CUDA plugin reports it without a device.
// Contains the question to a child process (`bench worker --support`) and its answer.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct CudaSupport {
  std::string runs;    // "yes", "no"; "unknown": the required library is not installed
  std::string by;      // "cuDNN", "cuBLASLt", "bench:softmax_block"
  std::string reason;  // for no and unknown; for yes: why no library computes it
  std::vector<std::string> engines = {};  // for cuDNN on the described device, best first
  friend bool operator==(const CudaSupport&, const CudaSupport&) = default;
};
using CudaSupports = std::map<std::string, CudaSupport>;  // key: case id

struct CudaSupportQuestion {
  std::vector<std::string> ids;  // operators only, no networks
  std::string gpu = {};          // a file of gpu_description.hpp; empty: device 0 here, if any
};

// One line with schema bench.cuda_support/1, and its inverse.
std::string format_cuda_support(const CudaSupports& supports);
Result<CudaSupports> parse_cuda_support(std::string_view text);
// Parses the plugin's answer for one case.
Result<CudaSupport> parse_one_cuda_support(std::string_view text);

}  // namespace bench
