// SPDX-License-Identifier: Apache-2.0
// `bench profile` on an ordinary program with NVTX ranges. No GPU is needed.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace bench::test::nvtx_capture_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

class NvtxCapture : public ::testing::Test {
 protected:
  ProgramResult run(const Words& command, std::map<std::string, std::string> environment = {}) {
    environment.emplace("OMP_NUM_THREADS", "1");
    return run_program({command, folder_.path(), std::move(environment)});
  }

  ProgramResult profile(const Words& words, const Words& options = {},
                        std::map<std::string, std::string> environment = {}) {
    Words command{BENCH_BINARY, "profile", "--force", "--out", "p.jsonl"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", BENCH_NVTX_ANNOTATED});
    command.insert(command.end(), words.begin(), words.end());
    return run(command, std::move(environment));
  }

  // Without the times of the processes, which every profile contains.
  std::vector<json> activities() const {
    std::vector<json> found = records_of_kind(read_text(folder_.file("p.jsonl")), "activity");
    std::erase_if(found, [](const json& activity) { return activity["kind"] == "process"; });
    return found;
  }

  // "name scope" of each range, in the order in which they ended.
  Words ranges() const {
    Words texts;
    for (const json& activity : activities()) {
      if (activity["kind"] != "range") continue;
      const std::string scope = activity.value("scope", "");
      texts.push_back(activity["name"].get<std::string>() + (scope.empty() ? "" : " " + scope));
    }
    return texts;
  }

  json range(const std::string& name) const {
    for (json& activity : activities()) {
      if (activity["name"] == name) return std::move(activity);
    }
    ADD_FAILURE() << "no activity " << name;
    return json::object();
  }

  TemporaryFolder folder_;
};

std::int64_t end_time(const json& activity) {
  return activity.at("start_ns").get<std::int64_t>() +
         activity.at("duration_ns").get<std::int64_t>();
}

TEST_F(NvtxCapture, LeavesOutputAndStatusOfTheProgramAsTheyAre) {
  const Words words = {"print", "one", "push", "a", "pop", "levels", "print", "two", "exit", "7"};
  const ProgramResult profiled = profile(words);
  EXPECT_EQ(profiled.status, 7);
  // The levels are those that NVTX documents: 0 and 1 for the pushes, 1 and 0 for the pops, then an
  // error.
  EXPECT_EQ(profiled.out, "one\n0 1 1 0 1\ntwo\n");
  EXPECT_THAT(profiled.err, HasSubstr("3 NVTX ranges, 4 activities"));
  EXPECT_THAT(profiled.err, HasSubstr("bench analyze p.jsonl --kind range"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("p.jsonl.spool")));
}

TEST_F(NvtxCapture, AProgramThatUsesAllKeysKeepsItsValues) {
  const ProgramResult profiled = profile({"keys"});
  EXPECT_EQ(profiled.status, 0) << profiled.err;
  EXPECT_EQ(profiled.out, "kept\n");
  EXPECT_THAT(ranges(), ElementsAre("without a key"));
}

TEST_F(NvtxCapture, RangesNestAndLayersAreScopes) {
  ASSERT_EQ(profile({"push", "step", "push", "layer:encoder", "push", "layer:a:b", "pop", "pop",
                     "push", "plain", "pop", "pop"})
                .status,
            0);
  EXPECT_THAT(ranges(), ElementsAre(R"(a:b encoder:a\:b)", "encoder encoder", "plain", "step"));
  const json outer = range("step");
  const json inner = range("a:b");
  EXPECT_LE(outer["start_ns"], inner["start_ns"]);
  EXPECT_LE(end_time(inner), end_time(outer));
  EXPECT_EQ(inner["pid"], inner["tid"]);
}

TEST_F(NvtxCapture, PrimitivesHaveTheLayerOfTheirThread) {
  const ProgramResult result = profile({"push", "layer:head", "relu", "pop", "relu"});
  EXPECT_THAT(result.err, HasSubstr("2 primitives executed"));
  EXPECT_THAT(result.err, HasSubstr("1 NVTX range,"));
  Words scopes;
  for (const json& activity : activities()) {
    if (activity["kind"] == "primitive" && activity["attributes"]["phase"] == "exec") {
      scopes.push_back(activity.value("scope", ""));
    }
  }
  EXPECT_THAT(scopes, ElementsAre("head", ""));
  const ProgramResult table =
      run({BENCH_BINARY, "analyze", "p.jsonl", "--aggregate-by", "layer", "--json"});
  EXPECT_THAT(table.out, HasSubstr("\"head\""));
}

TEST_F(NvtxCapture, WideTextsDomainsCategoriesPayloadsMarksAndNames) {
  ASSERT_EQ(profile({"name", "main", "wide", "pop", "mark", "here", "domain", "across"}).status, 0);
  EXPECT_THAT(ranges(), ElementsAre("Größe\uFFFD", "registered", "around", "across"));
  const json registered = range("registered");
  EXPECT_EQ(registered["attributes"]["domain"], "library");
  EXPECT_EQ(registered["attributes"]["auxiliary"], "category:io payload:-42");
  EXPECT_EQ(registered["attributes"]["thread_name"], "main");
  EXPECT_FALSE(range("around")["attributes"].contains("domain"));
  EXPECT_EQ(range("here")["kind"], "marker");
  EXPECT_GE(range("across")["duration_ns"], 0);
}

TEST_F(NvtxCapture, ThreadsHaveRangesAndNamesOfTheirOwn) {
  ASSERT_EQ(profile({"push", "layer:main", "threads", "pop"}).status, 0);
  Words names = ranges();
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, ElementsAre("main main", "step worker", "step worker", "worker worker",
                                 "worker worker"));
  std::set<std::int64_t> threads;
  for (const json& activity : activities()) {
    if (activity["scope"] != "worker") continue;
    threads.insert(activity["tid"].get<std::int64_t>());
    EXPECT_EQ(activity["attributes"]["thread_name"], "worker");
    // The threads end inside the range `layer:worker`, so that it is unfinished.
    EXPECT_EQ(activity["attributes"].contains("unfinished"), activity["name"] == "worker");
  }
  EXPECT_EQ(threads.size(), 2U);
}

