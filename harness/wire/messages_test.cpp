// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/messages.hpp"

#include "harness/wire/worker_limits.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Expects that the encoded request equals `text`, and that decoding and encoding it gives the same
// text again.
void expect_round_trip(const Request& request, const std::string& text) {
  EXPECT_EQ(encode(request), text);
  const auto decoded = decode_request(text);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(decoded->index(), request.index());
  EXPECT_EQ(encode(*decoded), text);
}

TEST(Requests, AreLinesOfJson) {
  expect_round_trip(
      HelloRequest{1, {64}, Bytes{128}},
      R"({"command":"hello","protocol":1,"reuse_distance_bytes":64,"last_level_cache_bytes":128})");
  expect_round_trip(DescribeRequest{}, R"({"command":"describe"})");
  expect_round_trip(DescribeRequest{std::vector<std::string>{}},
                    R"({"command":"describe","probed":[]})");
  expect_round_trip(DescribeRequest{std::vector<std::string>{"mkl"}},
                    R"({"command":"describe","probed":["mkl"]})");
  expect_round_trip(ModelRequest{"mine", ops::Direction::backward_data, DataType::f16,
                                 ops::Layout::nhwc, ops::Math::tf32, "n4+flag"},
                    R"({"command":"model","op":"mine","direction":"backward_data","dtype":"f16",)"
                    R"("layout":"nhwc","math":"tf32","tokens":"n4+flag"})");
  expect_round_trip(WarmUpRequest{3, 100ms},
                    R"({"command":"warm_up","iterations":3,"time_ns":100000000})");
  expect_round_trip(RoundRequest{20}, R"({"command":"round","samples":20})");
  expect_round_trip(RoundRequest{1, "", 12},
                    R"({"command":"round","samples":1,"iterations_per_sample":12})");
  expect_round_trip(ReleaseRequest{}, R"({"command":"release"})");
  expect_round_trip(ReleaseRequest{.check = true}, R"({"command":"release","check":true})");
  expect_round_trip(QuitRequest{}, R"({"command":"quit"})");
  PrepareRequest prepare;
  prepare.id = "a/b";
  prepare.check = CheckKind::expected;
  prepare.expected = {"00ff", {0.1, std::numeric_limits<double>::quiet_NaN(), -3}};
  prepare.seed = std::numeric_limits<std::uint64_t>::max();
  prepare.reuse_distance = Bytes{5};
  prepare.input_layouts = {{"source", "acdb"}};
  expect_round_trip(
      prepare, R"({"command":"prepare","id":"a/b","check":"expected","seed":18446744073709551615,)"
               R"("expected":{"digest":"00ff","values":[0.1,null,-3.0]},"reuse_distance_bytes":5,)"
               R"("met_layouts":{"source":"acdb"}})");
}

ops::LayerDefinition layer(const std::string& name, std::string_view op,
                           std::vector<std::string> inputs) {
  ops::LayerDefinition definition;
  definition.name = name;
  definition.op = op;
  definition.parameters = ops::ParameterSet(ops::find_operator(op)->parameters);
  definition.inputs = std::move(inputs);
  return definition;
}

TEST(Requests, CarryANetworkWithItsParametersAsWritten) {
  auto network = std::make_shared<PlannedNetwork>();
  network->definition.name = "tiny";
  network->definition.input = {3, 8, 8};
  network->definition.layers = {layer("c", "conv", {"input"}), layer("r", "pointwise", {"c"})};
  network->definition.layers[0].parameters.set("k", std::int64_t{4});
  network->definition.layers[0].parameters.set("stride", std::vector<std::int64_t>{2});
  network->definition.layers[0].parameters.set("pad", std::vector<ops::PadPair>{{0, 1}});
  network->definition.layers[0].parameters.set("bias", true);
  network->definition.layers[1].parameters.set("function", std::string("leaky_relu"));
  network->definition.layers[1].parameters.set("alpha", 0.5);
  network->batch = 2;
  network->fusion = ops::Fusion::separate;
  PrepareRequest prepare;
  prepare.id = "network/x";
  prepare.network = network;
  const std::string text = encode(prepare);
  const auto decoded = decode_request(text);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(encode(*decoded), text);
  const std::string steps = encode(StepsRequest{DataType::bf16, network});
  ASSERT_TRUE(decode_request(steps).ok());
  EXPECT_EQ(encode(*decode_request(steps)), steps);
  const auto& back = *std::get<PrepareRequest>(*decoded).network;
  EXPECT_EQ(back.definition.name, "tiny");
  EXPECT_EQ(back.definition.input, (ops::Dims{3, 8, 8}));
  EXPECT_EQ(back.batch, 2);
  EXPECT_EQ(back.fusion, ops::Fusion::separate);
  EXPECT_EQ(back.mode, ops::Mode::inference);
  ASSERT_EQ(back.definition.layers.size(), 2u);
  EXPECT_EQ(back.definition.layers[1].inputs, std::vector<std::string>{"c"});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back.definition.layers[i].parameters, network->definition.layers[i].parameters);
  }
}

