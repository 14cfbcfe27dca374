// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/shard_choice.hpp"

#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/cli/rough_time.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace bench {
namespace {

// The variables by which a scheduler states the parts of a job. Those after `index` are nullptr if
// the scheduler has none; BENCH_SHARDS then states the number of parts.
struct SchedulerVariables {
  const char* index;
  std::int64_t base;  // the smallest index if BENCH_SHARDS is set
  const char* first = nullptr;
  const char* last = nullptr;
  const char* step = nullptr;
  const char* count = nullptr;
};

constexpr std::array kSchedulers = {
    SchedulerVariables{"SLURM_ARRAY_TASK_ID", 1, "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
                       "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT"},
    SchedulerVariables{"JOB_COMPLETION_INDEX", 0}};

constexpr std::int64_t kMaxIndex = 1'000'000'000;

// Returns nullopt if the variable is not set or the scheduler has none.
Result<std::optional<std::int64_t>> read_variable(const Env& env, const char* name) {
  if (name == nullptr) return std::optional<std::int64_t>();
  const auto text = env.variable(name);
  if (!text || text->empty()) return std::optional<std::int64_t>();
  const auto number = parse_number<std::int64_t>(*text);
  if (number && *number >= 0 && *number <= kMaxIndex) return number;
  return Error{fmt::format("{} is not the number of a shard", quote(*text)), name,
               "unset it, or use --shard I/N"};
}

// The indices of an array, from the smallest to the largest one.
struct IndexRange {
  std::int64_t first = 0, step = 1, count = 1;
};

Result<IndexRange> read_range(const Env& env, const SchedulerVariables& names) {
  BENCH_ASSIGN_OR_RETURN(const auto shards, read_variable(env, kShardsVariable));
  if (shards) {
    if (*shards >= 1) return IndexRange{names.base, 1, *shards};
    return Error{"is 0", kShardsVariable, "set it to the number of shards"};
  }
  BENCH_ASSIGN_OR_RETURN(const auto first, read_variable(env, names.first));
  BENCH_ASSIGN_OR_RETURN(const auto last, read_variable(env, names.last));
  BENCH_ASSIGN_OR_RETURN(const auto step, read_variable(env, names.step));
  BENCH_ASSIGN_OR_RETURN(const auto count, read_variable(env, names.count));
  if (!first || (!last && !count)) {
    return Error{
        fmt::format("{} is set, but the number of shards is unknown", names.index), "--shard auto",
        fmt::format("set {} to the number of shards, or use --shard I/N", kShardsVariable)};
  }
  IndexRange range{*first, std::max<std::int64_t>(step.value_or(1), 1), 0};
  range.count = last ? (std::max(*last, *first) - *first) / range.step + 1 : *count;
  if (!count || *count == range.count) return range;
  return Error{
      fmt::format("the array has {} tasks between {} and {}, so its indices have gaps", *count,
                  *first, last.value_or(*first)),
      "--shard auto",
      fmt::format("use a whole range such as --array=1-{}, or set {}", *count, kShardsVariable)};
}

// Returns the shard of a file's first run that has one, with its assignment.
const RunRecord* find_assigned_run(const Report& report) {
  const auto run = std::ranges::find_if(
      report.runs, [](const RunRecord& record) { return record.shard && record.assignment; });
  return run == report.runs.end() ? nullptr : &*run;
}

std::string describe_rule(const ShardPart& part) {
  const auto cases = static_cast<std::size_t>(part.assignment.plan_cases);
  if (part.assignment.rule == AssignmentRule::order)
    return "in the order of the plan, since all cases take equally long";
  if (part.assignment.rule == AssignmentRule::estimated)
    return "by estimates, since the store has no time of these cases";
  return part.stored >= cases ? "by stored times"
                              : fmt::format("by stored times of {} and estimates of the others",
                                            pluralise(part.stored, "case"));
}

}  // namespace

Result<Shard> shard_by_scheduler(const Env& env) {
  for (const SchedulerVariables& names : kSchedulers) {
    BENCH_ASSIGN_OR_RETURN(const auto index, read_variable(env, names.index));
    if (!index) continue;
    BENCH_ASSIGN_OR_RETURN(const IndexRange range, read_range(env, names));
    const std::int64_t offset = *index - range.first;
    if (offset >= 0 && offset % range.step == 0 && offset / range.step < range.count) {
      return Shard{static_cast<int>(offset / range.step + 1), static_cast<int>(range.count)};
    }
    return Error{fmt::format("{} is {}, which is not one of the {} shards from {}", names.index,
                             *index, range.count, range.first),
                 "--shard auto",
                 fmt::format("correct {} or the indices of the job", kShardsVariable)};
  }
  return Error{
      "no scheduler states a shard: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX "
      "is set",
      "--shard auto", "use --shard I/N, or `bench submit` to write a job that sets them"};
}

Result<std::optional<ShardPart>> choose_part(const Plan& plan, const Arguments& arguments,
                                             const Env& env) {
  std::optional<Shard> shard = arguments.shard;
  if (arguments.shard_by_scheduler) {
    BENCH_ASSIGN_OR_RETURN(shard, shard_by_scheduler(env));
  }
  if (!shard) return std::optional<ShardPart>();
  const BaselineStore store(store_folder(arguments.baseline));
  return std::optional(assign_part(estimate_costs(plan, stored_iterations(plan, store)), *shard));
}

Result<std::optional<ShardPart>> resume_part(const Report& earlier, const Plan& plan,
                                             std::optional<ShardPart> requested) {
  const RunRecord* run = find_assigned_run(earlier);
  if (run == nullptr) return requested;
  const auto shard = parse_shard(*run->shard);
  auto cases = parse_positions(run->assignment->positions, plan.cases.size());
  if (!shard || !cases || run->assignment->plan_cases != std::ssize(plan.cases)) {
    return Error{"its run record assigns cases that the configuration does not have", "--resume",
                 "start a new run without --resume"};
  }
  if (requested && requested->shard != *shard) {
    return Error{fmt::format("the file is that of shard {}, and --shard selects {}", *run->shard,
                             format_shard(requested->shard)),
                 "--resume", "resume the file of this shard, or start a new one with --out"};
  }
  return std::optional(ShardPart{*shard, *run->assignment, *std::move(cases)});
}

std::string format_part(const ShardPart& part) {
  std::string text = fmt::format("shard {} of {}: {} of {}", part.shard.index, part.shard.count,
                                 part.cases.size(), pluralise(part.assignment.plan_cases, "case"));
  if (!part.time || !part.longest) return text + ", as the resumed run assigned them";
  if (!part.cases.empty()) {
    text += fmt::format(", about {} (the longest shard: {})", format_rough_time(*part.time),
                        format_rough_time(*part.longest));
  }
  return text + ", assigned " + describe_rule(part);
}

}  // namespace bench