TEST_F(NvtxCapture, ChildrenByForkAndByExec) {
  const ProgramResult result = profile(
      {"push", "layer:parent", "fork", "pop", "self", "push", "layer:other", "pop", "exit", "3"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, Not(HasSubstr("malformed")));
  EXPECT_THAT(result.err, Not(HasSubstr("had not begun")));
  Words texts = ranges();
  std::sort(texts.begin(), texts.end());
  EXPECT_THAT(texts, ElementsAre("in child parent", "left open", "other other", "parent parent"));
  EXPECT_EQ(range("left open")["attributes"]["unfinished"], 1);
  EXPECT_FALSE(range("left open").contains("duration_ns"));
  std::set<std::int64_t> processes;
  for (const json& activity : activities()) processes.insert(activity["pid"].get<std::int64_t>());
  EXPECT_EQ(processes.size(), 3U);
}

TEST_F(NvtxCapture, AKilledProgramLeavesWhatItHad) {
  EXPECT_EQ(profile({"push", "outer", "push", "inner", "pop", "kill"}).status, 128 + 9);
  EXPECT_THAT(ranges(), ElementsAre("inner", "outer"));
  EXPECT_EQ(range("outer")["attributes"]["unfinished"], 1);
}

TEST_F(NvtxCapture, AToolOfTheUserKeepsTheRanges) {
  const ProgramResult result = profile(
      {"push", "a", "pop"}, {},
      {{"NVTX_INJECTION64_PATH", BENCH_NVTX_INJECTION}, {"BENCH_NVTX_LOG", folder_.file("log")}});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr(BENCH_NVTX_INJECTION));
  EXPECT_THAT(read_text(folder_.file("log")), HasSubstr("push a"));
  EXPECT_THAT(result.err, HasSubstr("nothing captured"));
}

