// SPDX-License-Identifier: Apache-2.0
// What oneDNN's verbose lines say of a primitive as a problem of an operator, so that logs of any
// program get their work from the one work model. One `extern const VerboseMapping <name>_verbose`
// in ops/<name>/verbose.cpp; the table verbose_mappings() is generated from ops/CMakeLists.txt.
#pragma once

#include "ops/problem.hpp"
#include "profiler/activity.hpp"
#include "profiler/onednn/memory_descriptor.hpp"
#include "profiler/reader.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace bench::ops {

// Texts as in VerboseLine; memory holds the descriptors of the tensors that exist.
struct VerbosePrimitive {
  std::string_view primitive;
  std::string_view propagation;
  std::string_view attributes;
  std::string_view auxiliary;
  std::string_view problem;
  std::span<const MemoryDescriptor> memory;

  // Descriptor number `index` of those named `argument`; nullptr where there is none.
  const MemoryDescriptor* find(std::string_view argument, std::size_t index = 0) const;
};

// exact: the request's parameters are those of the primitive. shapes_only: its tensors are, its
// parameters would tell something wrong (inference where it trains). work_only: the same bytes and
// work, but shapes would be wrong too (a layout that the operator cannot name).
enum class Naming { exact, shapes_only, work_only };

struct VerboseProblem {
  ProblemRequest request;  // direction and parameters; dtype and post-ops are filled in
  Naming naming = Naming::exact;
  Dims destination = {};  // in the library's sizes, where they are not those of the problem
  // Where the operator has no such case (a gradient, training): turns the nearest case, which the
  // request is, into the tensors and FLOPs of the primitive. False: a count leaves 64 bits. A
  // primitive with post-ops is not adapted.
  std::function<bool(Problem& problem)> adapt = {};
};

struct VerboseMapping {
  std::string_view op;
  std::span<const std::string_view> primitives;  // in the library's words
  // Absent where the operator does not express it, or the line does not say enough.
  std::optional<VerboseProblem> (*request)(const VerbosePrimitive& primitive);
};
std::span<const VerboseMapping* const> verbose_mappings();

// Work of an execution that readers of verbose lines found (phase "exec": a creation computes
// nothing). Bytes are those of the data types that the memory descriptors name. Absent for all that
// is not understood.
std::optional<ActivityWork> work_of(const Activity& activity);
// The same, remembering what it has worked out, for logs that repeat themselves; and of the rows of
// PyProf's tables (ops/pyprof_row.hpp). Not thread-safe.
WorkOf make_work_of();

}  // namespace bench::ops
