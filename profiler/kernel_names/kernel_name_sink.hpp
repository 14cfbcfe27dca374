// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/activity.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

namespace bench {

// A stream stage that sets the attribute `tensor_cores` from the kernel's name if it is missing
// ("used (name: nvjet)"). A value from the file stays unchanged. If no rule matches, the attribute
// stays unset.
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
