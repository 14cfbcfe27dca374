// SPDX-License-Identifier: Apache-2.0
// What a profile states about each step of a kernel: its layer and, from the one work model,
// operator, parameters, shapes and work. All of this is known before anything runs.
#pragma once

#include "base/result.hpp"
#include "harness/worker/subject.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/attribute.hpp"

#include <string>
#include <vector>

namespace bench {

struct StepFacts {
  std::string name;   // name of the operator's activity: its layer, else "reorder" or the operator
  std::string layer;  // in a network; empty for a problem
  std::string primitive;  // the library's name for it: "convolution"
  std::string direction;
  Attributes
      attributes;  // op, parameters, dtype, implementation, layouts, shapes, macs, flops, bytes
};

// Returns one entry per step, or one for the whole problem if the kernel names no steps.
std::vector<StepFacts> step_facts(const Subject& subject, const ops::Kernel& kernel);

}  // namespace bench
