// SPDX-License-Identifier: Apache-2.0
#include "harness/config/load.hpp"

#include "base/file.hpp"
#include "ops/operator.hpp"
#include "tests/support/golden.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bench {
namespace {

using Result_ = Result<Plan, std::vector<Diagnostic>>;

const std::string kTestdata = "harness/config/testdata/";

// Provides files in memory; any other file is missing.
LoadRequest in_memory(const std::map<std::string, std::string>& files) {
  LoadRequest request;
  request.read = [files](const std::string& path) -> Result<std::string> {
    const auto file = files.find(path);
    if (file == files.end()) return Error{"no such file", path, ""};
    return file->second;
  };
  return request;
}

Result_ load_text(const std::string& text, std::vector<std::string> overrides = {}) {
  LoadRequest request = in_memory({{"a.yaml", text}});
  request.arguments = {"a.yaml"};
  request.overrides = std::move(overrides);
  return load_plan(request);
}

// Provides files relative to a folder of testdata.
LoadRequest in_folder(const std::string& folder) {
  const std::string root = std::string(BENCH_SOURCE_DIR) + "/" + kTestdata + folder + "/";
  LoadRequest request;
  request.read = [root](const std::string& path) -> Result<std::string> {
    auto text = read_file(root + path, 10'000'000);
    if (!text.ok()) return Error{"no such file", "", ""};
    return text;
  };
  request.list = [root](const std::string& path) {
    std::vector<std::string> names;
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator(root + path, code)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  return request;
}

std::string messages(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += diagnostic.message() + "\n";
  return text;
}

std::vector<std::string> yaml_files(const std::string& folder) {
  std::vector<std::string> stems;
  const std::string root = std::string(BENCH_SOURCE_DIR) + "/" + kTestdata + folder;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() == ".yaml") stems.push_back(entry.path().stem().string());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

std::string describe_case(const Case& item) {
  std::string text = fmt::format(
      "{}\n  at {}, warmup {} {} ns, processes {}, min_iterations {}, precision {}, "
      "max_time {} ns",
      item.id, item.place.text(), item.warmup.iterations, item.warmup.time.count(),
      item.measure.processes, item.measure.min_iterations, item.measure.precision,
      item.measure.max_time.count());
  if (item.reuse_distance) text += fmt::format(", reuse {} bytes", item.reuse_distance->count);
  for (const Membership& membership : item.memberships) {
    text += fmt::format("\n  layers of {}:", membership.network);
    for (const std::string& layer : membership.layers) text += " " + layer;
  }
  if (item.network) text += "\n  network " + item.network->case_id_prefix;
  return text + "\n";
}

std::string describe_plan(const Plan& plan) {
  std::string text = fmt::format("name {}\n", plan.name);
  for (const std::string& file : plan.files) text += fmt::format("file {}\n", file);
  for (const std::string& plugin : plan.plugins) text += fmt::format("plugin {}\n", plugin);
  if (plan.budget) text += fmt::format("budget {} ns\n", plan.budget->count());
  if (plan.profile) {
    text += fmt::format("profile iterations {}-{}\n", plan.profile->iteration_window().first,
                        plan.profile->iteration_window().last);
  }
  if (plan.gate) text += fmt::format("gate delta {}\n", plan.gate->delta);
  for (const Case& item : plan.cases) text += describe_case(item);
  return text;
}

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> result;
  for (const Case& item : plan.cases) result.push_back(item.id);
  return result;
}

TEST(LoadErrors, EveryWrongFileGetsTheApprovedMessages) {
  for (const std::string& stem : yaml_files("errors")) {
    SCOPED_TRACE(stem);
    LoadRequest request = in_folder("errors");
    request.arguments = {stem + ".yaml"};
    const Result_ plan = load_plan(request);
    ASSERT_FALSE(plan.ok());
    test::expect_golden(kTestdata + "errors/" + stem + ".txt", messages(plan.error()));
  }
}

TEST(LoadErrors, ANetworkIsHintedByTheBeginningOfItsName) {
  LoadRequest request =
      in_memory({{"a.yaml", "version: 1\ncases:\n  - network: resnet50\n  - network: resnet51\n"}});
  request.arguments = {"a.yaml"};
  request.network_folders = {"networks"};
  request.list = [](const std::string&) {
    return std::vector<std::string>{"resnet18.yaml", "resnet50_v1_5.yaml"};
  };
  const Result_ plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(messages(plan.error()),
            "a.yaml:3:14: unknown network `resnet50`; did you mean `resnet50_v1_5`?\n"
            "a.yaml:4:14: unknown network `resnet51`; did you mean `resnet50_v1_5`?\n");
}

TEST(LoadErrors, EveryMessageNamesAPlace) {
  for (const std::string& stem : yaml_files("errors")) {
    LoadRequest request = in_folder("errors");
    request.arguments = {stem + ".yaml"};
    const Result_ plan = load_plan(request);
    ASSERT_FALSE(plan.ok());
    for (const Diagnostic& diagnostic : plan.error()) {
      EXPECT_GT(diagnostic.place.line, 0) << diagnostic.message();
      EXPECT_GT(diagnostic.place.column, 0) << diagnostic.message();
    }
  }
}

TEST(LoadPlans, FilesGiveTheApprovedCases) {
  for (const std::string& stem : yaml_files("plans")) {
    SCOPED_TRACE(stem);
    LoadRequest request = in_folder("plans");
    request.arguments = {stem + ".yaml"};
    const Result_ plan = load_plan(request);
    ASSERT_TRUE(plan.ok()) << messages(plan.error());
    test::expect_golden(kTestdata + "plans/" + stem + ".txt", describe_plan(*plan));
  }
}

TEST(LoadPlans, TheShippedSuitesAreValid) {
  const std::string configs = std::string(BENCH_SOURCE_DIR) + "/configs/";
  for (const auto& entry : std::filesystem::directory_iterator(configs)) {
    if (entry.path().extension() != ".yaml") continue;
    LoadRequest request;
    request.arguments = {entry.path().string()};
    request.read = [](const std::string& path) { return read_file(path, 10'000'000); };
    const Result_ plan = load_plan(request);
    EXPECT_TRUE(plan.ok()) << messages(plan.error());
  }
}

TEST(LoadPlans, AnIdIsACaseAndComesOutUnchanged) {
  const std::string id = "conv/forward/n32c64h56w56k64r3s3p1+bias+relu/f32/onednn/cpu/cold/t2/nhwc";
  LoadRequest request = in_memory({});
  request.arguments = {id};
  request.overrides = {"measure.processes=9"};
  const Result_ plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  ASSERT_EQ(ids(*plan), std::vector<std::string>{id});
  EXPECT_EQ(plan->cases[0].measure.processes, 9);
  EXPECT_EQ(plan->cases[0].place.text(), id);
}

TEST(LoadPlans, IdsOfAFileGiveTheSameCasesAgain) {
  for (const char* stem : {"axes", "network"}) {
    LoadRequest request = in_folder("plans");
    request.arguments = {std::string(stem) + ".yaml"};
    const Result_ first = load_plan(request);
    ASSERT_TRUE(first.ok());
    request.arguments = ids(*first);
    request.network_folders = {"networks"};
    const Result_ again = load_plan(request);
    ASSERT_TRUE(again.ok()) << messages(again.error());
    EXPECT_EQ(ids(*again), ids(*first));
    for (std::size_t i = 0; i < first->cases.size(); ++i) {
      if (first->cases[i].reuse_distance) continue;
      EXPECT_EQ(again->cases[i].hash, first->cases[i].hash);
    }
  }
}

TEST(LoadPlans, AMissingFileIsNamed) {
  LoadRequest request = in_memory({});
  request.arguments = {"nowhere.yaml", "cnv/forward/c1/f32/onednn/cpu/hot"};
  const Result_ plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(messages(plan.error()),
            "nowhere.yaml: no such file; give a configuration, or the id of a case, for example "
            "`gemm/forward/m16n32k64/f32/onednn/cpu/hot`\n"
            "cnv/forward/c1/f32/onednn/cpu/hot: unknown operator `cnv`; did you mean `conv`? For "
            "example `conv/forward/n2c16h9w9k16r3s3/f32/onednn/cpu/hot`\n");
}

TEST(LoadPlans, TheOrderOfKeysDoesNotMatter) {
  const Result_ one = load_text("version: 1\ncases: [{op: gemm, m: 1, n: 2, k: 3, dtype: bf16}]");
  const Result_ two = load_text("cases: [{dtype: bf16, k: 3, n: 2, m: 1, op: gemm}]\nversion: 1");
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->cases[0].id, two->cases[0].id);
  EXPECT_EQ(one->cases[0].hash, two->cases[0].hash);
  EXPECT_EQ(one->hash, two->hash);
}

