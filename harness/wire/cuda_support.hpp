// SPDX-License-Identifier: Apache-2.0
// Reports of the CUDA plugin about which library or native kernel would compute a case on a CUDA
// device. They need no device. A child process (`bench worker --support`) gets the question and
// returns the answer.
#pragma once

#include "base/json_fields.hpp"
#include "base/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// One step of a network, as the plugin plans it (ops/cuda/cudnn/network_plan.hpp).
struct PlannedStep {
  std::string node;            // the layer
  std::string kind;            // "conv"
  std::string way;             // "graph", "parts", "native", "product" or "transpose"
  std::string implementation;  // "cudnn:engine_63"; "cudnn:n/a" if the engine is not known
  std::string layouts;         // "nhwc -> nhwc, weights nhwc"
  std::vector<std::string> other_ways = {};  // measured on a device against `way`
  friend bool operator==(const PlannedStep&, const PlannedStep&) = default;
};

BENCH_FIELDS(PlannedStep, node, kind, way, implementation, layouts, other_ways);

struct CudaSupport {
  std::string runs;    // "yes", "no", or "unknown" if the required library is not installed
  std::string by;      // what computes it: "cuDNN", "cuBLASLt", "bench:softmax_block"
  std::string reason;  // for "no" and "unknown"; for "yes", why no library computes it
  std::vector<std::string> engines = {};  // for cuDNN on the described device, best first
  std::string basis = {};                 // for a network: what the plan rests on
  std::vector<PlannedStep> steps = {};    // for a network: its plan, in order
  friend bool operator==(const CudaSupport&, const CudaSupport&) = default;
};
using CudaSupports = std::map<std::string, CudaSupport>;  // key: case id

struct CudaSupportQuestion {
  std::vector<std::string> ids;
  std::string gpu = {};  // file with a description of a GPU; if empty, local device 0, if any
  std::string architecture = {};    // instead of `gpu`: "sm_90"
  std::string network_folder = {};  // searched for networks before the usual folders
};

// Returns one line with schema bench.cuda_support/1, without a newline.
std::string format_cuda_support(const CudaSupports& supports);
// Parses such a line.
Result<CudaSupports> parse_cuda_support(std::string_view text);
// Parses the plugin's answer for one case.
Result<CudaSupport> parse_one_cuda_support(std::string_view text);

}  // namespace bench
