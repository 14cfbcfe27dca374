// SPDX-License-Identifier: Apache-2.0
// `tune` and `sample_method`: how a case is timed, which is not part of its id.
#include "harness/config/load.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

Result<Plan, std::vector<Diagnostic>> load_timing(const std::string& text) {
  LoadRequest request;
  request.read = [text](const std::string&) -> Result<std::string> { return text; };
  request.arguments = {"a.yaml"};
  return load_plan(request);
}

std::int64_t tune_of(const std::string& value) {
  const auto plan =
      load_timing("version: 1\ncases: [{ op: gemm, m: 4, n: 4, k: 4, tune: " + value + " }]\n");
  EXPECT_TRUE(plan.ok()) << value;
  return plan.ok() ? plan->cases.at(0).measure.tune : -1;
}

TEST(Load, TuneIsAFlagOrTheNumberOfCandidates) {
  EXPECT_EQ(tune_of("false"), 0);
  EXPECT_EQ(tune_of("true"), 8);
  EXPECT_EQ(tune_of("0"), 0);
  EXPECT_EQ(tune_of("12"), 12);
  for (const char* value : {"-1", "1001", "1.5", "yes", "[1]", "\"true\""}) {
    const auto plan = load_timing(
        fmt::format("version: 1\ncases: [{{ op: gemm, m: 4, n: 4, k: 4, tune: {} }}]\n", value));
    ASSERT_FALSE(plan.ok()) << value;
    EXPECT_NE(plan.error().at(0).message().find("tune"), std::string::npos);
  }
}

TEST(Load, SampleMethodIsAWord) {
  const auto method_of = [](const char* value) {
    return load_timing(fmt::format(
        "version: 1\ncases: [{{ op: gemm, m: 4, n: 4, k: 4, sample_method: {} }}]\n", value));
  };
  EXPECT_EQ(method_of("graph")->cases.at(0).measure.sample_method, ops::SampleMethod::graph);
  EXPECT_EQ(method_of("any")->cases.at(0).measure.sample_method, ops::SampleMethod::any);
  const auto wrong = method_of("grahp");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().at(0).message().find("did you mean `graph`"), std::string::npos);
}

TEST(Load, HowIsSampledIsOfTheHashOnADeviceAlone) {
  const std::string start = "version: 1\ncases: [{ op: gemm, m: 4, n: 4, k: 4, device: [cpu, cuda]";
  const auto plain = load_timing(start + ", sample_method: any }]\n");
  const auto graph = load_timing(start + ", sample_method: graph }]\n");
  ASSERT_TRUE(plain.ok() && graph.ok());
  EXPECT_EQ(plain->cases.at(0).hash, graph->cases.at(0).hash);
  EXPECT_EQ(plain->cases.at(1).id, graph->cases.at(1).id);
  EXPECT_NE(plain->cases.at(1).hash, graph->cases.at(1).hash);
  EXPECT_NE(plain->hash, graph->hash);
}

TEST(Load, TuneIsOfTheHashIfItChoosesWhatComputes) {
  const std::string start = "version: 1\ncases: [{ op: gemm, m: 4, n: 4, k: 4, device: [cpu, cuda]";
  const auto plain = load_timing(start + " }]\n");
  const auto tuned = load_timing(start + ", tune: 4 }]\n");
  ASSERT_TRUE(plain.ok() && tuned.ok());
  for (const std::size_t device : {0u, 1u}) {
    EXPECT_EQ(plain->cases.at(device).id, tuned->cases.at(device).id);
    EXPECT_NE(plain->cases.at(device).hash, tuned->cases.at(device).hash);
  }
  EXPECT_NE(plain->hash, tuned->hash);
}

}  // namespace
}  // namespace bench
