// SPDX-License-Identifier: Apache-2.0
// What would compute a case on a CUDA device, told without one by the CUDA plugin: the question to
// a child process (`bench worker --support`) and its answer.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct CudaSupport {
  std::string runs;    // "yes", "no"; "unknown": the library to be asked is not here
  std::string by;      // "cuDNN", "cuBLASLt", "bench:softmax_block"
  std::string reason;  // of no and unknown; of yes: why no library does it
  std::vector<std::string> engines = {};  // of cuDNN on the device that was described, best first
  friend bool operator==(const CudaSupport&, const CudaSupport&) = default;
};
using CudaSupports = std::map<std::string, CudaSupport>;  // by case id

struct CudaSupportQuestion {
  std::vector<std::string> ids;  // of operators, not of networks
  std::string gpu = {};          // a file of gpu_description.hpp; empty: device 0 here, if any
};

// One line, schema bench.cuda_support/1, and its inverse.
std::string format_cuda_support(const CudaSupports& supports);
Result<CudaSupports> parse_cuda_support(std::string_view text);
// What the plugin says of one case.
Result<CudaSupport> parse_one_cuda_support(std::string_view text);

}  // namespace bench
