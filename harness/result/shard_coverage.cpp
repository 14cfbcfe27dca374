// SPDX-License-Identifier: Apache-2.0
#include "harness/result/shard_coverage.hpp"

#include "base/text.hpp"
#include "harness/result/shard_positions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace bench {
namespace {

// The runs of one shard: its first run, those that resumed it, and repetitions.
struct ShardRuns {
  std::vector<const RunRecord*> runs;
  std::int64_t starts = 0;  // runs that resume none of the others
  // The cases that it was to measure, as indices; nullopt in older files.
  std::optional<std::vector<std::size_t>> part;
  std::int64_t finished = 0;  // cases of the report that its runs measured completely
};

// The shards of one division of a plan.
struct Division {
  std::string config_name;
  int count = 1;
  std::optional<std::size_t> plan_cases;
  std::map<int, ShardRuns> shards;
};

// Limits of the positions of one plan and of all shards of a report, so that malformed records cost
// little memory. A plan has at most as many cases as a configuration has nodes (yaml.hpp).
constexpr std::int64_t kMaxPlanCases = 1'000'000;
constexpr std::size_t kMaxPositions = 10'000'000;

std::vector<Division> find_divisions(const Report& report) {
  std::map<std::pair<std::string, int>, Division> divisions;
  std::unordered_set<std::string> ids;
  std::size_t positions = 0;
  for (const RunRecord& run : report.runs) ids.insert(run.run_id);
  for (const RunRecord& run : report.runs) {
    const auto shard = run.shard ? parse_shard(*run.shard) : std::nullopt;
    if (!shard) continue;
    Division& division = divisions[{run.config_hash, shard->count}];
    division.config_name = run.config_name;
    division.count = shard->count;
    ShardRuns& runs = division.shards[shard->index];
    runs.runs.push_back(&run);
    runs.starts += run.resumes && ids.contains(*run.resumes) ? 0 : 1;
    if (!run.assignment || run.assignment->plan_cases < 0 ||
        run.assignment->plan_cases > kMaxPlanCases)
      continue;
    division.plan_cases = static_cast<std::size_t>(run.assignment->plan_cases);
    runs.part = parse_positions(run.assignment->positions, *division.plan_cases);
    if (!runs.part) continue;
    positions += runs.part->size();
    if (positions > kMaxPositions) runs.part = std::nullopt;
  }
  std::vector<Division> list;
  for (auto& [key, division] : divisions) list.push_back(std::move(division));
  return list;
}

// Counts the finished cases of each shard. A case that lacks processes is not finished.
void count_finished(const Report& report, std::vector<Division>& divisions) {
  std::unordered_map<std::string, ShardRuns*> shard_by_run;
  for (Division& division : divisions) {
    for (auto& [index, shard] : division.shards) {
      for (const RunRecord* run : shard.runs) shard_by_run[run->run_id] = &shard;
    }
  }
  for (const CaseRecord& record : report.cases) {
    const auto shard = shard_by_run.find(record.run_id);
    if (shard == shard_by_run.end()) continue;
    if (!has_flag(record, Flag::interrupted) && !is_unmeasured(record)) ++shard->second->finished;
  }
}

// Formats "shard 3 of 4", "shards 3 and 4 of 8", "shards 1-3, 7 and 12-90 of 96".
std::string format_shards(const std::vector<std::size_t>& indices, int count) {
  std::string list = format_positions(indices);
  const std::size_t comma = list.rfind(',');
  if (comma != std::string::npos) list.replace(comma, 1, " and ");
  for (std::size_t at = list.find(','); at != std::string::npos; at = list.find(',', at + 2))
    list.replace(at, 1, ", ");
  return fmt::format("{} {} of {}", indices.size() == 1 ? "shard" : "shards", list, count);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] += 'A' - 'a';
  return text;
}

// How many cases of the plan no shard and several shards were to measure.
struct Multiplicities {
  std::size_t uncovered = 0, repeated = 0;
};

