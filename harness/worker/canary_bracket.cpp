// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/canary_bracket.hpp"

#include <algorithm>

namespace bench {

void CanaryBracket::open() {
  if (canary_ == nullptr) return;
  if (!last_) last_ = canary_->take();
  if (threads_ == ops::KernelThreads::own) canary_->let_threads_sleep();
  preemptions_ = canary_->preemptions();
}

void CanaryBracket::close(Nanoseconds time, RoundSamples& out) {
  if (canary_ == nullptr) return;
  const bool preempted = canary_->preemptions() - preemptions_ > time / kTimeOfOnePreemption;
  const Nanoseconds after = canary_->take();
  out.canaries.push_back(preempted ? Nanoseconds(0) : std::max(*last_, after));
  last_ = after;
  if (const auto join = canary_->join()) out.joins.push_back(*join);
}

}  // namespace bench
