// SPDX-License-Identifier: Apache-2.0
// Converts oneDNN's verbose lines to problems of operators. This program's work model then gives
// the work of the logs of any program. Each mapping is one `extern const VerboseMapping
// <name>_verbose` in ops/<name>/verbose.cpp. The table verbose_mappings() is generated from
// ops/CMakeLists.txt.
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"
#include "profiler/activity.hpp"
#include "profiler/onednn/memory_descriptor.hpp"
#include "profiler/work_sink.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// One primitive of a log. The texts are those of VerboseLine. `memory` contains the descriptors of
// the tensors that exist.
struct VerbosePrimitive {
  std::string_view primitive;
  std::string_view propagation;
  std::string_view attributes;
  std::string_view auxiliary;
  std::string_view problem;
  std::span<const MemoryDescriptor> memory;

  // Returns descriptor number `index` (from 0) of those named `argument`, or nullptr if there is
  // none.
  const MemoryDescriptor* find(std::string_view argument, std::size_t index = 0) const;
};

// Returns the primitive of an activity from a oneDNN log. It refers to the activity and to
// `descriptors`, which receives the tensors that exist.
VerbosePrimitive collect_primitive(const Activity& activity,
                                   std::vector<MemoryDescriptor>& descriptors);

// How well a problem describes a primitive.
// exact: the request's parameters are those of the primitive.
// shapes_only: the tensors are the same, but the request's parameters would be misleading
// (inference although the primitive trains). work_only: bytes and work are the same, but shapes
// would be wrong too (a layout that the operator cannot name).
enum class VerboseFidelity { exact, shapes_only, work_only };

struct VerboseProblem {
  // Direction and parameters; dtype and post-ops are filled in. `op`: unless it is the mapping's.
  ProblemRequest request;
  VerboseFidelity fidelity = VerboseFidelity::exact;
  std::string obstacle = {};  // why it is not exact, as a clause; empty: nothing more is known
  Dims destination = {};      // in the library's sizes, if they differ from the problem's
  // For primitives without a matching case of the operator (a gradient, training). `request` is
  // then the nearest case, and adapt() turns it into the tensors and FLOPs of the primitive.
  // Returns false if a count exceeds 64 bits.
  std::function<bool(Problem& problem)> adapt = {};
};

struct VerboseMapping {
  std::string_view op;
  std::span<const std::string_view> primitives;  // as the library names them
  // Returns nullopt if the operator cannot express the primitive, or the line lacks information.
  std::optional<VerboseProblem> (*request)(const VerbosePrimitive& primitive);
};
std::span<const VerboseMapping* const> verbose_mappings();

// Returns the case that computes what the primitive computes: the same shapes, data types and
// post-ops. The case names its result's type by the parameter `dst_dtype`, if the operator has it.
// Layouts, math modes, scales and zero points are not read; the type of a bias may differ. Error:
// `what` states why there is no such case.
Result<ProblemRequest> find_exact_case(const VerbosePrimitive& primitive);

// Sets `key` to all texts that decide which primitive on which device an execution computes.
void make_execution_key(const Activity& execution, std::string& key);

// Computes the work of an execution from a verbose line. Bytes follow the data types in the memory
// descriptors, and are absent if one is unknown. Returns nullopt for unsupported lines and for
// other phases than "exec", because a creation computes nothing.
std::optional<ActivityWork> compute_work(const Activity& activity);
// Returns a provider like compute_work() with a cache of earlier results, because the lines of logs
// repeat. The provider also handles rows of PyProf's tables (ops/pyprof_row.hpp) and operators and
// kernels of Kineto's traces (ops/kineto_work.hpp). Not thread-safe.
WorkProvider make_work_provider();

}  // namespace bench::ops
