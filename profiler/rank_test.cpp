// SPDX-License-Identifier: Apache-2.0
#include "profiler/rank.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace bench {
namespace {

std::optional<ProcessRank> rank_of(const std::map<std::string, std::string>& variables) {
  return find_rank([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Rank, EachLauncherStatesIt) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK",
                           "MV2_COMM_WORLD_RANK"}) {
    EXPECT_EQ(rank_of({{name, "3"}}), (ProcessRank{3, name}));
  }
  EXPECT_EQ(rank_of({}), std::nullopt);
}

TEST(Rank, TheMostCertainVariableCounts) {
  EXPECT_EQ(rank_of({{"RANK", "1"}, {"SLURM_PROCID", "2"}, {"PMI_RANK", "3"}}),
            (ProcessRank{3, "PMI_RANK"}));
  EXPECT_EQ(rank_of({{"RANK", "1"}, {"SLURM_PROCID", "2"}}), (ProcessRank{2, "SLURM_PROCID"}));
}

// Slurm numbers the tasks, of which torchrun makes several ranks each.
TEST(Rank, OfTorchrunInATaskOfSlurmIsThatOfTorchrun) {
  EXPECT_EQ(rank_of({{"RANK", "9"}, {"TORCHELASTIC_RUN_ID", "none"}, {"SLURM_PROCID", "1"}}),
            (ProcessRank{9, "RANK"}));
}

TEST(Rank, WhatIsNoNumberIsNoRank) {
  for (const char* text : {"", "x", "-1", "1.5", "99999999999"}) {
    EXPECT_EQ(rank_of({{"OMPI_COMM_WORLD_RANK", text}, {"PMI_RANK", "2"}}),
              (ProcessRank{2, "PMI_RANK"}))
        << text;
  }
}

TEST(Rank, IsInTheDefaultNameOfAProfile) {
  EXPECT_EQ(default_profile_name(std::nullopt, 4711), "profile-4711.jsonl");
  EXPECT_EQ(default_profile_name(ProcessRank{3, "RANK"}, 4711), "profile-rank3-4711.jsonl");
}

}  // namespace
}  // namespace bench
