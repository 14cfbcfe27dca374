// SPDX-License-Identifier: Apache-2.0
// Assesses whether NVIDIA's libraries may run a problem on tensor cores, and why. Uses only rules,
// for any architecture, without a GPU. An eligible problem does not necessarily use tensor cores,
// because libraries choose by speed. Counters or the kernel's name (profiler/kernel_names/) show
// what ran.
#pragma once

#include "base/enumerators.hpp"
#include "ops/network/network.hpp"
#include "ops/problem.hpp"
#include "ops/tensor_core/architecture.hpp"
#include "ops/tensor_core/rules.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

BENCH_ENUM(TensorCoreAnswer, (not_applicable, "not applicable"), (not_eligible, "not eligible"),
           eligible);

// The quality of the rows' alignment. degraded: kernels for narrow rows, or copies. ok: multiples
// of 16 bytes. full: multiples of 128 bytes.
BENCH_ENUM(AlignmentGrade, degraded, ok, full);

struct TensorCorePartVerdict {
  TensorCorePart part;
  RuleAnswer answer;
  std::string reason;     // the rule's sentence with the underlying values
  std::string_view rule;  // the rule's id
};

// Copies that the library makes in its workspace around the kernel.
struct LibraryCopies {
  std::vector<std::string_view> tensors;  // "source", "weights", "destination"
  std::int64_t workspace_bytes = 0;
  std::int64_t conversion_bytes = 0;  // traffic: each copy is written and read
};

struct TensorCoreEligibility {
  TensorCoreAnswer answer = TensorCoreAnswer::not_applicable;
  std::string reason;                        // one sentence: why not, or how good the alignment is
  std::string_view rule;                     // the rule that decided
  std::vector<TensorCorePartVerdict> parts;  // one per part, in order; empty: not applicable
  std::optional<AlignmentGrade> alignment;   // nullopt: not applicable
  std::optional<LibraryCopies> copies;       // for an eligible convolution
  std::vector<std::string> changes;          // changes that could make the library take them
  std::vector<std::string> hints;            // the changes, and what copies cost
};

TensorCoreEligibility assess_tensor_cores(const Problem& problem, const Platform& platform);

// The verdict for one node of a network.
struct TensorCoreNode {
  std::string node;
  std::string_view op;
  TensorCoreEligibility verdict;
};
// Assesses each node of a network separately, in execution order.
std::vector<TensorCoreNode> assess_tensor_cores(const Network& network, const Platform& platform);

}  // namespace bench::ops
