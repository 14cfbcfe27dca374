// SPDX-License-Identifier: Apache-2.0
// How other tools count the FLOPs of a problem: views of the counts of the convention `bench-1`.
// docs/work_model.md states each rule with its source.
#pragma once

#include "base/enumerators.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>

namespace bench::ops {

// bench: Work::flops. torch: torch.utils.flop_counter. fvcore: FlopCountAnalysis. xla:
// HloCostAnalysis. deepspeed: DeepSpeed's profiler of FLOPs.
BENCH_ENUM(FlopConvention, bench, torch, fvcore, xla, deepspeed);

// Returns the FLOPs of the problem, post-ops included. 0: the tool has no formula for the operator
// and leaves it out. nullopt: the tool cannot count the problem (fvcore and deepspeed see forward
// passes only; only bench and xla know the operators of plugins), or the count exceeds 2^63 - 1.
std::optional<std::int64_t> count_flops(const Problem& problem, FlopConvention convention);

}  // namespace bench::ops
