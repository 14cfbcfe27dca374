// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/activity.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

namespace bench {

// A stream stage: kernels without the attribute `tensor_cores` get what their name tells of it
// ("used (name: nvjet)"). What a file says stands, and what no rule knows stays unknown.
class KernelNameSink final : public ActivitySink {
 public:
  explicit KernelNameSink(ActivitySink& next) : next_(next) {}
  Status take(const Activity& activity) override;

 private:
  ActivitySink& next_;
  KernelNames names_;
  Activity copy_;
};

}  // namespace bench
