// SPDX-License-Identifier: Apache-2.0
#include "harness/store/proof_file.hpp"

#include "base/file.hpp"
#include "harness/store/store.hpp"
#include "tests/fakes/proof_sample.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::sample_proof;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProofRecord, IsReadBack) {
  ProofOfLife proof = sample_proof();
  proof.injected->measured = -0.01;
  const auto again = proof_from_json_line(to_json_line(proof));
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(*again, proof);
  EXPECT_THAT(to_json_line(proof),
              HasSubstr(R"("record":"proof","schema":"bench.proof/1","run_id":"s1",)"));
}

TEST(ProofRecord, WithoutRatesIsReadBack) {
  ProofOfLife proof = sample_proof();
  proof.suites = proof.red_suites = 0;
  proof.power.clear();
  proof.injected.reset();
  const auto again = proof_from_json_line(to_json_line(proof));
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(*again, proof);
}

TEST(ProofRecord, WithImpossibleValuesIsRefused) {
  const auto refused = [](const auto& change) {
    ProofOfLife proof = sample_proof();
    change(proof);
    return !proof_from_json_line(to_json_line(proof)).ok();
  };
  EXPECT_FALSE(refused([](ProofOfLife&) {}));
  EXPECT_TRUE(refused([](ProofOfLife& proof) { proof.red_suites = 1001; }));
  EXPECT_TRUE(refused([](ProofOfLife& proof) { proof.power[0].found = 1001; }));
  EXPECT_TRUE(refused([](ProofOfLife& proof) { proof.power[1].slowdown = 0.02; }));
  EXPECT_TRUE(refused([](ProofOfLife& proof) { proof.time = "yesterday"; }));
  EXPECT_FALSE(proof_from_json_line("{}").ok());
}

TEST(ProofRecord, OfAMergedFileIsTheLatest) {
  ProofOfLife later = sample_proof();
  later.time = "2026-11-29T06:00:00Z";
  const auto latest =
      parse_proofs(to_json_line(later) + "\n" + to_json_line(sample_proof()) + "\n", "f");
  ASSERT_TRUE(latest.ok() && *latest);
  EXPECT_EQ((*latest)->time, later.time);
  const auto wrong = parse_proofs("\n{}\n", "f");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message(), HasSubstr("f:2"));
}

class ProofOfStore : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }

 private:
  const test::TemporaryFolder folder_;
};

TEST_F(ProofOfStore, IsNoBaseline) {
  const BaselineStore store(path("own"));
  const auto none = store.proof("class-2c");
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, std::nullopt);
  const auto written = store.set_proof(sample_proof());
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_EQ(*written, path("own") + "/class-2c/selftest.jsonl");
  const auto found = store.proof("class-2c");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, sample_proof());
  EXPECT_EQ(store.foreign_content(), std::nullopt);  // a store in which nothing else is yet
  EXPECT_FALSE(store.holds("class-2c"));
  const auto files = store.list();
  ASSERT_TRUE(files.ok());
  EXPECT_TRUE(files->empty());
}

TEST_F(ProofOfStore, WithABadLineIsAProblemOfTheStore) {
  const BaselineStore store(path("own"));
  const auto written = store.set_proof(sample_proof());
  ASSERT_TRUE(written.ok());
  EXPECT_THAT(store.proof_problems(), IsEmpty());
  ASSERT_TRUE(write_file(*written, "{}\n", Existing::replace));
  EXPECT_FALSE(store.proof("class-2c").ok());
  EXPECT_THAT(store.proof_problems(), ElementsAre(HasSubstr("selftest.jsonl:1")));
}

TEST_F(ProofOfStore, ReplacesTheOneBefore) {
  const BaselineStore store(path("own"));
  ASSERT_TRUE(store.set_proof(sample_proof()).ok());
  ProofOfLife later = sample_proof();
  later.time = "2026-11-29T06:00:00Z";
  const auto written = store.set_proof(later);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(read_file(*written, 1 << 20).value(), to_json_line(later) + "\n");
}

}  // namespace
}  // namespace bench