TEST(LoadPlans, HowLongIsMeasuredChangesThePlanButNotTheCase) {
  const std::string text = "version: 1\ncases: [{op: gemm, m: 1, n: 2, k: 3}]";
  const Result_ one = load_text(text);
  const Result_ two = load_text(text, {"measure.max_time=5s"});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->cases[0].hash, two->cases[0].hash);
  EXPECT_NE(one->hash, two->hash);
}

TEST(LoadIncludes, AFileIncludedTwiceCountsOnceAndTheIncluderIsStronger) {
  LoadRequest request = in_memory({
      {"d/a.yaml",
       "version: 1\ninclude: [b.yaml, c.yaml]\ndefaults: {dtype: bf16}\n"
       "cases: [{op: gemm, m: 1, n: 1, k: 1}]"},
      {"d/b.yaml", "version: 1\ninclude: e/d.yaml\ndefaults: {threads: 2, dtype: f16}"},
      {"d/c.yaml", "version: 1\ninclude: [e/d.yaml]"},
      {"d/e/d.yaml",
       "version: 1\ndefaults: {threads: 3, cache: cold}\n"
       "cases: [{op: gemm, m: 2, n: 2, k: 2}]"},
  });
  request.arguments = {"d/a.yaml"};
  const Result_ plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  EXPECT_EQ(ids(*plan), (std::vector<std::string>{"gemm/forward/m2n2k2/f32/onednn/cpu/cold/t3",
                                                  "gemm/forward/m1n1k1/bf16/onednn/cpu/cold/t2"}));
  EXPECT_EQ(plan->files,
            (std::vector<std::string>{"d/a.yaml", "d/b.yaml", "d/e/d.yaml", "d/c.yaml"}));
}