TEST(Requests, CarryAGraphWithItsInputsOutputsAndViews) {
  auto network = std::make_shared<PlannedNetwork>();
  network->definition.name = "graph";
  network->definition.inputs = {{"x", {4, 8}}, {"cache", {2, 5, 8}}};
  network->definition.outputs = {"p", "q"};
  ops::LayerDefinition optimizer = layer("optimizer", "optimizer", {});
  optimizer.parameters.set("momentum", 0.5);
  network->definition.training = {optimizer, layer("loss", "loss", {"q"})};
  ops::LayerDefinition view;
  view.name = "seen";
  view.inputs = {"x"};
  view.reshape = {2, 2, 8};
  network->definition.layers = {view, layer("p", "gemm", {"seen", "cache"}),
                                layer("q", "softmax", {"p"})};
  PrepareRequest prepare;
  prepare.id = "network/x";
  prepare.network = network;
  const std::string text = encode(prepare);
  const auto decoded = decode_request(text);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(encode(*decoded), text);
  const ops::NetworkDefinition& back = std::get<PrepareRequest>(*decoded).network->definition;
  ASSERT_EQ(back.inputs.size(), 2u);
  EXPECT_EQ(back.inputs[1].name, "cache");
  EXPECT_EQ(back.inputs[1].sizes, (ops::Dims{2, 5, 8}));
  EXPECT_EQ(back.outputs, (std::vector<std::string>{"p", "q"}));
  ASSERT_EQ(back.layers.size(), 3u);
  EXPECT_EQ(back.layers[0].op, "");
  EXPECT_EQ(back.layers[0].reshape, (ops::Dims{2, 2, 8}));
  EXPECT_EQ(back.layers[1].reshape, std::nullopt);
  ASSERT_EQ(back.training.size(), 2u);
  EXPECT_EQ(back.training[0].op, "optimizer");
  EXPECT_EQ(back.training[0].parameters, optimizer.parameters);
  EXPECT_EQ(back.training[1].inputs, (std::vector<std::string>{"q"}));
}

void expect_round_trip(const Reply& reply, const std::string& part) {
  const ReplyMessage message{reply, {1ns, 2ns, 3ns, 4ns}};
  const std::string text = encode(message);
  EXPECT_THAT(text, testing::HasSubstr(part));
  const auto decoded = decode_reply(text);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(decoded->reply.index(), reply.index());
  EXPECT_EQ(encode(*decoded), text);
  EXPECT_EQ(decoded->spent.check, 4ns);
}

