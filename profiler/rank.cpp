// SPDX-License-Identifier: Apache-2.0
#include "profiler/rank.hpp"

#include "base/text.hpp"
#include "profiler/capture/spool_format.hpp"

#include <fmt/format.h>

#include <limits>

namespace bench {

std::optional<std::int64_t> parse_rank(std::string_view text) {
  const auto rank = parse_number<std::int64_t>(text);
  if (!rank || *rank < 0 || *rank > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return rank;
}

std::optional<ProcessRank> find_rank(
    const std::function<std::optional<std::string>(const std::string&)>& variable) {
  for (const capture::RankVariable& row : capture::kRankVariables) {
    if (row.companion != nullptr && !variable(row.companion)) continue;
    const auto text = variable(row.name);
    const auto rank = text ? parse_rank(*text) : std::nullopt;
    if (rank) return ProcessRank{*rank, row.name};
  }
  return std::nullopt;
}

void describe_rank(const ProcessRank& rank, std::map<std::string, std::string>& details) {
  details[kRankDetail] = std::to_string(rank.rank);
  details[kRankVariableDetail] = rank.variable;
}

std::string default_profile_name(const std::optional<ProcessRank>& rank, std::int64_t process) {
  const std::string ranked = rank ? fmt::format("rank{}-", rank->rank) : std::string();
  return fmt::format("profile-{}{}.jsonl", ranked, process);
}

}  // namespace bench