TEST_F(NvtxCapture, AWindowOfANameHoldsWhatBeginsInIt) {
  const Words words = {"relu",  "push", "step", "relu",    "pop", "push",
                       "other", "pop",  "push", "layer:x", "pop"};
  EXPECT_THAT(profile(words, {"--window", "nvtx:step"}).err, HasSubstr("1 primitive executed"));
  EXPECT_THAT(ranges(), ElementsAre("step"));
  profile(words, {"--window", "nvtx:layer:x"});
  EXPECT_THAT(ranges(), ElementsAre("x x"));
}

TEST_F(NvtxCapture, AWindowOfIterationsHoldsExactlyThese) {
  Words words;
  for (int i = 0; i < 30; ++i) words.insert(words.end(), {"push", "step", "relu", "pop"});
  const ProgramResult result = profile(words, {"--window", "20-25"});
  EXPECT_THAT(result.err, HasSubstr("6 primitives executed"));
  EXPECT_EQ(ranges().size(), 6U);
  words.insert(words.begin(), {"push", "epoch"});  // now there is one outermost range
  profile(words, {"--window", "nvtx:step", "--window", "20-25"});
  EXPECT_EQ(ranges().size(), 6U);
  profile(words, {"--window", "0-0"});
  EXPECT_EQ(ranges().size(), 31U);
}