TEST(Replies, AreLinesOfJson) {
  expect_round_trip(
      HelloReply{1, "0.1.0", "onednn", "cpu", {"onednn", "3.2.0", "/lib/x", "d"}, {7}},
      R"("arena_bytes":7)");
  HelloReply with_plugin{1, "0.1.0", "onednn", "cpu", {"onednn", "3.2.0", "/lib/x", "d"}, {7}};
  with_plugin.plugins = {{"mine", "1.0", "mine.so", "plugin"}};
  expect_round_trip(with_plugin, R"("path":"mine.so")");
  expect_round_trip(DescribeReply{"{}"}, R"("document":"{}")");
  ops::Model model;
  model.tensors = {{"source", ops::TensorRole::weights, DataType::bf16, {2, 3}, 5}};
  model.work.macs = 7;
  model.work.flops = 14;
  model.formulas = {{"flops", "2*n", "2*7", 14}};
  expect_round_trip(ModelReply{model}, R"("touched":5)");
  expect_round_trip(ModelReply{Error{"no model", "shape", "another shape"}}, R"("where":"shape")");
  PreparedReply prepared;
  prepared.implementation = "jit";
  prepared.buffers = {{"source", "input", "abcd", {12}}};
  prepared.steps = {{"conv1", "convolution", "jit", "abcd", {{"source", "acdb"}}}};
  prepared.preparation.create = 5ns;
  prepared.memory = {{3}, {2}, {1}};
  prepared.check = "full";
  prepared.output = {"d", {1.5}};
  prepared.details = {{"cold.sets", "3"}};
  prepared.setup = {{"context_ns", 300ns}};
  expect_round_trip(prepared, R"("create_ns":5)");
  prepared.choices = "conv\tengine_4\n";
  expect_round_trip(prepared, R"("choices":"conv\tengine_4\n")");
  expect_round_trip(ErrorReply{Outcome::wrong_result, "x[0]"}, R"("outcome":"wrong_result")");
  expect_round_trip(
      ErrorReply{Outcome::wrong_result, "x[0]", "cudnn:engine_3", {{"engine", "engine 3"}}},
      R"("implementation":"cudnn:engine_3","details":{"engine":"engine 3"})");
  expect_round_trip(WarmedUpReply{60, 11, false, 110us}, R"("sample_ns":110000)");
  expect_round_trip(RoundReply{{1ns, 2ns}}, R"("samples_ns":[1,2])");
  expect_round_trip(RoundReply{{1ns}, 12}, R"("iterations_per_sample":12)");
  RoundReply with_energy{{1ns}};
  with_energy.energy = {1500, 70ms, "nvml"};
  expect_round_trip(with_energy,
                    R"("energy":{"microjoules":1500,"time_ns":70000000,"source":"nvml"})");
  RoundReply with_canaries{{1ns, 2ns}};
  with_canaries.canaries = {{7ns, 8ns}, 2, 5ns};
  expect_round_trip(with_canaries, R"("canaries_ns":[7,8])");
  expect_round_trip(with_canaries, R"("join_ns":5)");
  expect_round_trip(StepsReply{prepared.steps}, R"("met":{"source":"acdb"})");
  expect_round_trip(WatchedReply{2, {3ns}, {4ns}, {5ns}, {6ns}, {7ns}, 8ns},
                    R"("lost_ns":[5],"compute_ns":[6],"memory_ns":[7],"join_ns":8)");
  expect_round_trip(DoneReply{}, R"("reply":"done")");
}

TEST(Replies, TextThatIsNoUtf8IsWrittenAllTheSame) {
  const std::string text = encode(ReplyMessage{ErrorReply{Outcome::failed, "a\xff"}, {}});
  EXPECT_TRUE(decode_reply(text).ok());
}

TEST(Messages, GarbageIsQuotedInTheError) {
  for (const std::string line : {"", "hello", "{}", "[1]", R"({"reply":"hello"})",
                                 R"({"reply":"done"})", R"({"reply":3,"spent":{}})"}) {
    EXPECT_FALSE(decode_reply(line).ok()) << line;
    EXPECT_FALSE(decode_request(line).ok()) << line;
  }
  const std::string text = decode_reply("onednn_verbose,\x01info").error().message();
  EXPECT_THAT(text, testing::StartsWith("not a message of the worker protocol ("));
  EXPECT_THAT(text, testing::EndsWith("`onednn_verbose,?info`"));
  EXPECT_THAT(decode_request(R"({"command":"dance"})").error().message(),
              testing::HasSubstr("unknown command `dance`"));
}

TEST(Requests, NameTheCandidatesOfTuningAndHowIsSampled) {
  PrepareRequest prepare;
  prepare.id = "a/b";
  prepare.check = CheckKind::none;
  prepare.tuning = 8;
  prepare.choices = "conv\tengine_4\n";
  prepare.sample_method = ops::SampleMethod::graph;
  expect_round_trip(prepare, R"({"command":"prepare","id":"a/b","check":"none","seed":1,"tune":8,)"
                             R"("choices":"conv\tengine_4\n","sample_method":"graph"})");
}

