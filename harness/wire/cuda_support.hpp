// SPDX-License-Identifier: Apache-2.0
// Reports of the CUDA plugin about which library or native kernel would compute a case on a CUDA
// device. They need no device. A child process (`bench worker --support`) gets the question and
// returns the answer.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct CudaSupport {
  std::string runs;    // "yes", "no", or "unknown" if the required library is not installed
  std::string by;      // what computes it: "cuDNN", "cuBLASLt", "bench:softmax_block"
  std::string reason;  // for "no" and "unknown"; for "yes", why no library computes it
  std::vector<std::string> engines = {};  // for cuDNN on the described device, best first
  friend bool operator==(const CudaSupport&, const CudaSupport&) = default;
};
using CudaSupports = std::map<std::string, CudaSupport>;  // key: case id

struct CudaSupportQuestion {
  std::vector<std::string> ids;  // operators only, no networks
  std::string gpu = {};  // file with a description of a GPU; if empty, local device 0, if any
};

// Returns one line with schema bench.cuda_support/1, without a newline.
std::string format_cuda_support(const CudaSupports& supports);
// Parses such a line.
Result<CudaSupports> parse_cuda_support(std::string_view text);
// Parses the plugin's answer for one case.
Result<CudaSupport> parse_one_cuda_support(std::string_view text);

}  // namespace bench
