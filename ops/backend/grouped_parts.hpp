// SPDX-License-Identifier: Apache-2.0
// A problem that consists of independent problems, its parts, each with a kernel. A tensor of the
// problem is made of those of the parts, one after the other.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::ops {

// Whether each kernel of a part has a workspace of its own, or all have the backend's.
enum class PartWorkspace { own, shared };

class GroupedParts {
 public:
  // Creates one kernel for all parts with the same parameters.
  static Result<GroupedParts, BackendError> create(std::span<const Problem> parts,
                                                   const KernelMaker& make_kernel,
                                                   PartWorkspace workspace = PartWorkspace::own);

  std::size_t count() const { return kernels_.size(); }
  // Names the implementations of the parts, each once.
  std::string implementation() const;
  std::vector<KernelStep> steps() const;  // one per part
  std::span<const KernelBuffer> buffers() const { return buffers_; }
  Bytes workspace() const;
  Summation summation() const;
  // Those of the first part, and the number of parts.
  std::map<std::string, std::string> details() const;
  bool converts_layout(std::size_t tensor) const;
  Status pack(std::size_t tensor, const void* plain, void* packed) const;
  Status unpack(std::size_t tensor, const void* packed, void* plain) const;
  Status prepare(std::span<void* const> buffers) const;
  // Binds the parts, in order.
  Result<std::vector<std::unique_ptr<Invocation>>> bind(std::span<void* const> buffers) const;

 private:
  std::vector<void*> addresses(std::size_t part, std::span<void* const> buffers) const;

  std::vector<std::shared_ptr<Kernel>> kernels_;  // by part
  // By part and tensor: where its data begin, in bytes.
  std::vector<std::vector<std::size_t>> plain_, packed_;
  std::vector<KernelBuffer> buffers_;
  PartWorkspace part_workspace_ = PartWorkspace::own;
};

}  // namespace bench::ops