TEST(Replies, CarryWhatADeviceSaysOfSamples) {
  RoundReply round{{100us, 101us}, 12};
  round.device = {
      {3us, 4us},        {1'780'000'000, 1'790'000'000}, "graph",
      {2, {{"hot", 2}}}, {1, {{"power cap", 1}}},        {1, {{"the clock changed", 1}}}};
  round.details = {{"sample_method", "graph: shorter than 100.0 us"}};
  const std::string text = encode(ReplyMessage{round, {}});
  const auto decoded = decode_reply(text);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(encode(*decoded), text);
  const auto& reply = std::get<RoundReply>(decoded->reply);
  EXPECT_EQ(reply.samples, round.samples);
  EXPECT_EQ(reply.device, round.device);
  EXPECT_EQ(reply.details, round.details);
}

TEST(Replies, OfTheHostsClockSayNothingOfADevice) {
  const std::string text = encode(ReplyMessage{RoundReply{{1us}, 1}, {}});
  EXPECT_EQ(text.find("voided"), std::string::npos);
  EXPECT_EQ(text.find("clock_hz"), std::string::npos);
  EXPECT_EQ(std::get<RoundReply>(decode_reply(text)->reply).device, DeviceSamples{});
}

TEST(Messages, KeysMayComeInAnyOrder) {
  const auto prepare = decode_request(
      R"({"check":"expected","command":"prepare","expected":{"digest":"00ff","values":[0.1,null,-3.0]},)"
      R"("id":"a/b","met_layouts":{"source":"acdb"},"network":{"batch":2,"fuse":false,"input":[3,8,8],)"
      R"("layers":[{"inputs":["input"],"name":"c","op":"conv","parameters":{"bias":true,"k":4,)"
      R"("pad":[[0,1]],"stride":[2]}},{"inputs":["c"],"name":"r","op":"pointwise","parameters":)"
      R"({"alpha":0.5,"function":"leaky_relu"}}],"mode":"inference","name":"tiny"},"seed":7})");
  ASSERT_TRUE(prepare.ok()) << prepare.error().message();
  const auto& request = std::get<PrepareRequest>(*prepare);
  EXPECT_EQ(request.seed, 7u);
  ASSERT_EQ(request.expected.values.size(), 3u);
  EXPECT_TRUE(std::isnan(request.expected.values[1]));
  EXPECT_EQ(request.expected.values[2], -3.0);
  ASSERT_EQ(request.network->definition.layers.size(), 2u);
  EXPECT_EQ(request.network->definition.layers[0].parameters.padding("pad"),
            (std::vector<ops::PadPair>{{0, 1}}));
  EXPECT_EQ(request.network->definition.layers[1].parameters.real("alpha"), 0.5);
  EXPECT_EQ(request.network->fusion, ops::Fusion::separate);

  const auto round = decode_reply(
      R"({"details":{},"reply":"round","samples_ns":[1,2],"spent":{"check_ns":4,"profile_ns":0,"setup_ns":3,)"
      R"("timed_ns":1,"warmup_ns":2},"voided":{"count":1,"reasons":{"hot":1}}})");
  ASSERT_TRUE(round.ok()) << round.error().message();
  EXPECT_EQ(std::get<RoundReply>(round->reply).samples, (std::vector<Nanoseconds>{1ns, 2ns}));
  EXPECT_EQ(std::get<RoundReply>(round->reply).device.voided.reasons.at("hot"), 1);
  EXPECT_EQ(round->spent.check, 4ns);
  EXPECT_EQ(round->spent.profile, 0ns);
}

TEST(Messages, WhatANetworkMayNotContainIsNamed) {
  const auto problem = [](std::string_view layer) {
    const auto request = decode_request(
        R"({"command":"steps","dtype":"f32","network":{"name":"n","input":[1],"layers":[)" +
        std::string(layer) + R"(],"batch":1,"mode":"inference","fuse":true}})");
    return request.ok() ? "(none)" : request.error().message();
  };
  EXPECT_EQ(problem(R"({"name":"c","op":"conv","parameters":{"k":4},"inputs":["input"]})"),
            "(none)");
  EXPECT_THAT(problem(R"({"name":"c","op":"none","parameters":{},"inputs":[]})"),
              testing::HasSubstr("unknown operator `none`"));
  EXPECT_THAT(problem(R"({"name":"c","op":"conv","parameters":{"kk":4},"inputs":[]})"),
              testing::HasSubstr("`network.layers.parameters.kk` is an unknown parameter"));
  EXPECT_THAT(problem(R"({"name":"c","op":"conv","parameters":{"k":"4"},"inputs":[]})"),
              testing::HasSubstr("`network.layers.parameters.k` is not an integer"));
  EXPECT_THAT(problem(R"({"name":"c","op":"conv","inputs":[]})"),
              testing::HasSubstr("`network.layers.parameters` is missing"));
  EXPECT_THAT(decode_request(R"({"command":"steps","dtype":"f32"})").error().message(),
              testing::HasSubstr("`network` is missing"));
}

