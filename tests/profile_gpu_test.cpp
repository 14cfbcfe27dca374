// SPDX-License-Identifier: Apache-2.0
// `bench profile` on a program that uses CUDA and knows nothing of it. No GPU is needed: driver and
// CUPTI are those of fakes/fake_cuda.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench::test::profile_gpu_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

class ProfileGpu : public ::testing::Test {
 protected:
  ProgramResult profile(const Words& words, const Words& options = {}, Variables variables = {}) {
    Words command{BENCH_BINARY, "profile", "--force", "--out", "p.jsonl"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", BENCH_CUDA_PROGRAM});
    command.insert(command.end(), words.begin(), words.end());
    variables.emplace("BENCH_CUDA_LIBS", BENCH_FAKE_CUPTI);
    return run_program({command, folder_.path(), std::move(variables)});
  }

  std::vector<json> records(const std::string& kind) const {
    return records_of_kind(read_text(folder_.file("p.jsonl")), kind);
  }

  std::vector<json> activities(const std::string& kind) const {
    std::vector<json> found;
    for (json& activity : records("activity")) {
      if (activity["kind"] == kind) found.push_back(std::move(activity));
    }
    return found;
  }

  // "name scope" of each, in the order of the profile.
  Words places(const std::string& kind) const {
    Words texts;
    for (const json& activity : activities(kind)) {
      const std::string scope = activity.value("scope", "");
      texts.push_back(activity["name"].get<std::string>() + (scope.empty() ? "" : " " + scope));
    }
    return texts;
  }

  json kernel(const std::string& name, std::int64_t stream) const {
    for (json& activity : activities("kernel")) {
      if (activity["name"] == name && activity["stream"] == stream) return std::move(activity);
    }
    ADD_FAILURE() << "no kernel " << name << " on stream " << stream;
    return json::object();
  }

  TemporaryFolder folder_;
};

TEST_F(ProfileGpu, LeavesOutputAndStatusOfTheProgramAsTheyAre) {
  const ProgramResult result =
      profile({"init", "print", "one", "launch", "_Z4gemmv", "7", "exit", "7"});
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.out, "0\none\n");
  EXPECT_THAT(result.err, HasSubstr("bench profile: GPU 0: 1 kernel in 1.000 us, busy 100.0 % of "
                                    "the time from the first to the last kernel\n"));
  EXPECT_THAT(result.err, HasSubstr("bench profile: 1 kernel, "));
  EXPECT_THAT(result.err, HasSubstr("next: " BENCH_BINARY " analyze p.jsonl --kind kernel\n"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(ProfileGpu, KernelsAndCopiesHaveTheLayersThatAskedForThem) {
  const ProgramResult result =
      profile({"init", "push", "layer:encoder", "push", "layer:a:b", "launch", "_Z4gemmv", "7",
               "pop", "copy", "4096", "pop", "launch", "_Z4tailv", "7"});
  EXPECT_THAT(places("kernel"), ElementsAre(R"(gemm encoder:a\:b)", "tail"));
  const json copy = activities("memcpy").at(0);
  EXPECT_EQ(copy["scope"], "encoder");
  EXPECT_EQ(copy["attributes"]["size_bytes"], 4096);
  EXPECT_EQ(copy["duration_ns"], 2000);
  EXPECT_THAT(places("api"), ElementsAre(R"(cudaLaunchKernel encoder:a\:b)", "cudaMemcpy encoder",
                                         "cudaLaunchKernel"));
  EXPECT_THAT(result.err, HasSubstr("1 kernel belongs to no known operator"));
  const json gemm = kernel("gemm", 7);
  EXPECT_EQ(gemm["device"], 0);
  EXPECT_EQ(gemm["pid"], gemm["tid"]);
  EXPECT_EQ(gemm["attributes"]["grid"], "4,1,1");
  EXPECT_EQ(gemm["attributes"]["block"], "128,1,1");
  EXPECT_GT(gemm["attributes"]["occupancy"], 0);
  EXPECT_EQ(gemm["correlation"], activities("api").at(0)["correlation"]);
}

TEST_F(ProfileGpu, KernelsOfTwoThreadsOnTwoStreamsAreEachUnderTheirOwnOperator) {
  ASSERT_EQ(profile({"init", "threads"}).status, 0);
  for (const int i : {0, 1}) {
    const json product = kernel("gemm", 10 + i);
    const json& attributes = product["attributes"];
    EXPECT_EQ(attributes["op"], "gemm");
    EXPECT_EQ(attributes["sequence"], i);
    EXPECT_EQ(attributes["in_shapes"], i == 0 ? "4x8 8x2" : "8x8 8x2");
    EXPECT_EQ(attributes["flops"], 2 * 4 * (i + 1) * 8 * 2);
    EXPECT_FALSE(attributes.contains("bytes")) << "the data type is unknown";
    EXPECT_EQ(product["direction"], "forward");
    const json sum = kernel("add", 10 + i);
    EXPECT_EQ(sum["scope"], "branch" + std::to_string(i));
    EXPECT_FALSE(sum["attributes"].contains("op"));
    EXPECT_EQ(product["tid"], sum["tid"]);
  }
  EXPECT_NE(kernel("gemm", 10)["tid"], kernel("gemm", 11)["tid"]);
}

TEST_F(ProfileGpu, WorkOfAnOperatorIsCountedOnceAndNestedOnesBelongToIt) {
  ASSERT_EQ(profile({"init", "push", "aten::linear, seq = 3, sizes = [[4, 8], [2, 8], [2]]", "push",
                     "aten::addmm, seq = 3, sizes = [[2], [4, 8], [8, 2]]", "launch",
                     "_Z12splitKreducev", "7", "launch", "_Z4gemmv", "7", "pop", "pop", "push",
                     "aten::batch_norm, seq = 4, sizes = [[4, 8]]", "launch", "_Z2bnv", "7", "pop"})
                .status,
            0);
  std::int64_t flops = 0;
  for (const json& each : activities("kernel")) flops += each["attributes"].value("flops", 0);
  std::int64_t asked = 0;
  for (const json& each : activities("range")) asked += each["attributes"].value("flops", 0);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(flops, asked);
  EXPECT_EQ(kernel("splitKreduce", 7)["attributes"]["flops"], 0);
  EXPECT_EQ(kernel("splitKreduce", 7)["attributes"]["op"], "gemm");
  // An operator that is not understood has its name, but no numbers.
  EXPECT_EQ(kernel("bn", 7)["attributes"]["op"], "aten::batch_norm");
  EXPECT_FALSE(kernel("bn", 7)["attributes"].contains("flops"));
}

// A step of training and an inference, as recorded from PyTorch 2.15.
TEST_F(ProfileGpu, KernelsOfPytorchHaveOperatorsLayersAndWork) {
  ASSERT_EQ(profile({"init", "replay",
                     std::string(BENCH_SOURCE_DIR) + "/tests/nvtx/data/pytorch_2.15_emit_nvtx.txt"})
                .status,
            0);
  std::multiset<std::int64_t> products;
  std::set<std::string> backward;
  for (const json& each : activities("kernel")) {
    const json& attributes = each["attributes"];
    if (attributes.value("op", "") == "gemm" && attributes.contains("flops")) {
      products.insert(attributes["flops"].get<std::int64_t>());
    }
    if (each.value("direction", "") == "backward") backward.insert(each.value("scope", ""));
  }
  // Each of the two products of a backward pass has a kernel, and so has a batched one; `linear`
  // has several.
  EXPECT_EQ(products, (std::multiset<std::int64_t>{240, 320, 320}));
  EXPECT_TRUE(backward.contains(R"(body:a\:b)")) << ::testing::PrintToString(backward);
  const json convolution = activities("kernel").at(0);
  EXPECT_EQ(convolution["scope"], "stem");
  EXPECT_EQ(convolution["attributes"]["op"], "conv");
  EXPECT_EQ(convolution["attributes"]["flops"], 1204224);
  EXPECT_EQ(convolution["attributes"]["out_shapes"], "2x8x16x16");
}

TEST_F(ProfileGpu, TensorCoresAreJudgedForTheTracedDevice) {
  const std::string tensor = "{'name': '', 'type': 'tensor', 'shape': ";
  ASSERT_EQ(profile({"init", "push",
                     "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [" + tensor +
                         "(2, 64, 8, 8), 'dtype': 'float16'}, " + tensor +
                         "(64, 64, 1, 1), 'dtype': 'float16'}]}",
                     "launch", "_Z4convv", "7", "pop"})
                .status,
            0);
  const std::string verdict = activities("range").at(0)["attributes"]["tensor_cores"];
  EXPECT_THAT(verdict, ::testing::StartsWith("eligible ("));
  const json attributes = kernel("conv", 7)["attributes"];
  EXPECT_EQ(attributes["flops"], activities("range").at(0)["attributes"]["flops"]);
  EXPECT_EQ(attributes["bytes"], activities("range").at(0)["attributes"]["bytes"]);
  EXPECT_EQ(attributes["dtype"], "f16");
  EXPECT_FALSE(attributes.contains("tensor_cores")) << "its name says what it did";
}

TEST_F(ProfileGpu, TwoKernelsOfAMillisecondOneApartAreBusyForTwoThirds) {
  EXPECT_THAT(profile({"init", "busy"}).err,
              HasSubstr("GPU 0: 2 kernels in 2.000 ms, busy 66.7 %"));
}

TEST_F(ProfileGpu, WindowsHoldWhatWasLaunchedInThem) {
  const Words words = {"init",    "launch", "_Z5earlyv", "7",        "push", "step",   "launch",
                       "_Z3onev", "7",      "pop",       "push",     "step", "launch", "_Z3twov",
                       "7",       "pop",    "launch",    "_Z4latev", "7"};
  ASSERT_EQ(profile(words, {"--window", "nvtx:step"}).status, 0);
  EXPECT_THAT(places("kernel"), ElementsAre("one", "two"));
  EXPECT_THAT(places("api"), ElementsAre("cudaLaunchKernel", "cudaLaunchKernel"));
  ASSERT_EQ(profile(words, {"--window", "1-1"}).status, 0);
  EXPECT_THAT(places("kernel"), ElementsAre("two"));
  EXPECT_THAT(profile(words, {"--window", "nvtx:none"}).err,
              HasSubstr("; no device rows: no GPU activity is in the window"));
}

TEST_F(ProfileGpu, TheProfilersCallsOfAStaticRuntimeAreAWindow) {
  ASSERT_EQ(profile({"init",    "launch",   "_Z5earlyv", "7",    "cuda", "on",   "launch",
                     "_Z3onev", "7",        "push",      "in",   "pop",  "cuda", "off",
                     "launch",  "_Z4latev", "7",         "push", "out",  "pop"},
                    {"--window", "cuda-profiler-api"})
                .status,
            0);
  EXPECT_THAT(places("kernel"), ElementsAre("one"));
  EXPECT_THAT(places("range"), ElementsAre("in"));
}

TEST_F(ProfileGpu, ProcessesShareOneProfileAndOneClock) {
  const ProgramResult result =
      profile({"init", "launch", "_Z6parentv", "7", "self", "init", "launch", "_Z5childv", "7"});
  const json parent = kernel("parent", 7);
  const json child = kernel("child", 7);
  EXPECT_NE(parent["pid"], child["pid"]);
  EXPECT_LT(parent["start_ns"].get<std::int64_t>(), child["start_ns"].get<std::int64_t>());
  EXPECT_THAT(result.err, HasSubstr("GPU 0 of process " + parent["pid"].dump() + ": 1 kernel"));
  EXPECT_THAT(result.err, HasSubstr("GPU 0 of process " + child["pid"].dump() + ": 1 kernel"));
}

TEST_F(ProfileGpu, AForkedChildEndsNothingAndAnotherProgramOfTheProcessHasItsOwnSession) {
  const ProgramResult result =
      profile({"init", "fork", "push", "layer:x", "launch", "_Z5firstv", "7", "await", "_Z5firstv",
               "exec", "init", "push", "layer:y", "launch", "_Z6secondv", "7", "pop"},
              {}, {{"BENCH_PROFILE_DUMP_PERIOD", "10ms"}});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(places("kernel"), ElementsAre("first x", "second y"));
  EXPECT_EQ(kernel("first", 7)["pid"], kernel("second", 7)["pid"]);
}

TEST_F(ProfileGpu, AKilledProgramLeavesWhatWasWrittenUntilThen) {
  const ProgramResult result =
      profile({"init", "push", "layer:x", "launch", "_Z4gemmv", "7", "await", "_Z4gemmv", "kill"},
              {}, {{"BENCH_PROFILE_DUMP_PERIOD", "10ms"}});
  EXPECT_EQ(result.status, 128 + 9);
  EXPECT_THAT(places("kernel"), ElementsAre("gemm x"));
  EXPECT_THAT(result.err, HasSubstr("it was killed or called _exit"));
}

TEST_F(ProfileGpu, WhatAKilledBenchProfileLeavesCanBeRead) {
  const ProgramResult result =
      profile({"init", "push", "layer:x", "launch", "_Z4gemmv", "7", "await", "_Z4gemmv", "orphan"},
              {}, {{"BENCH_PROFILE_DUMP_PERIOD", "10ms"}});
  EXPECT_EQ(result.status, 128 + 9);
  const ProgramResult table =
      run_program({{BENCH_BINARY, "analyze", "p.jsonl.spool", "--kind", "kernel", "--json"},
                   folder_.path(),
                   {}});
  const json document = json::parse(table.out);
  ASSERT_EQ(document["selected"], 1) << table.err;
  EXPECT_EQ(document["rows"][0]["layer"], "x");
  // Another program with the same name must not claim them.
  ASSERT_EQ(profile({"init", "launch", "_Z5othersv", "7"}).status, 0);
  EXPECT_EQ(activities("kernel").size(), 1U);
}

TEST_F(ProfileGpu, DroppedRecordsAreTold) {
  const ProgramResult result =
      profile({"init", "launch", "_Z4gemmv", "7"}, {}, {{"FAKE_CUPTI_DROPPED", "3"}});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr(": 3 records were dropped"));
  EXPECT_EQ(records("profile").at(0)["environment"]["details"]["gpu.dropped"], "3");
  EXPECT_EQ(activities("kernel").size(), 1U);
}

TEST_F(ProfileGpu, SaysWhyThereAreNoRowsOfDevices) {
  const Words words = {"init", "push", "step", "pop", "launch", "_Z4gemmv", "7"};
  const auto last_line = [&](const Variables& variables) {
    const ProgramResult result = profile(words, {}, variables);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out, "0\n");
    EXPECT_THAT(activities("kernel"), IsEmpty());
    EXPECT_EQ(activities("range").size(), 1U);
    const std::string text = result.err.substr(0, result.err.size() - 1);
    return text.substr(text.rfind('\n') + 1);
  };
  EXPECT_THAT(last_line({{"FAKE_CUPTI_OTHER_TOOL", "Nsight Systems"}}),
              HasSubstr("; no device rows: CUPTI: another profiler (Nsight Systems) is attached"));
  EXPECT_THAT(last_line({{"FAKE_CUPTI_VERSION", "130200"}}), HasSubstr("is version 13.2.0, and"));
  folder_.write("libcupti.so.13", "no library");
  // Even if the machine has a CUPTI, there is no driver for it.
  EXPECT_THAT(last_line({{"BENCH_CUDA_LIBS", folder_.path()}}), HasSubstr("; no device rows: "));
}

TEST_F(ProfileGpu, AToolThatTheUserHasChosenGetsTheRows) {
  const ProgramResult result =
      profile({"init", "push", "step", "pop"}, {}, {{"CUDA_INJECTION64_PATH", "/opt/tool.so"}});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(
      result.err,
      HasSubstr("CUDA_INJECTION64_PATH names /opt/tool.so, which receives the GPU activities"));
  EXPECT_THAT(result.err, HasSubstr("; no device rows: CUDA_INJECTION64_PATH names /opt/tool.so"));
}

TEST_F(ProfileGpu, AProgramThatAsksNothingOfCudaIsToldApart) {
  EXPECT_THAT(
      profile({"init", "push", "step", "pop"}).err,
      HasSubstr(
          "; no device rows: the program initialised CUDA, but no GPU activity was recorded"));
  EXPECT_THAT(profile({"push", "step", "pop"}).err, HasSubstr("was loaded but never initialised"));
}

TEST_F(ProfileGpu, KindsChooseTheRows) {
  const Words words = {"init", "push", "layer:x", "launch", "_Z4gemmv", "7", "alloc", "512", "pop"};
  ASSERT_EQ(profile(words).status, 0);
  EXPECT_EQ(activities("allocation").at(0)["attributes"]["size_bytes"], 512);
  EXPECT_EQ(activities("allocation").at(0)["scope"], "x");
  EXPECT_EQ(activities("api").size(), 2U);

  ASSERT_EQ(profile(words, {"--profile=device"}).status, 0);
  std::set<std::string> kinds;
  for (const json& activity : records("activity")) kinds.insert(activity["kind"]);
  EXPECT_EQ(kinds, (std::set<std::string>{"kernel", "counter", "process"}));
  EXPECT_THAT(places("kernel"), ElementsAre("gemm x"));

  const ProgramResult none = profile(words, {"--profile=operators"});
  EXPECT_THAT(none.err, Not(HasSubstr("device rows")));
  kinds.clear();
  for (const json& activity : records("activity")) kinds.insert(activity["kind"]);
  EXPECT_EQ(kinds, (std::set<std::string>{"process", "range"}));
  // Earlier, `counters` beside another kind was left out without a message.
  for (const char* option : {"--profile=counters", "--profile=operators,counters"}) {
    const ProgramResult refused = profile(words, {option});
    EXPECT_EQ(refused.status, 2) << option;
    EXPECT_THAT(refused.err, HasSubstr("reads no counters; omit `counters`")) << option;
  }
}

TEST_F(ProfileGpu, AnalyzeAndTraceReadTheRows) {
  ASSERT_EQ(profile({"init", "push", "layer:x", "launch", "_Z4gemmv", "7", "pop"}).status, 0);
  const ProgramResult table = run_program(
      {{BENCH_BINARY, "analyze", "p.jsonl", "--kind", "kernel", "--json"}, folder_.path(), {}});
  const json document = json::parse(table.out);
  EXPECT_EQ(document["selected"], 1);
  EXPECT_EQ(document["rows"][0]["layer"], "x");
  EXPECT_EQ(
      run_program({{BENCH_BINARY, "trace", "p.jsonl", "-o", "t.json"}, folder_.path(), {}}).status,
      0);
  EXPECT_THAT(read_text(folder_.file("t.json")), HasSubstr("gemm"));
}

}  // namespace
}  // namespace bench::test::profile_gpu_test
