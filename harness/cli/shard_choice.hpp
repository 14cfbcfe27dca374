// SPDX-License-Identifier: Apache-2.0
// Which cases --shard selects: by I/N, or by the variables of a scheduler, and with --resume those
// of the run that is resumed.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/report.hpp"
#include "harness/run/shards.hpp"

#include <optional>
#include <string>

namespace bench {

// The number of shards, for schedulers that do not state it. If it is set, the indices of a Slurm
// array count from 1, so that `--array=3` repeats one shard of several.
inline constexpr const char* kShardsVariable = "BENCH_SHARDS";

// Returns the shard that the environment states: a task of a Slurm job array
// (SLURM_ARRAY_TASK_ID), or a pod of an indexed Kubernetes job (JOB_COMPLETION_INDEX). Returns an
// error that names the variable if one is missing or does not fit.
Result<Shard> shard_by_scheduler(const Env& env);

// Returns the shard of --shard and its cases; nullopt without --shard. Assigns by the times in the
// store of --baseline, or the default store.
Result<std::optional<ShardPart>> choose_part(const Plan& plan, const Arguments& arguments,
                                             const Env& env);

// Returns the cases of the shard that a file contains, so that a shard keeps its cases even if the
// store has changed since; `requested` if the file has no shard. Returns an error if the file is
// that of another shard than `requested`.
Result<std::optional<ShardPart>> resume_part(const Report& earlier, const Plan& plan,
                                             std::optional<ShardPart> requested);

// Returns for example "shard 2 of 4: 12 of 48 cases, about 33 s (the longest shard takes about
// 34 s), by stored times of 40 cases and estimates of the others".
std::string format_part(const ShardPart& part);

}  // namespace bench