TEST(LoadIncludes, AnEndlessChainOfFilesEnds) {
  LoadRequest request;
  request.arguments = {"0.yaml"};
  request.read = [](const std::string& path) -> Result<std::string> {
    return fmt::format("version: 1\ninclude: {}.yaml", std::stoi(path) + 1);
  };
  const Result_ plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(messages(plan.error()).find("255.yaml:2:10: more than 256 files"), std::string::npos);
}

TEST(LoadPlans, TheSameLayerOfTwoNetworksIsOneCase) {
  const std::string network =
      "version: 1\nnetwork: NAME\ninput: {c: 4, h: 8}\nlayers:\n"
      "  - {name: a, op: conv, k: 4, r: 3, pad: 1}\n"
      "  - {name: b, op: conv, k: NUMBER, r: 3, pad: 1}\n";
  const auto make = [&](const std::string& name, const std::string& number) {
    std::string text = network;
    text.replace(text.find("NAME"), 4, name);
    return text.replace(text.find("NUMBER"), 6, number);
  };
  LoadRequest request = in_memory({
      {"a.yaml",
       "version: 1\ndefaults: {cache: cold_weights, measure: [layers]}\n"
       "cases: [{network: one}, {network: two}]"},
      {"networks/one.yaml", make("one", "5")},
      {"networks/two.yaml", make("two", "64")},
  });
  request.arguments = {"a.yaml"};
  const Result_ plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  ASSERT_EQ(plan->cases.size(), 3u);
  const Case& shared = plan->cases[0];
  ASSERT_EQ(shared.memberships.size(), 2u);
  EXPECT_EQ(shared.memberships[0].network, "one");
  EXPECT_EQ(shared.memberships[1].network, "two");
  EXPECT_EQ(plan->cases[1].memberships.size(), 1u);
  // The larger network decides: 4*4*9 and 64*4*9 weights of four bytes.
  EXPECT_EQ(shared.reuse_distance, Bytes{(4 * 4 * 9 + 64 * 4 * 9) * 4});
  EXPECT_EQ(plan->cases[1].reuse_distance, Bytes{(4 * 4 * 9 + 5 * 4 * 9) * 4});
}

