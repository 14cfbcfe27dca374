// SPDX-License-Identifier: Apache-2.0
// Kernels of problems: one graph of cuDNN, a graph and a kernel of ours behind it, or a kernel of
// ours alone.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_kernel.hpp"
#include "ops/cuda/cudnn/session.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Of a matrix product; the fastest of `tuning` algorithms, by measurement, or with 0 the library's
// own first choice.
using ProductMaker = std::function<Result<std::unique_ptr<Kernel>, Refusal>(const Problem& problem,
                                                                            std::int64_t tuning)>;

using MaybeSession = Result<std::shared_ptr<CudnnSession>, Refusal>;

class ProblemKernels {
 public:
  // Without a session, for the reason that stands in its place, there are kernels of ours alone.
  // `products` may be empty.
  ProblemKernels(DeviceParts parts, MaybeSession session, std::shared_ptr<Launcher> launcher,
                 ProductMaker products)
      : parts_(std::move(parts)),
        session_(std::move(session)),
        launcher_(std::move(launcher)),
        products_(std::move(products)) {}

  // Of any operator but gemm.
  Result<std::unique_ptr<Kernel>, Refusal> create(const Problem& problem);
  // Of a matrix product in a network. Post-ops that the library does not fuse run behind it, on its
  // result in the output's type.
  Result<std::unique_ptr<Kernel>, Refusal> create_product(const Problem& problem);
  // Of plans and products that are made from now on.
  void set_tuning(std::int64_t candidates) { tuning_ = candidates; }

 private:
  using Created = Result<std::unique_ptr<Kernel>, Refusal>;
  Created by_graph(const Problem& problem);
  Created by_two_parts(const Problem& problem);
  Created with_epilogue(const Problem& problem);
  Created with_epilogue(std::unique_ptr<Kernel> first, const Problem& problem, DataType between);
  Created with_bias_gradient(const Problem& problem);
  Created by_own_kernel(const Problem& problem);
  Result<ProblemPlan, Refusal> plan(const Problem& problem);
  Result<ProblemPlan, Refusal> make_plan(const Problem& problem);
  Result<ProblemPlan, Refusal> tuned(const Problem& problem, std::vector<ProblemPlan> plans);

  DeviceParts parts_;
  MaybeSession session_;
  std::shared_ptr<Launcher> launcher_;
  ProductMaker products_;
  std::int64_t tuning_ = 0;
  std::map<std::string, ProblemPlan> plans_;  // made so far, by plan_key() and tuning
};

}  // namespace bench::ops::cuda
