// SPDX-License-Identifier: Apache-2.0
#include "harness/result/proof.hpp"

#include "tests/fakes/proof_sample.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

using test::sample_proof;

TEST(ProofOfLife, NamesTheSmallestSlowdownFromWhichOnAllAreFound) {
  ProofOfLife proof = sample_proof();
  EXPECT_EQ(smallest_found_slowdown(proof), 0.03);
  proof.power[2].found = 899;  // 5 % in less than 90 % of 1000 cases
  EXPECT_EQ(smallest_found_slowdown(proof), 0.10);
  proof.power.clear();
  EXPECT_EQ(smallest_found_slowdown(proof), std::nullopt);
}

TEST(ProofOfLife, HasNoProblemIfTheInjectedSlowdownWasFoundAndUnchangedSuitesPass) {
  EXPECT_EQ(find_proof_problem(sample_proof()), "");
}

TEST(ProofOfLife, WithTooFewDuetsShowsNothing) {
  ProofOfLife proof = sample_proof();
  proof.suites = 0;
  EXPECT_EQ(find_proof_problem(proof), "its 40 duets per case are too few");
}

TEST(ProofOfLife, OfASlowdownThatWasNotMeasuredShowsADeadGate) {
  ProofOfLife proof = sample_proof();
  proof.injected->measured = 0.001;
  EXPECT_EQ(find_proof_problem(proof), "it read an injected +3.0 % as +0.1 %");
  proof.injected.reset();
  EXPECT_EQ(find_proof_problem(proof), "it injected no slowdown");
}

TEST(ProofOfLife, OfAGateThatFailsUnchangedSuitesOrFindsNothingHasAProblem) {
  ProofOfLife proof = sample_proof();
  proof.red_suites = 51;
  EXPECT_EQ(find_proof_problem(proof), "5.1 % of unchanged suites failed");
  proof = sample_proof();
  proof.power.back().found = 420;
  EXPECT_EQ(find_proof_problem(proof), "it found +10 % in only 42 % of slower cases");
  proof.power.clear();
  EXPECT_EQ(find_proof_problem(proof), "it tried no slowdown");
}

TEST(ProofOfLife, HasAnAgeUnlessATimeIsInvalidOrTheSelfTestIsLater) {
  const ProofOfLife proof = sample_proof();  // 2026-11-28T06:00:00Z
  EXPECT_EQ(proof_age(proof, "2026-12-01T07:00:01Z"),
            std::chrono::hours(73) + std::chrono::seconds(1));
  EXPECT_EQ(proof_age(proof, "2026-11-28T05:59:59Z"), std::nullopt);
  EXPECT_EQ(proof_age(proof, "today"), std::nullopt);
}

}  // namespace
}  // namespace bench