// What a reply may not say, whatever its fields are.

constexpr Nanoseconds kElapsed = 10ms;

// Returns the error of a reply, or an empty text.
std::string problem_of(const Reply& reply) {
  const auto decoded = decode_reply(encode(ReplyMessage{reply, {}}));
  return decoded ? "" : decoded.error().message();
}
std::string problem_of(const Request& request, const Reply& reply) {
  const auto decoded = decode_reply(encode(ReplyMessage{reply, {}}), request, kElapsed);
  return decoded ? "" : decoded.error().message();
}

PreparedReply a_prepared_case() {
  PreparedReply reply;
  reply.preparation = {1ns, 2ns, 3ns, 4ns};
  reply.memory = {{3}, {2}, {1}};
  reply.output = {"00ff", {-1.5, std::numeric_limits<double>::quiet_NaN()}};
  return reply;
}

PrepareRequest a_prepare_request(CheckKind check) {
  PrepareRequest request;
  request.check = check;
  return request;
}

// A record with such a number could be written, but not read again.
TEST(ReplyRules, ANegativeNumberIsRefusedAsInRecords) {
  PreparedReply prepared = a_prepared_case();
  EXPECT_EQ(problem_of(prepared), "");
  prepared.preparation.create = -1ns;
  EXPECT_THAT(problem_of(prepared), HasSubstr("`create_ns` is not an integer from 0 to "));
  prepared = a_prepared_case();
  prepared.memory.peak = Bytes{-1};
  EXPECT_THAT(problem_of(prepared), HasSubstr("`memory.peak_bytes` is not an integer from 0 to "));
  prepared = a_prepared_case();
  prepared.preparation.reorder = -1ns;
  prepared.memory.weights = Bytes{-1};
  EXPECT_THAT(problem_of(prepared), HasSubstr("`reorder_ns`"));
  EXPECT_THAT(problem_of(RoundReply{{1ns, -1ns}}), HasSubstr("`samples_ns`"));
  EXPECT_THAT(problem_of(WarmedUpReply{1, 1, true, -1ns}), HasSubstr("`sample_ns`"));
  const auto spent = decode_reply(encode(ReplyMessage{DoneReply{}, {1ns, -2ns}}));
  EXPECT_THAT(spent.error().message(), HasSubstr("`spent.warmup_ns`"));
}

TEST(ReplyRules, ValuesOfOutputsAndModelsMayBeNegative) {
  EXPECT_EQ(problem_of(a_prepared_case()), "");
  ops::Model model;
  model.formulas = {{"pad", "-n", "-2", -2}};
  EXPECT_EQ(problem_of(ModelReply{model}), "");
}

TEST(ReplyRules, AnAbsurdNumberIsRefused) {
  EXPECT_THAT(problem_of(RoundReply{{Nanoseconds::max()}}), HasSubstr("`samples_ns`"));
  const Nanoseconds longest(kMaxReplyInteger);
  EXPECT_THAT(problem_of(RoundReply{{longest, longest}}), HasSubstr("the sum of `samples_ns`"));
  EXPECT_THAT(problem_of(RoundReply{std::vector<Nanoseconds>(1000, longest)}),
              HasSubstr("the sum of `samples_ns`"));
  RoundReply round{{1ns}};
  round.device.voided = {1, {{"hot", 2}}};
  EXPECT_THAT(problem_of(round), HasSubstr("more reasons than their `count`"));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(problem_of(WarmedUpReply{most, most, true, 1ns}), HasSubstr("`iterations`"));
  EXPECT_THAT(problem_of(WarmedUpReply{kMaxIterationsPerSample + 1, kMaxIterationsPerSample + 1,
                                       true, 1ns}),
              HasSubstr("`iterations_per_sample` is not within 1 and 1e+06"));
  EXPECT_THAT(problem_of(WarmedUpReply{1, 2, true, 1ns}),
              HasSubstr("`iterations` is less than `iterations_per_sample`"));
  EXPECT_THAT(problem_of(WatchedReply{1, {1ns}, {1ns}, {1ns}, {1ns}, {}, {}}),
              HasSubstr("its lists have different lengths"));
}

