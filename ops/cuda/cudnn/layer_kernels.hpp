// SPDX-License-Identifier: Apache-2.0
// Kernels of a network's layers, and of single problems that choose among ways. If a layer can be
// computed in several ways, such as by one fused graph or by a convolution and a native kernel, all
// ways are measured once and the fastest is kept.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/problem_kernels.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/cuda/runtime/tuner.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bench::ops::cuda {

class LayerKernels {
 public:
  // `kernels` must outlive this object.
  LayerKernels(DeviceParts parts, ProblemKernels& kernels)
      : parts_(std::move(parts)), kernels_(kernels), tuner_(parts_.runtime) {}

  // Creates the plans of all ways to compute the problems; see ProblemKernels::plan_ahead().
  void plan_ahead(std::span<const Problem> problems);
  // Creates the fastest kernel of the problem. Without a choice, this is ProblemKernels::create().
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem);
  // Returns how the way to compute the problem was chosen, with the times of all ways: "default
  // 25.40 us, kept: graph cudnn:engine_41 25.40 us; parts ... 61.00 us". nullopt if there is only
  // one way.
  std::optional<std::string> choice(const Problem& problem) const;
  // Returns the time that was spent on measuring since the last call.
  Nanoseconds take_measuring_time() { return std::exchange(measuring_time_, Nanoseconds(0)); }

 private:
  std::string ways_key(const Problem& problem) const;
  void note_again(const Problem& problem, const std::string& key);

  struct Choice {
    KernelWay way = KernelWay::graph;
    std::optional<std::string> text;  // nullopt: there is only one way
  };
  DeviceParts parts_;
  ProblemKernels& kernels_;
  Tuner tuner_;
  std::map<std::string, Choice> choices_;  // by ways_key()
  Nanoseconds measuring_time_{0};
};

}  // namespace bench::ops::cuda
