// SPDX-License-Identifier: Apache-2.0
// Kernels of problems: one cuDNN graph, a graph followed by a native kernel (a CUDA kernel of this
// project), or a native kernel alone.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_kernel.hpp"
#include "ops/cuda/cudnn/session.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/cuda/runtime/tuner.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {

// Creates the kernel of a matrix product. Measures `tuning` algorithms and takes the fastest; if
// `tuning` is 0, takes the library's first choice.
using ProductMaker = std::function<Result<std::unique_ptr<Kernel>, BackendError>(
    const Problem& problem, std::int64_t tuning)>;

using MaybeSession = Result<std::shared_ptr<CudnnSession>, BackendError>;

// The detail of a kernel's planning time.
inline constexpr const char* kPlanningDetail = "setup.plan_ns";

// How a problem is computed. graph: by one graph of cuDNN. parts: by a graph, then a native kernel.
// native: by a native kernel alone. padded, padded_parts: by a native kernel that adds channels to
// the source, then as `graph` or `parts`.
enum class KernelWay { graph, parts, native, padded, padded_parts };

class ProblemKernels {
 public:
  // Without a session, only native kernels exist. All other problems are then unsupported, for the
  // reason in `session`. `products` may be empty.
  ProblemKernels(DeviceParts parts, MaybeSession session, std::shared_ptr<Launcher> launcher,
                 ProductMaker products)
      : parts_(std::move(parts)),
        session_(std::move(session)),
        launcher_(std::move(launcher)),
        products_(std::move(products)),
        tuner_(parts_.runtime) {}

  // Accepts any operator except gemm.
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem);
  // Creates the kernel in one way. BackendError (unsupported): the problem has no such kernel.
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem, KernelWay way);
  // Creates cuDNN's plans for the problems on all processors that the process may use, because an
  // engine that is compiled at run time takes half a second. create() uses the plans and reports
  // their errors.
  void plan_ahead(std::span<const Problem> problems);
  // Takes back the planning time that a kernel reports, because the kernel is not used. The next
  // kernel with a plan reports it, or take_planning_time(). The time includes plans that failed,
  // and those that no kernel uses.
  void return_planning_time(const Kernel& kernel);
  // Returns the time that has not been reported; nullopt if nothing was planned since.
  std::optional<Nanoseconds> take_planning_time() {
    return std::exchange(planning_time_, std::nullopt);
  }
  // Returns plan_key() with what decides among a problem's plans: tuning, the caches that it
  // measures with, and rejected engines.
  std::string tuned_key(const Problem& problem) const;
  // Creates a matrix product of a network. Post-ops that the library does not fuse run after it, on
  // its result in the output's type.
  Result<std::unique_ptr<Kernel>, BackendError> create_product(const Problem& problem);
  // Implements Backend::reject_last_engine() for the cuDNN plan of the last create(). A kernel
  // without such a plan has no other engine.
  bool reject_last_engine(std::string_view reason);
  // Applies to plans and products that are created from now on.
  void set_tuning(std::int64_t candidates) { tuning_ = candidates; }
  std::int64_t tuning() const { return tuning_; }

  // The part that a plan computes of the last created problem.
  struct LastPlan {
    Problem problem;
    std::string engine;  // ExecutionPlan::name()
  };
  // What reject_last_engine() rejects. A caller that creates several kernels and keeps one of them
  // sets its plan again.
  const std::optional<LastPlan>& last_plan() const { return last_plan_; }
  void set_last_plan(std::optional<LastPlan> plan) { last_plan_ = std::move(plan); }

 private:
  using KernelResult = Result<std::unique_ptr<Kernel>, BackendError>;
  using MaybePlans = Result<std::vector<std::shared_ptr<const ExecutionPlan>>, BackendError>;
  MaybePlans create_plans(CudnnSession& session, const Problem& problem) const;
  MaybePlans take_plans(const Problem& problem);
  KernelResult create_from_graph(const Problem& problem);
  KernelResult create_in_two_parts(const Problem& problem);
  KernelResult create_with_epilogue(const Problem& problem);
  KernelResult create_with_epilogue(std::unique_ptr<Kernel> first, const Problem& problem,
                                    DataType intermediate_dtype);
  KernelResult create_with_bias_gradient(const Problem& problem);
  KernelResult create_native(const Problem& problem);
  KernelResult create_padded(const Problem& problem, KernelWay way);
  std::vector<RejectedEngine> find_rejected(const Problem& problem) const;
  void note_rejected(const Problem& problem) const;
  Result<ProblemPlan, BackendError> plan(const Problem& problem);
  void add_planning_time(Nanoseconds time);
  Result<ProblemPlan, BackendError> make_plan(const Problem& problem);
  Result<std::vector<ProblemPlan>, BackendError> make_plans(const Problem& problem);
  Result<ProblemPlan, BackendError> choose_fastest_plan(const Problem& problem,
                                                        std::vector<ProblemPlan> plans);

  DeviceParts parts_;
  MaybeSession session_;
  std::shared_ptr<Launcher> launcher_;
  ProductMaker products_;
  Tuner tuner_;
  std::int64_t tuning_ = 0;
  std::map<std::string, ProblemPlan> plans_;  // plans created so far, by tuned_key()
  // Plans that plan_ahead() created and no kernel uses yet, by tuned_key().
  std::map<std::string, MaybePlans> planned_ahead_;
  std::map<std::string, BackendError> failures_;  // of plans that cannot be created, by tuned_key()
  std::optional<Nanoseconds> planning_time_;      // not reported yet
  std::vector<std::shared_ptr<CudnnSession>> planners_;          // one for each thread
  std::map<std::string, std::vector<RejectedEngine>> rejected_;  // by plan_key()
  std::optional<LastPlan> last_plan_;
};

}  // namespace bench::ops::cuda