TEST_F(NvtxCapture, IterationsOfTheTableOfSwitchesAreRangesByTheirNumbers) {
  Words words;
  for (int i = 0; i < 6; ++i) words.insert(words.end(), {"push", "step", "relu", "pop"});
  profile(words, {"--profile-iterations", "2-4"});
  EXPECT_EQ(ranges().size(), 3U);
  profile(words, {}, {{"BENCH_PROFILE_ITERATIONS", "5"}});
  EXPECT_EQ(ranges().size(), 1U);
  profile(words, {"--window", "nvtx:step", "--profile-iterations", "1-4"});
  EXPECT_EQ(ranges().size(), 4U);
  profile(words, {"--window", "0-1"}, {{"BENCH_PROFILE_ITERATIONS", "5"}});
  EXPECT_EQ(ranges().size(), 2U) << "the command line wins";
  const ProgramResult twice = profile(words, {"--window", "0-1", "--profile-iterations", "5"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("--window and --profile-iterations: both select the ranges"));
}

TEST_F(NvtxCapture, AWindowOfTheCudaProfilersCalls) {
  const ProgramResult result = profile(
      {"push", "a", "pop", "cuda", "on", "push", "b", "pop", "cuda", "off", "push", "c", "pop"},
      {"--window", "cuda-profiler-api"});
  EXPECT_EQ(result.out, "1001\n1002\n");  // results of the runtime's own functions
  EXPECT_THAT(ranges(), ElementsAre("b"));
}

TEST_F(NvtxCapture, SaysWhyAWindowIsEmpty) {
  EXPECT_THAT(profile({"push", "a", "pop"}, {"--window", "nvtx:step"}).err,
              HasSubstr("the window (ranges named `step`) never opened: 1 NVTX range began"));
  EXPECT_THAT(profile({"push", "a", "pop"}, {"--window", "cuda-profiler-api"}).err,
              HasSubstr("cudaProfilerStart was not observed"));
  const ProgramResult wrong = profile({"push", "a", "pop"}, {"--window", "step"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--window"));
  EXPECT_THAT(wrong.err, HasSubstr("nvtx:NAME"));
}

TEST_F(NvtxCapture, AMarkerOfPyProfHasTheWorkOfWhatItSurrounds) {
  ASSERT_EQ(profile({"push",
                     "{'mod': 'torch.nn.functional', 'op': 'relu', 'args': [{'name': '', 'type': "
                     "'tensor', 'shape': (32, 64, 112, 112), 'dtype': 'float16'}]}",
                     "push", "aten::relu, seq = 2, op_id = 63, sizes = [[32, 64, 112, 112]]", "pop",
                     "pop"})
                .status,
            0);
  EXPECT_THAT(ranges(), ElementsAre("aten::relu", "relu"));
  EXPECT_FALSE(range("aten::relu")["attributes"].contains("flops"));
  const json attributes = range("relu")["attributes"];
  EXPECT_EQ(attributes["module"], "torch.nn.functional");
  EXPECT_EQ(attributes["parameters"], "relu-32x64x112x112");
  EXPECT_EQ(attributes["dtype"], "f16");
  EXPECT_EQ(attributes["flops"], 25690112);
  EXPECT_EQ(attributes["bytes"], 102760448);
}

// Replays ranges that PyTorch 2.15 wrote during a step of training and an inference.
class PytorchRanges : public NvtxCapture {
 protected:
  void SetUp() override {
    const std::string file =
        std::string(BENCH_SOURCE_DIR) + "/tests/nvtx/data/pytorch_2.15_emit_nvtx.txt";
    ASSERT_EQ(profile({"replay", file}).status, 0);
  }

  // The FLOPs of the ranges of this name that have work.
  std::vector<std::int64_t> flops(const std::string& name) const {
    std::vector<std::int64_t> found;
    for (const json& activity : activities()) {
      if (activity["name"] == name && activity["attributes"].contains("flops")) {
        found.push_back(activity["attributes"]["flops"].get<std::int64_t>());
      }
    }
    return found;
  }
};

TEST_F(PytorchRanges, OperatorsHaveShapesLayersAndDirections) {
  const json convolution = range("aten::conv2d");
  EXPECT_EQ(convolution["scope"], "stem");
  EXPECT_EQ(convolution["direction"], "forward");
  EXPECT_EQ(convolution["attributes"]["sequence"], 0);
  EXPECT_EQ(convolution["attributes"]["in_shapes"], "2x3x32x32 8x3x7x7");
  EXPECT_EQ(convolution["attributes"]["out_shapes"], "2x8x16x16");
  const json backward = range("aten::threshold_backward");
  EXPECT_EQ(backward["direction"], "backward");
  EXPECT_EQ(backward["scope"], R"(body:a\:b)");
  EXPECT_EQ(range("ConvolutionBackward0")["attributes"]["sequence"], 4);
}

TEST_F(PytorchRanges, WorkIsCountedOnceByTheWorkModel) {
  // 2*2*8*16*16*3*7*7, and depthwise with a bias 2*2*8*8*8*3*3 + 2*8*8*8. The ranges inside have
  // none.
  EXPECT_THAT(flops("aten::conv2d"), ElementsAre(1204224, 19456));
  EXPECT_THAT(flops("aten::_convolution"), IsEmpty());
  EXPECT_THAT(flops("aten::linear"), ElementsAre(340));
  EXPECT_THAT(flops("aten::addmm"), IsEmpty());
  EXPECT_THAT(flops("aten::mm"), ElementsAre(320, 320));
  EXPECT_THAT(flops("aten::adaptive_avg_pool2d"), ElementsAre(1024));
  EXPECT_THAT(flops("aten::conv_transpose2d"), ElementsAre(32768));
  EXPECT_THAT(flops("aten::bmm"), ElementsAre(240));
  // 10 per element: the statistics of the batch show that it trains.
  EXPECT_THAT(flops("aten::native_batch_norm_backward"), ElementsAre(40960));
  // The shapes do not determine the work of these operators.
  EXPECT_THAT(flops("aten::batch_norm"), IsEmpty());
  EXPECT_THAT(flops("aten::max_pool2d"), IsEmpty());
  EXPECT_THAT(flops("aten::gelu"), IsEmpty());
}

TEST_F(PytorchRanges, AnalyzeShowsThemWithNothingWhereNothingIsKnown) {
  const ProgramResult result = run({BENCH_BINARY, "analyze", "p.jsonl", "--kind", "range", "--name",
                                    "^aten::(conv2d|gelu)$", "--json"});
  EXPECT_EQ(result.status, 0) << result.err;
  const json document = json::parse(result.out);
  ASSERT_EQ(document["rows"].size(), 3U);
  for (const json& row : document["rows"]) {
    const bool is_known = row.contains("flops") && !row["flops"].is_null();
    EXPECT_EQ(is_known, row["name"] == "aten::conv2d") << row.dump();
  }
}

}  // namespace
}  // namespace bench::test::nvtx_capture_test