// The CNN of MXNet's tutorial: 13.04 of its 20.54 ms were a gradient that no step computes.
TEST(LoadPlans, ATrainingStepHasNoDataGradientOfTheFirstLayer) {
  LoadRequest request = in_memory({
      {"a.yaml", "version: 1\ncases: [{network: cnn, mode: training, measure: [layers, network]}]"},
      {"networks/cnn.yaml",
       "version: 1\nnetwork: cnn\ninput: {c: 1, h: 8}\nlayers:\n"
       "  - {name: conv0, op: conv, k: 4, r: 3}\n"
       "  - {name: relu0, op: pointwise, function: relu}\n"
       "  - {name: conv1, op: conv, k: 4, r: 3}\n"
       "  - {name: dense0, op: gemm, n: 10}\n"},
  });
  request.arguments = {"a.yaml"};
  const Result_ plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  std::vector<std::string> cases;
  for (const Case& item : plan->cases) {
    if (item.memberships.empty()) continue;
    const Membership& membership = item.memberships.front();
    std::string text = membership.layers.front() + " " + std::string(to_string(item.key.direction));
    for (const ops::Direction direction : membership.unmeasured_gradients) {
      text += " lacks " + std::string(to_string(direction));
    }
    cases.push_back(text);
  }
  EXPECT_EQ(cases, (std::vector<std::string>{
                       "conv0 forward", "relu0 forward", "conv1 forward", "dense0 forward",
                       "loss forward", "loss backward_data", "dense0 backward_data",
                       "dense0 backward_weights", "conv1 backward_data", "conv1 backward_weights",
                       "relu0 backward_data", "conv0 backward_weights", "conv0.weights forward",
                       "conv1.weights forward", "dense0.weights forward"}));
}