TEST(ReplyRules, OnlyFourOutcomesAreRefusals) {
  for (const Outcome outcome : {Outcome::ok, Outcome::crashed, Outcome::timed_out}) {
    EXPECT_THAT(
        problem_of(ErrorReply{outcome, "because"}),
        HasSubstr(fmt::format("a refusal cannot have the outcome `{}`", to_string(outcome))));
  }
  for (const Outcome outcome :
       {Outcome::unsupported, Outcome::skipped, Outcome::wrong_result, Outcome::failed})
    EXPECT_EQ(problem_of(ErrorReply{outcome, "because"}), "");
}

TEST(ReplyRules, WhatIsPreparedIsNeitherUnsupportedNorSkipped) {
  for (const Request& request : {Request(WarmUpRequest{}), Request(RoundRequest{1})}) {
    for (const Outcome outcome : {Outcome::unsupported, Outcome::skipped, Outcome::wrong_result}) {
      EXPECT_THAT(problem_of(request, ErrorReply{outcome, "because"}),
                  HasSubstr(fmt::format("`{}` cannot be refused with the outcome `{}`",
                                        command_name(request), to_string(outcome))));
    }
    EXPECT_EQ(problem_of(request, ErrorReply{Outcome::failed, "because"}), "");
  }
  EXPECT_EQ(problem_of(a_prepare_request(CheckKind::none), ErrorReply{Outcome::unsupported, ""}),
            "");
  EXPECT_EQ(problem_of(ReleaseRequest{}, ErrorReply{Outcome::wrong_result, ""}), "");
}

TEST(ReplyRules, AReplyOfAnotherKindDoesNotAnswerARequest) {
  EXPECT_THAT(problem_of(RoundRequest{1}, DoneReply{}),
              HasSubstr("`done` does not answer `round`"));
  EXPECT_EQ(problem_of(QuitRequest{}, DoneReply{}), "");
}

TEST(ReplyRules, TheFirstPreparationHasAnOutput) {
  PreparedReply reply = a_prepared_case();
  EXPECT_EQ(problem_of(a_prepare_request(CheckKind::reference), reply), "");
  reply.output = {};
  EXPECT_THAT(problem_of(a_prepare_request(CheckKind::reference), reply),
              HasSubstr("`output` is empty"));
  EXPECT_EQ(problem_of(a_prepare_request(CheckKind::expected), reply), "");
}

TEST(ReplyRules, NoTimeIsLongerThanTheRequest) {
  EXPECT_EQ(problem_of(WarmUpRequest{}, WarmedUpReply{1, 1, true, kElapsed}), "");
  EXPECT_THAT(problem_of(WarmUpRequest{}, WarmedUpReply{1, 1, true, 1h}),
              HasSubstr("it reports a sample of 3600"));
  EXPECT_EQ(problem_of(RoundRequest{2}, RoundReply{{kElapsed / 2, kElapsed / 2}}), "");
  EXPECT_THAT(problem_of(RoundRequest{2}, RoundReply{{kElapsed, kElapsed}}),
              HasSubstr("it reports samples of 20.00 ms, which is longer than the request (10.00"));
  EXPECT_THAT(problem_of(RoundRequest{1}, RoundReply{{1ns, 2ns}}),
              HasSubstr("it has 2 samples instead of 1"));
}

// A slowdown on purpose lengthens a time on a device's clock without waiting.
TEST(ReplyRules, ATimeOnTheClockOfADeviceMayBeTwiceAsLong) {
  RoundReply round{{2 * kElapsed, 2 * kElapsed}};
  round.device.sample_method = "stream";
  const RoundRequest of_duet{.samples = 2, .iterations_per_sample = 1};
  EXPECT_EQ(problem_of(of_duet, round), "");
  round.samples[1] = 3 * kElapsed;
  EXPECT_THAT(problem_of(of_duet, round), HasSubstr("it reports a sample of 30.00 ms"));
  EXPECT_EQ(problem_of(RoundRequest{2}, round), "");  // the clocks need not agree
  round.samples[1] = 2 * kDeviceClockTolerance;
  EXPECT_THAT(problem_of(RoundRequest{2}, round), HasSubstr("it reports a sample of 2.000 s"));
}

}  // namespace
}  // namespace bench
