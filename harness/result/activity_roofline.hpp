// SPDX-License-Identifier: Apache-2.0
// Computes how near the activities of a profile come to the ceilings of a machine. Applies the
// arithmetic of harness/result/roofline.hpp to parts of a case, and to programs without cases.
#pragma once

#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"
#include "ops/problem.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/query.hpp"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace bench {

// Determines the work of activities. Caches the results, since activities of a profile repeat.
// Not thread-safe.
class ActivityWorkModel {
 public:
  struct ModelledWork {
    ops::Work work;
    Bytes weights{0};  // 0 if unknown
  };
  // Returns the FLOPs and bytes that the activity records; nullopt if it records neither. If its
  // attributes describe a problem of an operator, also sets the FLOPs without padding and the size
  // of the weights.
  std::optional<ModelledWork> work(const Activity& activity);

 private:
  // Returns the work of the problem that the attributes describe; nullopt if they describe none.
  const std::optional<ModelledWork>& model_work(const Activity& activity);

  std::string key_;  // a member to reuse its memory
  std::unordered_map<std::string, std::optional<ModelledWork>> cache_;
};

// The ceilings of a machine; each may be empty.
struct MachineCeilings {
  Ceilings cpu, gpu;
  // Whether operators of the host may only start work of a GPU, whose ceilings then do not apply to
  // them, nor do those of the CPU. The id of a case states where its operators ran.
  bool has_gpu_work = false;
};

// Uses the ceilings of the machine on which the activities ran: those of the CPU for operators and
// primitives, those of the GPU for kernels. A kernel is compared with the units that it used,
// tensor cores or CUDA cores, and has no ideal time if this is unknown. Reads the cache mode and
// the threads from the activity's case id. Without a case id, assumes all threads, and that data
// are in the smallest cache that holds them. The provider returns nullopt unless the activity
// executed work.
IdealProvider make_ideal_provider(MachineCeilings machine);

// Uses the ceilings in the roofline of the activity's case. `cases`: rooflines by case id.
IdealProvider make_ideal_provider(std::map<std::string, Roofline> cases);

// Uses the same rates for all activities that executed work, on any device. An activity with FLOPs
// needs `peak_flops`, one with bytes `peak_bandwidth`.
IdealProvider make_ideal_provider(std::optional<FlopsPerSecond> peak_flops,
                                  std::optional<BytesPerSecond> peak_bandwidth);

}  // namespace bench
