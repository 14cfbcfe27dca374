// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"
#include "harness/cli/explain_sections.hpp"
#include "ops/regret.hpp"
#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace bench {
namespace {

constexpr const char* kConv = "conv/forward/n1c64h56w56k64r3s3p1/f32/onednn/cpu/hot";

PreparedReply tuned_reply() {
  PreparedReply prepared;
  prepared.details = {{"tuned", "default 560.0 us, chosen 500.0 us: 2 of 3"}};
  add_details(ops::Regret{"jit:avx512_core",
                          Nanoseconds(560'000),
                          "brgconv:avx512_core",
                          Nanoseconds(500'000),
                          {{"jit:avx512_core", Nanoseconds(560'000), ""},
                           {"brgconv:avx512_core", Nanoseconds(500'000), ""},
                           {"gemm:jit", std::nullopt, "not enough memory"}}},
              prepared.details);
  return prepared;
}

Case tuned_case(const char* id) {
  Case spec = test::make_case(id);
  spec.measure.tune = 8;
  return spec;
}

TEST(ChoiceSection, ShowsWhatTheChoiceCostsAndAllCandidates) {
  EXPECT_EQ(format_choice(tuned_case(kConv), tuned_reply()),
            "\nchoice\n"
            "  jit:avx512_core was chosen; brgconv:avx512_core is 12 % faster: the choice costs 12 "
            "%\n"
            "    jit:avx512_core      560.0 us  chosen\n"
            "    brgconv:avx512_core  500.0 us  best\n"
            "    gemm:jit             failed: not enough memory\n");
}

TEST(ChoiceSection, NamesTheCachesIfTheyAreNotThoseOfTheCase) {
  PreparedReply prepared = tuned_reply();
  prepared.details["tuned_caches"] = "hot, other than those of the case";
  EXPECT_NE(format_choice(tuned_case(kConv), prepared)
                .find("\n  measured with caches hot, other than those of the case\n    jit"),
            std::string::npos);
}

TEST(ChoiceSection, WithoutAnotherCandidateItNamesNoCaches) {
  PreparedReply prepared;
  add_details(ops::Regret{"gemm:jit",
                          Nanoseconds(560'000),
                          "gemm:jit",
                          Nanoseconds(560'000),
                          {{"gemm:jit", Nanoseconds(560'000), ""}}},
              prepared.details);
  prepared.details["tuned_caches"] = "hot, other than those of the case";
  EXPECT_EQ(format_choice(tuned_case(kConv), prepared).find("measured with caches"),
            std::string::npos);
}

TEST(ChoiceSection, SaysWhyNothingWasMeasuredAndWhatToDo) {
  PreparedReply prepared;
  prepared.details = {{"tune", "8"}, {"tuned", "no: not enough memory"}};
  EXPECT_EQ(format_choice(tuned_case(kConv), prepared),
            "\nchoice\n"
            "  no other candidate was measured\n"
            "  not enough memory;\n"
            "  remove the cause (if it is memory, free some or choose a smaller shape) and run the "
            "case again\n");
}

// The section was empty.
TEST(ChoiceSection, SaysWhyACaseWithTuneHasNoChoice) {
  Case products = test::make_case("gemm/forward/m4n4k4/f32/openblas/cpu/hot");
  products.measure.tune = 8;
  EXPECT_EQ(format_choice(products, {}),
            "\nchoice\n"
            "  no other candidate was measured\n"
            "  the backend `openblas` offers no choice;\n"
            "  to compare libraries, give the case several backends and run `bench compare RESULT "
            "--by backend`\n");
}

TEST(ChoiceSection, OneCandidateIsNoComparison) {
  PreparedReply prepared;
  prepared.details = {{"tune", "8"}, {"tuned", "default 1.297 us, kept: 1 of 1"}};
  add_details(ops::Regret{"jit:blk",
                          Nanoseconds(1297),
                          "jit:blk",
                          Nanoseconds(1297),
                          {{"jit:blk", Nanoseconds(1297), ""}}},
              prepared.details);
  EXPECT_EQ(format_choice(tuned_case(kConv), prepared),
            "\nchoice\n"
            "  jit:blk was chosen; no other candidate was measured\n"
            "  the library offers no other candidate;\n"
            "  to compare libraries, give the case several backends and run `bench compare RESULT "
            "--by backend`\n"
            "    jit:blk  1.297 us  chosen\n");
}

TEST(ChoiceSection, WithoutTuneNamesTheOptionWhereThereIsAChoice) {
  EXPECT_EQ(format_choice(test::make_case(kConv), {}),
            "\nchoice\n"
            "  the library's own; `--set tune=true` measures its other candidates too\n");
  EXPECT_EQ(format_choice(test::make_case("gemm/forward/m4n4k4/f32/openblas/cpu/hot"), {}), "");
  Case network = test::make_case(kConv);
  network.work = std::shared_ptr<const ops::Network>();
  EXPECT_EQ(format_choice(network, {}), "");
}

TEST(ChoiceSection, IsAFieldOfTheJson) {
  std::string text;
  JsonWriter writer(text);
  write_choice(writer, {});
  EXPECT_EQ(text, "");
  write_choice(writer, tuned_reply());
  EXPECT_EQ(text, R"("regret":{"chosen":"jit:avx512_core","chosen_ns":560000,)"
                  R"("best":"brgconv:avx512_core","best_ns":500000,"candidates":[)"
                  R"({"name":"jit:avx512_core","time_ns":560000},)"
                  R"({"name":"brgconv:avx512_core","time_ns":500000},)"
                  R"({"name":"gemm:jit","reason":"not enough memory"}]})");
}

}  // namespace
}  // namespace bench
