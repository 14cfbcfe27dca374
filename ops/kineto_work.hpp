// SPDX-License-Identifier: Apache-2.0
// Computes the work of PyTorch's operators in a trace of Kineto (profiler/readers/kineto.cpp), and
// of the kernels that compute them, from the recorded shapes and arguments.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/work_sink.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace bench::ops {

// Returns nullopt for other activities, and if the shapes and arguments do not determine the work.
// An operator's name is that of the activity, or of a kernel its attribute `op`. A backward
// convolution has the work of each gradient that it returns; a kernel of it that of one.
std::optional<ActivityWork> compute_kineto_work(const Activity& activity);

// The same for a stream of activities in the order of their starts. The work of an operator counts
// once: an operator within another one of known work has none.
class KinetoWorkProvider {
 public:
  std::optional<ActivityWork> operator()(const Activity& activity);

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;  // pid, tid
  std::map<Thread, Nanoseconds> ends_;  // end of the last operator of known work, by thread
};

}  // namespace bench::ops
