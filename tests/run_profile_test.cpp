// SPDX-License-Identifier: Apache-2.0
// What `bench run --profile` prints and its `--json` document contains, and which source of a
// switch takes precedence: option, environment, YAML.
#include "harness/result/report.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::run_profile_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

constexpr const char* kConv = "conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot/t1";
constexpr const char* kPair = "network/forward/pair/f32/onednn/cpu/hot/t1";
constexpr const char* kNetwork = R"(version: 1
network: pair
input: { c: 4, h: 8 }
layers:
  - { name: first, op: conv, k: 4, r: 3, pad: 1 }
  - { name: second, op: pool, function: max, window: 2 }
)";
constexpr const char* kDefaults = R"(version: 1
name: profiled
defaults: { threads: 1, warmup: { iterations: 2, time: 0ms },
            measure: { processes: 1, min_iterations: 4, max_time: 2ms } }
)";
constexpr const char* kConvCase = "cases:\n  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1 }\n";
constexpr const char* kPairCase = "  - { network: pair, measure: [network] }\n";

class RunProfile : public testing::Test {
 protected:
  ProgramResult run(const std::string& config, const Words& more,
                    std::map<std::string, std::string> environment = {}) {
    folder_.write("networks/pair.yaml", kNetwork);
    folder_.write("profiled.yaml", config);
    Words command{BENCH_BINARY, "run", "profiled.yaml", "--out", "r.jsonl", "--force"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program({std::move(command), folder_.path(), std::move(environment)});
  }
  static std::string both() { return std::string(kDefaults) + kConvCase + kPairCase; }
  // Number of iterations that the profiling pass recorded.
  std::int64_t iterations() const {
    const auto report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl");
    if (!report.ok() || report->profile_passes.size() != 1) {
      ADD_FAILURE() << "no profiling pass";
      return -1;
    }
    return report->profile_passes[0].iterations;
  }

  TemporaryFolder folder_;
};

std::set<std::string> names(const json& rows) {
  std::set<std::string> found;
  for (const json& row : rows) found.insert(row.at("name"));
  return found;
}

TEST_F(RunProfile, PrintsOneTableByLayerAndWhatItCosts) {
  const ProgramResult result = run(both(), {"--profile", "--profile-iterations", "0-2"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(
      result.out,
      ContainsRegex("\nProfiling changed the time of 2 iterations, one of each case, by "
                    "[+-][0-9.]+ %: [0-9.]+ [mu]s with the profiler, [0-9.]+ [mu]s without, in the "
                    "same process. The table shows medians of the recorded iterations of each "
                    "case, and their shares of an iteration of the same case.\n"));
  EXPECT_THAT(result.out, ContainsRegex("\nlayer +ms +share % +GFLOP/s +% peak +implementation"));
  const std::string values = " +[0-9.]+ +[0-9.]+ +([0-9.]+|n/a) +([0-9.]+|n/a) +[a-z]";
  EXPECT_THAT(result.out, AllOf(ContainsRegex("\npair:first" + values),
                                ContainsRegex(std::string("\n") + kConv + values)));
  EXPECT_THAT(result.out, Not(HasSubstr("category api")));
  EXPECT_THAT(result.out, HasSubstr(" --aggregate-by type\n"));
}

TEST_F(RunProfile, JsonHoldsTheSummaryBesideTheReport) {
  const ProgramResult result =
      run(both(), {"--profile", "--profile-iterations", "0-2", "--json", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("profile_passes").size(), 2U);
  const json& summary = document.at("profile_summary");
  const json& attribution = summary.at("attribution");
  EXPECT_EQ(attribution.at("wall_ns").get<std::int64_t>(),
            attribution.at("attributed_ns").get<std::int64_t>() +
                attribution.at("unattributed_ns").get<std::int64_t>());
  EXPECT_GT(attribution.at("attributed_ns").get<std::int64_t>(), 0);
  EXPECT_THAT(names(summary.at("layers")),
              AllOf(Contains(kConv), Contains("pair:first"), Contains("pair:second")));
  EXPECT_THAT(names(summary.at("operators")), AllOf(Contains("convolution"), Contains("pooling")));
  EXPECT_THAT(names(summary.at("memory")), Contains("weights"));
  for (const json& row : summary.at("layers")) {
    if (row.at("name") == kConv) {
      EXPECT_EQ(row.at("count"), 3);
    }
  }
  const json plain = json::parse(run(both(), {"--json", "--quiet"}).out);
  EXPECT_FALSE(plain.contains("profile_summary"));
}

TEST_F(RunProfile, AnOptionBeatsTheEnvironmentAndThatTheConfiguration) {
  const std::string config = std::string(kDefaults) + "profile: { iterations: 0-1 }\n" + kConvCase;
  const std::map<std::string, std::string> environment = {{"BENCH_PROFILE_ITERATIONS", "0-2"}};
  ASSERT_EQ(run(config, {}).status, 0);
  EXPECT_EQ(iterations(), 2);
  ASSERT_EQ(run(config, {}, environment).status, 0);
  EXPECT_EQ(iterations(), 3);
  ASSERT_EQ(run(config, {"--profile-iterations", "0-3"}, environment).status, 0);
  EXPECT_EQ(iterations(), 4);
}

TEST_F(RunProfile, TheEnvironmentAloneStartsNoProfileAndAWrongValueNamesTheVariable) {
  const std::string unprofiled = std::string(kDefaults) + kConvCase;
  const ProgramResult plain = run(unprofiled, {}, {{"BENCH_PROFILE_ITERATIONS", "0-2"}});
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.out, Not(HasSubstr("attributed")));
  const ProgramResult wrong = run(unprofiled, {"--profile"}, {{"BENCH_PROFILE_ITERATIONS", "x"}});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("BENCH_PROFILE_ITERATIONS: `x`"));
}

}  // namespace
}  // namespace bench::test::run_profile_test
