// SPDX-License-Identifier: Apache-2.0
#include "harness/config/load.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace bench {
namespace {

using testing::HasSubstr;

// Loads files, each with one entry of this text.
Result<Plan, std::vector<Diagnostic>> load_counted(std::map<std::string, std::string> entries) {
  LoadRequest request;
  for (const auto& [name, entry] : entries) request.arguments.push_back(name);
  request.read = [entries = std::move(entries)](const std::string& name) -> Result<std::string> {
    return fmt::format("version: 1\ncases:\n  - {}\n", entries.at(name));
  };
  return load_plan(request);
}

TEST(CountedCases, TheCountIsNeitherInTheIdNorInAHash) {
  const auto plain = load_counted({{"a.yaml", "{ op: gemm, m: 4, n: 4, k: 4 }"}});
  const auto counted =
      load_counted({{"a.yaml", "{ op: gemm, m: 4, n: 4, k: 4, multiplicity: 312 }"}});
  ASSERT_TRUE(plain.ok() && counted.ok());
  EXPECT_EQ(plain->cases.at(0).count, std::nullopt);
  EXPECT_EQ(counted->cases.at(0).count, 312);
  EXPECT_EQ(counted->cases.at(0).id, plain->cases.at(0).id);
  EXPECT_EQ(counted->cases.at(0).hash, plain->cases.at(0).hash);
  EXPECT_EQ(counted->hash, plain->hash);
}

TEST(CountedCases, TheSameCaseOfTwoProgramsHasTheExecutionsOfBoth) {
  const auto plan = load_counted({{"a.yaml", "{ op: gemm, m: 4, n: 4, k: 4, multiplicity: 3 }"},
                                  {"b.yaml", "{ op: gemm, m: 4, n: 4, k: 4, multiplicity: 5 }"},
                                  {"c.yaml", "{ op: gemm, m: 4, n: 4, k: 4 }"}});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->cases.size(), 1u);
  EXPECT_EQ(plan->cases[0].count, 8);
}

TEST(CountedCases, AnEntryThatGivesACaseTwiceCountsOnce) {
  const auto plan =
      load_counted({{"a.yaml", "{ op: gemm, m: 4, n: 4, sweep: { k: [4, 4] }, multiplicity: 3 }"}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->cases.at(0).count, 3);
}

TEST(CountedCases, OnlyOperatorsHaveOneCount) {
  const auto message = [](const std::string& entry) {
    const auto plan = load_counted({{"a.yaml", entry}});
    return plan.ok() ? "" : plan.error().front().message();
  };
  EXPECT_THAT(message("{ op: gemm, m: 4, n: 4, k: 4, multiplicity: 0 }"),
              HasSubstr("`multiplicity`"));
  EXPECT_THAT(message("{ op: gemm, m: 4, n: 4, k: 4, sweep: { multiplicity: [1, 2] } }"),
              HasSubstr("`multiplicity` cannot vary"));
  EXPECT_THAT(message("{ network: mnist, multiplicity: 2 }"),
              HasSubstr("unknown key `multiplicity`"));
}

}  // namespace
}  // namespace bench