// Returns nullopt if a shard does not state its part.
std::optional<Multiplicities> count_multiplicities(const Division& division) {
  if (!division.plan_cases) return std::nullopt;
  std::unordered_map<std::size_t, int> shards_by_case;
  for (const auto& [index, shard] : division.shards) {
    if (!shard.part) return std::nullopt;
    for (const std::size_t position : *shard.part) ++shards_by_case[position];
  }
  Multiplicities result{
      *division.plan_cases - std::min(*division.plan_cases, shards_by_case.size()), 0};
  for (const auto& [position, shards] : shards_by_case) result.repeated += shards > 1 ? 1 : 0;
  return result;
}

std::optional<std::string> describe_missing(const Division& division,
                                            const std::optional<Multiplicities>& counts) {
  std::vector<std::size_t> missing;
  for (int index = 1; index <= division.count; ++index) {
    // A malformed record may state a large number of shards.
    if (missing.size() > division.shards.size() + 10'000) break;
    if (!division.shards.contains(index)) missing.push_back(static_cast<std::size_t>(index - 1));
  }
  if (missing.empty()) return std::nullopt;
  const std::string cases = counts ? fmt::format(", with {} of the plan's {} cases",
                                                 counts->uncovered, *division.plan_cases)
                                   : "";
  return fmt::format("{} of `{}` {} missing{}; `bench run CONFIG --shard {}/{}` measures {}.",
                     capitalised(format_shards(missing, division.count)), division.config_name,
                     missing.size() == 1 ? "is" : "are", cases, missing.front() + 1, division.count,
                     missing.size() == 1 ? "it" : "the first of them");
}

// Describes shards whose parts do not fit together. Missing shards explain missing cases.
std::optional<std::string> describe_misfit(const Division& division,
                                           const std::optional<Multiplicities>& counts) {
  const bool has_all = std::ssize(division.shards) == division.count;
  const std::size_t uncovered = counts && has_all ? counts->uncovered : 0;
  const std::size_t repeated = counts ? counts->repeated : 0;
  if (uncovered == 0 && repeated == 0) return std::nullopt;
  return fmt::format(
      "The shards of `{}` were assigned by different inputs: {} in several shards, {} in none; "
      "give all shards the same configuration, options and store of baselines.",
      division.config_name, pluralise(repeated, "case is", "cases are"), uncovered);
}

void add_gap(std::string sentence, ShardCoverage& coverage) {
  coverage.problems.push_back(std::move(sentence));
  ++coverage.gaps;
}

// Describes shards that were measured several times, or not completely.
void add_shard_problems(const Division& division, ShardCoverage& coverage) {
  for (const auto& [index, shard] : division.shards) {
    const std::string name =
        fmt::format("Shard {} of {} of `{}`", index, division.count, division.config_name);
    if (shard.starts > 1)
      coverage.problems.push_back(fmt::format(
          "{} was measured {} times; of each case the last `ok` counts.", name, shard.starts));
    if (!shard.part) continue;
    const std::int64_t open = std::ssize(*shard.part) - shard.finished;
    if (open <= 0) continue;
    add_gap(fmt::format("{} ended early: {} of its {} {} not finished; `bench run CONFIG --shard "
                        "{}/{} --resume FILE` measures the rest.",
                        name, open, pluralise(shard.part->size(), "case"), open == 1 ? "is" : "are",
                        index, division.count),
            coverage);
  }
}

}  // namespace

ShardCoverage check_shards(const Report& report) {
  std::vector<Division> divisions = find_divisions(report);
  count_finished(report, divisions);
  ShardCoverage coverage;
  for (const Division& division : divisions) {
    coverage.shards += division.shards.size();
    const auto counts = count_multiplicities(division);
    if (auto missing = describe_missing(division, counts)) add_gap(*std::move(missing), coverage);
    if (auto misfit = describe_misfit(division, counts)) {
      // A case of several shards counts for one of them, so the numbers of the others mean nothing.
      add_gap(*std::move(misfit), coverage);
    } else {
      add_shard_problems(division, coverage);
    }
  }
  return coverage;
}

}  // namespace bench
