// SPDX-License-Identifier: Apache-2.0
// How near a case comes to the ceilings of its machine. Pure functions.
//
// The ideal time is the longer one of work / peak of the data type, and bytes / bandwidth. The
// cache mode decides whose bandwidth counts. hot: the smallest cache that holds the working set,
// else memory. cold: memory. cold_weights: memory for the weights, and for the rest the level that
// holds it.
//
// On a GPU the time is that of its own clock. The peak is that of the library's products on tensor
// cores if the rules say that these can compute the case, else that of the CUDA cores.
#pragma once

#include "base/units.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// A case faster than this multiple of its ideal gets the flag above_ceiling. The margin covers the
// differences between runs of the loops (docs/performance.md).
inline constexpr double kMaxEfficiency = 1.05;

struct RooflineQuestion {
  ops::Work work;
  Nanoseconds time{0};
  std::string dtype;
  std::string cache;           // cache mode: "hot", "cold", "cold_weights"
  std::optional<int> threads;  // nullopt: all; not used on a GPU
  // On a GPU: the operand type of the tensor cores that can compute the case ("f16", "tf32").
  // nullopt: the CUDA cores compute it.
  std::optional<std::string> tensor_operand;
  // All buffers of the case; nullopt: the bytes that it moves.
  std::optional<Bytes> working_set;
  std::optional<Bytes> weights;
};

// Returns nullopt without a time, work or a ceiling that applies to the work.
std::optional<Roofline> compute_roofline(const RooflineQuestion& question,
                                         const Ceilings& ceilings);

// The FLOPs without those of padding, which a kernel may skip, so that no ceiling limits them.
// Files of other tools count no such part.
std::int64_t necessary_flops(const ops::Work& work);

// The shortest time of a part of a case, such as a layer, and what limits it.
struct PartIdeal {
  Nanoseconds time{0};
  Bound bound = Bound::compute;
};
// With the ceilings that apply to the whole case. nullopt without work or a ceiling that applies.
std::optional<PartIdeal> compute_partial_ideal(const ops::Work& part, const Roofline& whole);

// The number of threads in the options of a case id ("t2/nhwc"); nullopt: all.
std::optional<int> threads_in(std::string_view options);

// The question of a case's record; nullopt without a time or work, or on another device than that
// of the ceilings.
std::optional<RooflineQuestion> roofline_question(const CaseRecord& record,
                                                  const Ceilings& ceilings);

// Fills in the roofline of a record that has a time. Sets the flag above_ceiling if it is faster
// than its ceilings permit; the detail "above_ceiling" then has the likely causes. Adds the advice
// of harness/result/advice.hpp as details "advice.ID".
void complete_roofline(CaseRecord& record, const Ceilings& ceilings);

}  // namespace bench