TEST(LoadOverrides, BeatDefaultsCasesAndSweeps) {
  const Result_ plan = load_text(
      "version: 1\ndefaults: {dtype: f16}\nbudget: 1h\n"
      "cases: [{op: gemm, m: 1, n: 2, k: 3, sweep: {dtype: [f32, f64]}, measure: {processes: 9}}]",
      {"dtype=bf16", "measure.processes=2", "measure={precision: 7%}", "cache=[hot, cold]",
       "budget=30s"});
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  EXPECT_EQ(ids(*plan), (std::vector<std::string>{"gemm/forward/m1n2k3/bf16/onednn/cpu/hot",
                                                  "gemm/forward/m1n2k3/bf16/onednn/cpu/cold"}));
  EXPECT_EQ(plan->cases[0].measure.processes, 2);
  EXPECT_EQ(plan->cases[0].measure.precision, 0.07);
  EXPECT_EQ(plan->budget, Nanoseconds(30'000'000'000));
}

TEST(LoadOverrides, MistakesNameTheArgument) {
  const Result_ plan = load_text(
      "version: 1\ncases: [{op: gemm, m: 1, n: 2, k: 3}]",
      {"measure.proceses=2", "dtpye=f32", "dtype", "budget=3", "cache=[", "measure.processes=x"});
  ASSERT_FALSE(plan.ok());
  test::expect_golden(kTestdata + "overrides.txt", messages(plan.error()));
}

// Earlier, only `cases:` gave the hint to which group a key belongs; `defaults:` and --set guessed
// a spelling.
TEST(LoadErrors, AKeyOfAGroupIsHintedEverywhere) {
  const Result_ plan = load_text(
      "version: 1\n"
      "defaults: {processes: 5}\n"
      "cases: [{op: gemm, m: 1, n: 2, k: 3, iterations: 9}]",
      {"max_time=2s"});
  ASSERT_FALSE(plan.ok());
  const std::string text = messages(plan.error());
  EXPECT_THAT(text,
              testing::HasSubstr("unknown key `processes` of defaults; it is a key of `measure`: "
                                 "indent it below, or write `measure: { processes: 5 }`"));
  EXPECT_THAT(text,
              testing::HasSubstr("unknown key `iterations` of a gemm; it is a key of `warmup`"));
  EXPECT_THAT(text, testing::HasSubstr("unknown key `max_time`; write --set measure.max_time=..."));
}

// The time limit of a request is a sum of several durations: near 2^63 ns it overflowed.
TEST(LoadErrors, ATimeOfMoreThanAYearIsRefused) {
  for (const char* key : {"measure.timeout", "measure.max_time", "warmup.time", "budget"}) {
    const Result_ plan = load_text("version: 1\ncases: [{op: gemm, m: 1, n: 2, k: 3}]",
                                   {std::string(key) + "=9223372036854775807ns"});
    ASSERT_FALSE(plan.ok()) << key;
    EXPECT_THAT(messages(plan.error()), testing::HasSubstr("expected at most a year (8760h)"))
        << key;
  }
}

const std::string kConv = "conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot";
const std::string kNetwork = "network/forward/tiny/f32/onednn/cpu/hot";

// A small network in the folder in which ids are looked up.
LoadRequest id_request(const std::string& id, std::vector<std::string> overrides) {
  LoadRequest request = in_memory({{"configs/networks/tiny.yaml",
                                    "version: 1\nnetwork: tiny\ninput: {c: 3, h: 8}\nlayers:\n"
                                    "  - {name: conv1, op: conv, k: 4, r: 3, pad: 1}\n"
                                    "  - {name: bn1, op: batch_norm}\n"
                                    "  - {name: relu1, op: pointwise, function: relu}\n"
                                    "  - {name: fc, op: gemm, n: 10}\n"}});
  request.arguments = {id};
  request.overrides = std::move(overrides);
  return request;
}

Result_ load_id(const std::string& id, std::vector<std::string> overrides) {
  return load_plan(id_request(id, std::move(overrides)));
}

// Earlier, `list ID --set dtype=bf16` stayed f32, and `run ID --set threads=1` used all processors.
TEST(LoadOverrides, EveryAxisChangesTheCaseOfAnId) {
  struct Row {
    std::string id;
    std::vector<std::string> overrides;
    std::vector<std::string> expected;
  };
  const Row rows[] = {
      {kConv, {"dtype=bf16"}, {"conv/forward/c8h8w8k8r3s3p1/bf16/onednn/cpu/hot"}},
      {kConv, {"threads=1"}, {kConv + "/t1"}},
      {kConv + "/t2", {"threads=all"}, {kConv}},
      {kConv, {"streams=[1, 2]"}, {kConv, kConv + "/st2"}},
      {kConv, {"cache=cold"}, {"conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/cold"}},
      {kConv,
       {"direction=backward_data"},
       {"conv/backward_data/c8h8w8k8r3s3p1/f32/onednn/cpu/hot"}},
      {kConv, {"layout=nhwc", "math=tf32"}, {kConv + "/nhwc/tf32"}},
      {kConv, {"device=cuda"}, {"conv/forward/c8h8w8k8r3s3p1/f32/cudnn/cuda/hot"}},
      {kConv, {"device=cuda", "backend=cudnn"}, {"conv/forward/c8h8w8k8r3s3p1/f32/cudnn/cuda/hot"}},
      {kConv,
       {"dtype=[f16, s8]", "threads=[1, all]"},
       {"conv/forward/c8h8w8k8r3s3p1/f16/onednn/cpu/hot/t1",
        "conv/forward/c8h8w8k8r3s3p1/f16/onednn/cpu/hot",
        "conv/forward/c8h8w8k8r3s3p1/s8/onednn/cpu/hot/t1",
        "conv/forward/c8h8w8k8r3s3p1/s8/onednn/cpu/hot"}},
      {kNetwork, {"batch=8"}, {"network/forward/tiny-n8/f32/onednn/cpu/hot"}},
      {kNetwork, {"fuse=false"}, {"network/forward/tiny+separate/f32/onednn/cpu/hot"}},
      {kNetwork, {"mode=training"}, {"network/forward/tiny+separate+training/f32/onednn/cpu/hot"}},
      {"network/forward/tiny-n8+separate/f32/onednn/cpu/cold",
       {"dtype=bf16", "cache=hot", "batch=[1, 2]"},
       {"network/forward/tiny+separate/bf16/onednn/cpu/hot",
        "network/forward/tiny-n2+separate/bf16/onednn/cpu/hot"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{} --set {}", row.id, row.overrides.front()));
    const Result_ plan = load_id(row.id, row.overrides);
    ASSERT_TRUE(plan.ok()) << messages(plan.error());
    EXPECT_EQ(ids(*plan), row.expected);
  }
}

TEST(LoadOverrides, HowAnIdIsMeasuredCanBeSet) {
  const Result_ plan =
      load_id(kConv, {"measure.processes=3", "measure={max_time: 7s}", "warmup.time=9ms", "tune=4",
                      "sample_method=graph", "budget=30s"});
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  ASSERT_EQ(ids(*plan), std::vector<std::string>{kConv});
  const Case& only = plan->cases[0];
  EXPECT_EQ(only.measure.processes, 3);
  EXPECT_EQ(only.measure.max_time, std::chrono::seconds(7));
  EXPECT_EQ(only.warmup.time, std::chrono::milliseconds(9));
  EXPECT_EQ(only.measure.tune, 4);
  EXPECT_EQ(only.measure.sample_method, ops::SampleMethod::graph);
  EXPECT_EQ(plan->budget, std::chrono::seconds(30));
}

// `tf32` was accepted for every type, so that one computation had two ids.
TEST(Load, FastAccumulationAndTf32AreRefusedAtTheirPlace) {
  const auto message = [](const std::string& entry) {
    const Result_ made = load_text("version: 1\ncases:\n  - { " + entry + " }", {});
    return made.ok() ? std::string("accepted") : made.error().front().message();
  };
  EXPECT_THAT(message("op: gemm, m: 16, n: 16, k: 16, dtype: bf16, math: [default, tf32]"),
              testing::HasSubstr("`tf32` applies only to f32, not to bf16; set `math: tf32` "));
  EXPECT_EQ(message("op: gemm, m: 16, n: 16, k: 16, dtype: f8_e4m3, math: fast_accumulation"),
            "accepted");
  EXPECT_THAT(
      message("op: gemm, m: 16, n: 16, k: 16, math: [default, fast_accumulation]"),
      testing::HasSubstr(":3:54: `fast_accumulation` applies only to products of fp8, not of f32"));
  LoadRequest request = in_memory(
      {{"a.yaml",
        "version: 1\ncases:\n  - { network: one, dtype: f8_e4m3, math: fast_accumulation }\n"},
       {"networks/one.yaml",
        "version: 1\nnetwork: one\ninput: {c: 4, h: 8}\nlayers:\n"
        "  - {name: a, op: conv, k: 4, r: 3, pad: 1}\n"}});
  request.arguments = {"a.yaml"};
  const Result_ network = load_plan(request);
  ASSERT_FALSE(network.ok());
  EXPECT_THAT(network.error().front().message(),
              testing::HasSubstr(
                  "a.yaml:3:43: `fast_accumulation` is for single products, not for networks"));
}

TEST(LoadOverrides, AnIdAndAFileAgree) {
  const std::string file = "version: 1\ncases: [{op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1}]";
  for (const char* value : {"dtype=bf16", "threads=3", "cache=[hot, cold_weights]", "tune=true",
                            "direction=[forward, backward_weights]", "device=[cpu, cuda]",
                            "layout=nchw", "math=tf32", "sample_method=stream"}) {
    SCOPED_TRACE(value);
    const Result_ by_file = load_text(file, {value});
    const Result_ by_id = load_id(kConv, {value});
    ASSERT_TRUE(by_file.ok() && by_id.ok());
    EXPECT_EQ(ids(*by_id), ids(*by_file));
    EXPECT_EQ(by_id->hash, by_file->hash);
  }
}

TEST(LoadOverrides, AKeyThatNoCaseTakesIsRefused) {
  struct Row {
    std::string id, override, expected;
  };
  const Row rows[] = {
      {kConv, "batch=8",
       "--set batch=8: `batch` is for networks, but there is no network here; leave it out, or "
       "name a network\n"},
      {kConv, "mode=training",
       "--set mode=training: `mode` is for networks, but there is no network here; leave it out, "
       "or name a network\n"},
      {kNetwork, "direction=backward_data",
       "--set direction=backward_data: `direction` is for operators, but there is no operator "
       "here; leave it out: a network's passes follow `mode`\n"},
      {kNetwork, "measure.what=layers",
       "--set measure.what=layers: `measure.what` chooses parts of a configuration's networks, "
       "but there is no network here; leave it out, or name a configuration with a network\n"},
      {kNetwork, "cache=cold_weights",
       "--set cache=cold_weights: cache mode `cold_weights` is for layers, not for a whole "
       "network; use hot or cold: a network streams its weights anyway\n"},
      {kConv, "backend=cudnn",
       "--set backend=cudnn: backend `cudnn` runs on device cuda, which is not among this case's "
       "devices; write `device: cuda`\n" +
           kConv + ": no backend of this case runs on device `cpu`; write `backend: onednn`\n"},
  };
  for (const Row& row : rows) {
    const Result_ plan = load_id(row.id, {row.override});
    ASSERT_FALSE(plan.ok()) << row.override;
    EXPECT_EQ(messages(plan.error()), row.expected);
  }
  const Result_ file =
      load_text("version: 1\ncases: [{op: gemm, m: 1, n: 2, k: 3}]", {"fuse=true"});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(
      messages(file.error()),
      "--set fuse=true: `fuse` is for networks, but there is no network here; leave it out, or "
      "name a network\n");
}

TEST(LoadOverrides, AKeyThatSomeCaseTakesIsAccepted) {
  LoadRequest request = id_request(kConv, {"batch=2"});
  request.arguments.push_back(kNetwork);
  const Result_ plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  EXPECT_EQ(ids(*plan),
            (std::vector<std::string>{kConv, "network/forward/tiny-n2/f32/onednn/cpu/hot"}));
}

// "[1, 2, 3]"
std::string numbers(int count) {
  std::string text = "[1";
  for (int i = 2; i <= count; ++i) text += fmt::format(", {}", i);
  return text + "]";
}

std::string sweep(int m, int n, int k) {
  return fmt::format("{{op: gemm, sweep: {{m: {}, n: {}, k: {}}}}}", numbers(m), numbers(n),
                     numbers(k));
}

std::string error(const std::string& place, const std::string& count) {
  return fmt::format(
      "{}: there are {} cases up to here, the limit is 100,000; vary fewer keys, or split the "
      "configuration\n",
      place, count);
}

// Earlier, three sweeps of 100 values took 2.5 GB, and longer ones exhausted the memory.
TEST(LoadLimits, TooManyCasesAreRefusedWithTheirNumberBeforeAnyIsMade) {
  const std::string head = "version: 1\ncases:\n  - ";
  const auto message = [&](const std::string& entry) {
    const Result_ plan = load_text(head + entry);
    return plan.ok() ? std::string("accepted") : messages(plan.error());
  };
  EXPECT_EQ(message(sweep(100, 100, 100)), error("a.yaml:3:5", "1,000,000"));
  EXPECT_EQ(message(sweep(1000, 1000, 1000)), error("a.yaml:3:5", "1,000,000,000"));
  const std::string four =
      fmt::format("{{op: gemm, sweep: {{m: {0}, n: {0}, k: {0}, batch: {0}}}}}", numbers(60'000));
  EXPECT_EQ(message(four), error("a.yaml:3:5", "more than 10^18"));
  EXPECT_EQ(message(sweep(40, 50, 40) + "\n  - " + sweep(20, 20, 51)),
            error("a.yaml:4:5", "100,400"));
}

TEST(LoadLimits, CasesCountOverAllIncludedFiles) {
  LoadRequest request =
      in_memory({{"a.yaml", "version: 1\ninclude: [b.yaml]\ncases: [" + sweep(50, 50, 20) + "]"},
                 {"b.yaml", "version: 1\ncases: [" + sweep(51, 50, 20) + "]"}});
  request.arguments = {"a.yaml"};
  const Result_ plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(messages(plan.error()), error("a.yaml:3:9", "101,000"));
}

// Every entry has its own copy of the lists of defaults.
TEST(LoadLimits, EntriesWithLongListsEndAtTheLimit) {
  std::string text = "version: 1\ndefaults: {threads: " + numbers(4000) + "}\ncases:\n";
  for (int i = 0; i < 1000; ++i) text += "  - {op: gemm, m: 1, n: 1, k: 1}\n";
  const Result_ plan = load_text(text);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(messages(plan.error()), error("a.yaml:29:5", "104,000"));
}

TEST(LoadLimits, LayersOfANetworkInTrainingCountInEachDirection) {
  LoadRequest request = id_request("a.yaml", {});
  const auto tiny = request.read("configs/networks/tiny.yaml");
  const std::string text = fmt::format(
      "version: 1\ncases: [{{network: tiny, mode: training, batch: {}}}]", numbers(8000));
  request.read = [&](const std::string& path) -> Result<std::string> {
    if (path == "a.yaml") return text;
    if (path == "networks/tiny.yaml") return tiny;
    return Error{"no such file", path, ""};
  };
  const Result_ plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  // Four layers in three directions plus the network: 13 per batch size.
  EXPECT_EQ(messages(plan.error()), error("a.yaml:2:9", "104,000"));
}

TEST(LoadLimits, ValuesCountOverAllIncludedFiles) {
  std::map<std::string, std::string> files;
  std::string list = "[1";
  for (int i = 0; i < 340'000; ++i) list += ",1";
  for (const char* name : {"b.yaml", "c.yaml", "d.yaml"}) {
    files[name] =
        fmt::format("version: 1\ncases: [{{op: gemm, m: 1, n: 1, k: 1, threads: {}]}}]", list);
  }
  files["a.yaml"] = "version: 1\ninclude: [b.yaml, c.yaml, d.yaml]";
  LoadRequest request = in_memory(files);
  request.arguments = {"a.yaml"};
  const Result_ plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(messages(plan.error())
                .find("d.yaml:1:1: the files up to here have more than 1,000,000 values; give or "
                      "include fewer files\n"),
            std::string::npos);
}

TEST(LoadFilters, KeepWhatAnyOfThemMatches) {
  LoadRequest request = in_memory({{"a.yaml",
                                    "version: 1\ncases: [{op: gemm, n: 2, k: 3, device: [cpu, "
                                    "cuda], sweep: {m: [1, 2, 33]}}]"}});
  request.arguments = {"a.yaml"};
  request.filters = {"gemm/*/m1n*", "/m[0-9]{2}n.*cuda/"};
  const Result_ plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  EXPECT_EQ(ids(*plan), (std::vector<std::string>{"gemm/forward/m1n2k3/f32/onednn/cpu/hot",
                                                  "gemm/forward/m1n2k3/f32/cublaslt/cuda/hot",
                                                  "gemm/forward/m33n2k3/f32/cublaslt/cuda/hot"}));
  request.devices = {"cpu"};
  const Result_ cpu = load_plan(request);
  ASSERT_TRUE(cpu.ok());
  EXPECT_EQ(cpu->cases.size(), 1u);
}

TEST(LoadFilters, MistakesNameTheArgument) {
  LoadRequest request =
      in_memory({{"a.yaml", "version: 1\ncases: [{op: gemm, m: 1, n: 2, k: 3}]"}});
  request.arguments = {"a.yaml"};
  request.filters = {"/a(b/", "[a", "/\\1/", "/(?=a)/", "/a{2000}/"};
  request.devices = {"cdua"};
  const Result_ plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  test::expect_golden(kTestdata + "filters.txt", messages(plan.error()));
  request.filters = {"conv*"};
  request.devices = {};
  const Result_ none = load_plan(request);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(messages(none.error()),
            "--filter conv*: none of 1 cases matches; ids look like "
            "gemm/forward/m1n2k3/f32/onednn/cpu/hot\n");
}

TEST(LoadErrors, BeyondAHundredOnlyTheirNumberIsShown) {
  std::string text = "version: 1\ncases:\n";
  for (int i = 0; i < 150; ++i) text += fmt::format("  - op: bad{}\n", i);
  const Result_ plan = load_text(text);
  ASSERT_FALSE(plan.ok());
  ASSERT_EQ(plan.error().size(), 101u);
  EXPECT_EQ(plan.error().back().message(), "... and 50 more");
}

TEST(LoadErrors, AFileAboveTheLimitIsRefused) {
  const Result_ plan = load_text("version: 1\nname: " + std::string(8'000'000, 'x'));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(messages(plan.error()),
            "a.yaml:1:1: the file is larger than 8 MB; split it, or use `sweep`\n");
}

TEST(LoadPlans, TenThousandCasesHaveDistinctIds) {
  const Result_ plan = load_text(
      "version: 1\ncases: [{op: conv, c: 64, k: 64, h: 56, sweep: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9, "
      "10], r: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], stride: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], pad: [0, "
      "1, 2, 3, 4, 5, 6, 7, 8, 9]}}]");
  ASSERT_TRUE(plan.ok()) << messages(plan.error());
  EXPECT_EQ(plan->cases.size(), 10'000u);
}

}  // namespace
}  // namespace bench
