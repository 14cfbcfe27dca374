// SPDX-License-Identifier: Apache-2.0
// The rank of a process in a distributed job, from the variables that its launcher sets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

struct ProcessRank {
  std::int64_t rank = 0;
  std::string variable;  // which variable states it
  friend bool operator==(const ProcessRank&, const ProcessRank&) = default;
};

// Returns the rank that the first of capture::kRankVariables with a number states; nullopt if none
// does. `variable` returns the value of an environment variable.
std::optional<ProcessRank> find_rank(
    const std::function<std::optional<std::string>(const std::string&)>& variable);

// Returns the rank that a text states; nullopt if it is not a number from 0 to 2^31 - 1.
std::optional<std::int64_t> parse_rank(std::string_view text);

// The details of a profile's first record that state the rank.
inline constexpr const char* kRankDetail = "rank";
inline constexpr const char* kRankVariableDetail = "rank.variable";
void describe_rank(const ProcessRank& rank, std::map<std::string, std::string>& details);

// Returns the default name of a profile: "profile-4711.jsonl", with a rank
// "profile-rank3-4711.jsonl".
std::string default_profile_name(const std::optional<ProcessRank>& rank, std::int64_t process);

}  // namespace bench
