// SPDX-License-Identifier: Apache-2.0
// Cases with streams, from the configuration to reports. Expects nothing about how fast they are.
#include "harness/host/placement.hpp"
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench::test::serving_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kGemm = "gemm/forward/b2m64n64k64/f32/onednn/cpu/hot";

class ServingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!place_streams({2, 2}, allowed_cores())) GTEST_SKIP() << "needs two processors";
  }
  ProgramResult bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), {{"BENCH_LOCK", ""}}});
  }
  ProgramResult run_case(const std::string& id, std::vector<std::string> settings) {
    std::vector<std::string> arguments = {"run", id, "--out", "r.jsonl", "--force", "--quick"};
    settings.insert(settings.end(), {"measure.max_time=50ms", "warmup.time=1ms"});
    for (std::string& setting : settings)
      arguments.insert(arguments.end(), {"--set", std::move(setting)});
    return bench(std::move(arguments));
  }
  std::vector<nlohmann::json> records(const std::string& kind) const {
    return records_of_kind(read_text(folder_.file("r.jsonl")), kind);
  }

  TemporaryFolder folder_;
};

TEST_F(ServingTest, ARunAnswersHowManyPerSecondAtWhatLatency) {
  const ProgramResult result = run_case(kGemm, {"threads=2", "streams=[1, 2]"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("gemm b2m64n64k64: "));
  EXPECT_THAT(result.out, HasSubstr(" items/s with "));
  EXPECT_THAT(result.out, HasSubstr("served case"));
  const auto cases = records("case");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_FALSE(cases[0].contains("latency"));
  const nlohmann::json& served = cases[1];
  EXPECT_EQ(served.at("id"), std::string(kGemm) + "/t2/st2");
  EXPECT_EQ(served.at("streams"), 2);
  EXPECT_EQ(served.at("items"), 2) << "matrices of the batch";
  EXPECT_EQ(served.at("outcome"), "ok");
  EXPECT_THAT(served.at("check").get<std::string>(), HasSubstr("the same in all 2 streams"));
  const auto median = served.at("time").at("median_ns").get<double>();
  EXPECT_DOUBLE_EQ(served.at("rates").at("items_per_s").get<double>(), 2e9 / median);
  const nlohmann::json& latency = served.at("latency");
  EXPECT_LE(latency.at("p50_ns"), latency.at("p90_ns"));
  EXPECT_LE(latency.at("p90_ns"), latency.at("p99_ns"));
  std::int64_t iterations = 0;
  for (const auto& process : records("process")) {
    if (!process.contains("latencies")) continue;
    for (const std::int64_t count : process.at("latencies").at("counts")) iterations += count;
  }
  EXPECT_EQ(latency.at("iterations"), iterations);
  EXPECT_THAT(result_file_problems(read_text(folder_.file("r.jsonl"))), testing::IsEmpty());
}

TEST_F(ServingTest, ReportsAndComparisonsKnowStreams) {
  ASSERT_EQ(run_case(kGemm, {"threads=2", "streams=[1, 2]"}).status, 0);
  ASSERT_EQ(bench({"report", "r.jsonl", "-o", "page.html"}).status, 0);
  EXPECT_THAT(read_text(folder_.file("page.html")), HasSubstr("throughput by streams"));
  ASSERT_EQ(bench({"report", "r.jsonl", "-o", "table.md"}).status, 0);
  EXPECT_THAT(read_text(folder_.file("table.md")), HasSubstr("| items/s | p50 | p90 | p99 |"));
  const ProgramResult csv =
      bench({"report", "r.jsonl", "--format", "csv", "--columns", "streams,items_per_s,p99_ns"});
  EXPECT_EQ(csv.status, 0) << csv.err;
  const ProgramResult compared = bench({"compare", "r.jsonl", "--by", "streams"});
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("streams=2"));
}

TEST_F(ServingTest, NativeKernelsAndColdCachesHaveStreams) {
  const ProgramResult result =
      run_case("rms_norm/forward/64x256/f32/native/cpu/cold", {"threads=2", "streams=2"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_TRUE(records("case").front().contains("latency"));
}

TEST_F(ServingTest, WrongInputsAreAnsweredWithTheNextStep) {
  const ProgramResult more = run_case(kGemm, {"threads=2", "streams=4"});
  EXPECT_EQ(more.status, 2);
  EXPECT_THAT(more.err, HasSubstr("4 streams need at least 4 threads, found 2; use `streams: 2` or "
                                  "fewer, or `threads: 4` or more"));
  EXPECT_EQ(run_case(kGemm, {"streams=0"}).status, 2);
  const ProgramResult all = run_case(kGemm, {"streams=4096"});
  EXPECT_EQ(all.status, 0) << "a skipped case is not a failure";
  EXPECT_THAT(all.out, HasSubstr("4096 streams need at least 4096 threads"));
  const ProgramResult gpu = bench({"list", "gemm/forward/m64n64k64/f32/cublaslt/cuda/hot/st2"});
  EXPECT_THAT(gpu.out, HasSubstr("no"));
}

TEST_F(ServingTest, ExplainNamesTheProcessorsOfEachStream) {
  const ProgramResult result = bench({"explain", std::string(kGemm) + "/t2/st2"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 instances side by side, each with its own buffers"));
  EXPECT_THAT(result.out, HasSubstr("stream 2     1 thread on processors "));
}

TEST_F(ServingTest, AProfileShowsOneInstance) {
  const ProgramResult result = bench({"run", std::string(kGemm) + "/t2/st2", "--out", "r.jsonl",
                                      "--quick", "--profile", "--set", "measure.max_time=20ms"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(records("profile_pass").front().at("details").at("streams").get<std::string>(),
              StartsWith("one of 2, alone on its threads"));
}

}  // namespace
}  // namespace bench::test::serving_test
