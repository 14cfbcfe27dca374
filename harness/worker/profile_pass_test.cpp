// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/profile_pass.hpp"

#include "tests/fakes/profile_pass_fixture.hpp"

namespace bench {
namespace {

TEST_F(ProfilePassTest, TheWindowHasSoManyIterationsOfRecords) {
  ProfileRequest wanted = request();
  wanted.switches["iterations"] = "20-25";
  const ProfiledReply reply = profiled(wanted);
  EXPECT_EQ(reply.iterations, 6);
  const auto operations = spooled(ActivityKind::operation);
  ASSERT_EQ(operations.size(), 6u);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EXPECT_EQ(operations[i].attributes.integer(Attribute::iteration), 20 + static_cast<int>(i));
  }
  EXPECT_EQ(reply.activities, static_cast<std::int64_t>(spooled().size()));
}

TEST_F(ProfilePassTest, AttributedAndUnattributedMakeTheWall) {
  ProfileRequest wanted = request();
  wanted.switches["iterations"] = "5-9";
  const ProfiledReply reply = profiled(wanted);
  EXPECT_EQ(reply.wall, 5 * 45us);
  EXPECT_EQ(reply.attributed, 5 * 40us);
  EXPECT_EQ(reply.unattributed, 5 * 5us);
  Nanoseconds wall{0}, inside{0};
  for (const Activity& range : named(spooled(ActivityKind::range), "iteration")) {
    wall += range.duration.value_or(0ns);
  }
  for (const Activity& operation : spooled(ActivityKind::operation)) {
    inside += operation.duration.value_or(0ns);
  }
  EXPECT_EQ(wall, reply.wall);
  EXPECT_EQ(inside, reply.attributed);
}

TEST_F(ProfilePassTest, TheCostIsTheMedianWithAndWithoutCollectors) {
  const ProfiledReply reply = profiled(request());
  EXPECT_EQ(reply.profiled, 45us);
  EXPECT_EQ(reply.unprofiled, 60us);  // duration of run(), which the timing pass calls
}

TEST_F(ProfilePassTest, AnOperationBearsCaseScopeAndWork) {
  ProfileRequest wanted = request();
  wanted.scope = {"net", "a:b"};
  profiled(wanted);
  const auto operations = spooled(ActivityKind::operation);
  ASSERT_FALSE(operations.empty());
  const Activity& operation = operations.front();
  EXPECT_EQ(operation.name, "gemm");
  EXPECT_EQ(operation.case_id, kGemm);
  EXPECT_EQ(operation.scope, "net:a\\:b");
  EXPECT_EQ(operation.direction, "forward");
  EXPECT_EQ(operation.duration, 40us);
  const Attributes& attributes = operation.attributes;
  EXPECT_EQ(attributes.text(Attribute::op), "gemm");
  EXPECT_EQ(attributes.text(Attribute::parameters), "m4n4k4");
  EXPECT_EQ(attributes.text(Attribute::dtype), "f32");
  EXPECT_EQ(attributes.text(Attribute::implementation), "brg:avx512_core");
  EXPECT_EQ(attributes.text(Attribute::in_shapes), "4x4 4x4");
  EXPECT_EQ(attributes.text(Attribute::out_shapes), "4x4");
  EXPECT_EQ(attributes.integer(Attribute::macs), 64);
  EXPECT_EQ(attributes.integer(Attribute::flops), 128);
  EXPECT_EQ(attributes.integer(Attribute::bytes), 3 * 64);
}

TEST_F(ProfilePassTest, CallsAndCountersAreSeen) {
  ProfileRequest wanted = request();
  wanted.switches["iterations"] = "0-1";
  profiled(wanted);
  const auto calls = spooled(ActivityKind::api);
  const auto creations = named(calls, "fake_create");
  ASSERT_EQ(creations.size(), 2u);
  EXPECT_EQ(creations[0].duration, 5000ns);
  EXPECT_EQ(creations[1].duration, 50ns);
  EXPECT_EQ(creations[0].case_id, kGemm);
  const auto executions = named(calls, "dnnl_primitive_execute");
  const auto waits = named(calls, "dnnl_stream_wait");
  ASSERT_EQ(executions.size(), 2u);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(executions[1].duration, 30us);
  EXPECT_EQ(waits[1].duration, 10us);
  EXPECT_EQ(waits[1].start, executions[1].start + 30us);
  EXPECT_EQ(executions[1].attributes.integer(Attribute::iteration), 1);
  std::vector<double> values;
  for (const Activity& counter : named(spooled(ActivityKind::counter), "concurrency")) {
    values.push_back(counter.attributes.real(Attribute::value).value_or(-1));
  }
  EXPECT_EQ(std::ranges::max(values), 1);
  EXPECT_EQ(values.size(), 2 * calls.size());
}

TEST_F(ProfilePassTest, EveryBufferIsAllocatedAndReleased) {
  const ProfiledReply reply = profiled(request());
  std::multiset<std::string> roles;
  Nanoseconds end{0};
  for (const Activity& allocation : spooled(ActivityKind::allocation)) {
    roles.emplace(allocation.attributes.text(Attribute::role));
    EXPECT_TRUE(allocation.duration.has_value());
    EXPECT_EQ(allocation.attributes.integer(Attribute::size_bytes), 64);
    end = std::max(end, allocation.start + allocation.duration.value_or(0ns));
  }
  EXPECT_EQ(roles, (std::multiset<std::string>{"input", "weights", "output", "staging", "staging",
                                               "scratchpad", "scratchpad"}));
  const auto live = named(spooled(ActivityKind::counter), "live_bytes");
  ASSERT_EQ(live.size(), 2 * roles.size());
  EXPECT_EQ(live.back().attributes.real(Attribute::value), 0);
  EXPECT_EQ(reply.peak.count, 5 * 64);  // buffers, scratchpad, and a plain tensor during packing
}

TEST_F(ProfilePassTest, ColdCopiesAreAllocations) {
  server_.handle(HelloRequest{1, {0}, Bytes{1 << 20}});
  const ProfiledReply reply = profiled(request("gemm/forward/m16n16k16/f32/onednn/cpu/cold"));
  std::int64_t copies = 0;
  for (const Activity& allocation : spooled(ActivityKind::allocation)) {
    if (allocation.attributes.text(Attribute::role) != "cold copy") continue;
    EXPECT_EQ(allocation.attributes.integer(Attribute::size_bytes), 2 << 20);
    ++copies;
  }
  EXPECT_EQ(copies, 2);  // one to read, one to write
  EXPECT_TRUE(reply.details.contains("cold.sets"));
  EXPECT_GT(reply.peak.count, 4 << 20);
}

TEST_F(ProfilePassTest, MemoryIsSampledAfterEveryNthOperator) {
  for (const int rate : {0, 1, 2, 5, 6}) {
    std::remove(spool_.c_str());
    ProfileRequest wanted = request();
    wanted.switches["iterations"] = "3-7";  // 5 operators
    wanted.switches["sample_rate"] = std::to_string(rate);
    profiled(wanted);
    const auto samples = named(spooled(ActivityKind::counter), "live_bytes_sampled");
    EXPECT_EQ(samples.size(), static_cast<std::size_t>(rate == 0 ? 0 : 5 / rate)) << rate;
  }
}

// Returns the group of an activity according to its record in the file.
std::string group_name(const Activity& activity) {
  if (activity.kind != ActivityKind::counter) {
    return std::string(to_string(record_group(activity.kind)));
  }
  return activity.name.starts_with("live_bytes") ? "memory" : "api";
}

TEST_F(ProfilePassTest, EachSwitchRemovesExactlyItsRows) {
  backend_.fakes().prints = true;
  const auto rows_with = [&](const std::string& kinds) {
    std::remove(spool_.c_str());
    ProfileRequest wanted = request();
    wanted.switches = {{"kinds", kinds}, {"sample_rate", "2"}};
    profiled(wanted);
    std::map<std::string, std::int64_t> rows;
    for (const Activity& activity : spooled()) ++rows[group_name(activity)];
    return rows;
  };
  const auto all = rows_with("operators,api,memory,device");
  EXPECT_EQ(all.size(), 3u);  // no activities on a device
  for (const std::string off : {"operators", "api", "memory", "device"}) {
    std::string kinds;
    for (const std::string_view kind : enumerator_names<RecordGroup>()) {
      if (kind != off) kinds += (kinds.empty() ? "" : ",") + std::string(kind);
    }
    auto expected = all;
    expected.erase(off);
    EXPECT_EQ(rows_with(kinds), expected) << "without " << off;
  }
}

TEST_F(ProfilePassTest, TheLibrarysLinesLieInTheirOperator) {
  backend_.fakes().prints = true;
  ProfileRequest wanted = request();
  wanted.switches["iterations"] = "5-6";
  wanted.scope = {"net"};
  const ProfiledReply reply = profiled(wanted);
  EXPECT_EQ(reply.malformed, 0);
  const auto operations = spooled(ActivityKind::operation);
  const auto primitives = spooled(ActivityKind::primitive);
  ASSERT_EQ(primitives.size(), 2u);
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    EXPECT_EQ(primitives[i].name, "matmul");
    EXPECT_EQ(primitives[i].start, operations[i].start);
    EXPECT_EQ(primitives[i].duration, 20us);
    EXPECT_EQ(primitives[i].scope, "net");
    EXPECT_EQ(primitives[i].case_id, kGemm);
    EXPECT_EQ(primitives[i].direction, "forward");
    EXPECT_EQ(primitives[i].attributes.integer(Attribute::flops), 128);
    EXPECT_EQ(primitives[i].attributes.integer(Attribute::iteration), 5 + static_cast<int>(i));
  }
}

TEST_F(ProfilePassTest, UnreadableLinesAreCountedAndForeignOnesPassedOn) {
  backend_.fakes().prints = true;
  script_.steps[0].output = "onednn_verbose,exec,cpu,matmul,brg\nhello\nonednn_verbose,v9,x,y\n";
  ProfileRequest wanted = request();
  wanted.switches["iterations"] = "5-6";
  testing::internal::CaptureStdout();
  const ProfiledReply reply = profiled(wanted);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(reply.malformed + reply.unknown, 4);
  EXPECT_EQ(reply.notes.size(), 4u);
  EXPECT_EQ(printed, "hello\nhello\n");
}

TEST_F(ProfilePassTest, ActivitiesComeInTheOrderOfTheirEnds) {
  backend_.fakes().prints = true;
  profiled(request());
  Nanoseconds last{0};
  for (const Activity& activity : spooled()) {
    if (activity.kind == ActivityKind::allocation) continue;  // they span everything
    const Nanoseconds end = activity.start + activity.duration.value_or(0ns);
    EXPECT_GE(end, last) << activity.name;
    last = end;
  }
}

TEST_F(ProfilePassTest, ANetworksStepsAreItsLayersAndReorders) {
  auto network = std::make_shared<PlannedNetwork>();
  network->definition.name = "tiny";
  network->definition.input = {3, 8, 8};
  ops::LayerDefinition conv;
  conv.name = "conv:1";
  conv.op = "conv";
  conv.parameters = ops::ParameterSet(ops::find_operator("conv")->parameters);
  conv.parameters.set("k", std::int64_t{4});
  conv.parameters.set("r", std::int64_t{1});
  conv.parameters.set("s", std::int64_t{1});
  conv.inputs = {"input"};
  network->definition.layers = {conv};
  ops::KernelStep first;
  first.node = "conv:1";
  first.kind = "convolution";
  ops::KernelStep second;
  second.node = "conv:1";
  second.kind = "reorder";
  second.moved = ops::MovedTensor{{1, 4, 8, 8}, DataType::f32};
  script_.steps = {{first, 10us, 0us, 0us, ""}, {second, 4us, 1us, 0us, ""}};
  ProfileRequest wanted = request("network/forward/tiny/f32/onednn/cpu/hot");
  wanted.prepare.network = network;
  wanted.scope = {"tiny"};
  wanted.switches["iterations"] = "0";
  const ProfiledReply reply = profiled(wanted);
  EXPECT_EQ(reply.attributed, 15us);
  const auto operations = spooled(ActivityKind::operation);
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].name, "conv:1");
  EXPECT_EQ(operations[0].scope, "tiny:conv\\:1");
  EXPECT_EQ(operations[0].attributes.integer(Attribute::flops), 2 * 64 * 4 * 3);
  EXPECT_EQ(operations[1].name, "reorder");
  EXPECT_EQ(operations[1].scope, "tiny:conv\\:1");
  EXPECT_EQ(operations[1].attributes.integer(Attribute::flops), 0);
  EXPECT_EQ(operations[1].attributes.integer(Attribute::bytes), 2 * 4 * 4 * 64);
  EXPECT_EQ(operations[1].attributes.text(Attribute::in_shapes), "1x4x8x8");
}

// The steps of the backend `native` in a network had no primitive, so tables by layer left out
// their time.
TEST_F(ProfilePassTest, AStepThatTheLibraryDoesNotPrintIsAPrimitiveWithItsWork) {
  auto network = std::make_shared<PlannedNetwork>();
  network->definition.name = "tiny";
  network->definition.input = {3, 8, 8};
  ops::LayerDefinition conv;
  conv.name = "conv";
  conv.op = "conv";
  conv.parameters = ops::ParameterSet(ops::find_operator("conv")->parameters);
  conv.parameters.set("k", std::int64_t{4});
  conv.parameters.set("r", std::int64_t{1});
  conv.parameters.set("s", std::int64_t{1});
  conv.inputs = {"input"};
  ops::LayerDefinition relu;
  relu.name = "relu";
  relu.op = "pointwise";
  relu.parameters = ops::ParameterSet(ops::find_operator("pointwise")->parameters);
  relu.parameters.set("function", std::string("relu"));
  relu.inputs = {"conv"};
  network->definition.layers = {conv, relu};
  network->fusion = ops::Fusion::separate;
  const ops::KernelStep printed{"conv", "convolution", "brg", "", {}};
  const ops::KernelStep native{"relu", "pointwise", "native:pointwise", "", {}};
  script_.steps = {
      {printed, 20us, 0us, 0us,
       "onednn_verbose,exec,cpu,convolution,brg,forward_inference,src_f32::blocked:abcd:f0 "
       "wei_f32::blocked:abcd:f0 dst_f32::blocked:abcd:f0,,alg:convolution_direct,"
       "mb1_ic3oc4_ih8oh8kh1sh1dh0ph0_iw8ow8kw1sw1dw0pw0,0.02\n"},
      {native, 30us, 1us, 0us, ""}};
  backend_.fakes().prints = true;
  ProfileRequest wanted = request("network/forward/tiny+separate/f32/onednn/cpu/hot");
  wanted.prepare.network = network;
  wanted.scope = {"tiny"};
  wanted.switches["iterations"] = "0-1";
  const ProfiledReply reply = profiled(wanted);
  const auto primitives = spooled(ActivityKind::primitive);
  ASSERT_EQ(primitives.size(), 4u);
  Nanoseconds in_primitives{0};
  for (const Activity& primitive : primitives) in_primitives += primitive.duration.value_or(0ns);
  EXPECT_EQ(in_primitives, 2 * (20us + 30us));
  EXPECT_EQ(reply.wall - in_primitives, 2 * 1us);
  EXPECT_EQ(primitives[0].name, "convolution");
  const Activity& foreign = primitives[1];
  EXPECT_EQ(foreign.name, "pointwise");
  EXPECT_EQ(foreign.scope, "tiny:relu");
  EXPECT_EQ(foreign.direction, "forward");
  EXPECT_EQ(foreign.duration, 30us);
  EXPECT_EQ(foreign.start, spooled(ActivityKind::operation)[1].start);
  EXPECT_EQ(foreign.attributes.text(Attribute::op), "pointwise");
  EXPECT_EQ(foreign.attributes.text(Attribute::implementation), "native:pointwise");
  EXPECT_EQ(foreign.attributes.integer(Attribute::flops), 4 * 64);
  EXPECT_EQ(foreign.attributes.integer(Attribute::bytes), 2 * 4 * 4 * 64);
  EXPECT_EQ(foreign.attributes.integer(Attribute::iteration), 0);
}

// Its line counted as one of the preparation, and its step as a primitive of another backend.
TEST_F(ProfilePassTest, TheFirstRunIsRecordedOnceIfTheLibraryPrintedNothingBefore) {
  backend_.fakes().prints = true;
  ProfileRequest wanted = request();
  wanted.announce = true;
  wanted.switches["iterations"] = "0";
  profiled(wanted);
  std::int64_t ended = 0;
  for (const Activity& primitive : spooled(ActivityKind::primitive)) {
    if (!primitive.duration) continue;
    ++ended;
    EXPECT_EQ(primitive.attributes.integer(Attribute::flops), 128);
  }
  EXPECT_EQ(ended, 2);  // the first run and an iteration
}

// Such a step stayed unfinished in the trace of a failure.
TEST_F(ProfilePassTest, AnAnnouncedStepThatTheLibraryDoesNotPrintEnds) {
  backend_.fakes().prints = true;
  script_.steps[0].output = "";
  ProfileRequest wanted = request();
  wanted.announce = true;
  wanted.switches["iterations"] = "0";
  profiled(wanted);
  std::vector<Nanoseconds> begun, ended;
  for (const Activity& primitive : spooled(ActivityKind::primitive)) {
    EXPECT_EQ(primitive.name, "matmul");
    (primitive.duration ? ended : begun).push_back(primitive.start);
  }
  EXPECT_EQ(ended.size(), 2u);  // the first run and an iteration
  EXPECT_EQ(begun, ended);
}

TEST_F(ProfilePassTest, NothingIsRecordedOfTheFirstRunTheCheckAndTheWarmUp) {
  ProfileRequest wanted = request();
  wanted.prepare.check = CheckKind::reference;
  wanted.switches["iterations"] = "5";
  const ProfiledReply reply = profiled(wanted);
  EXPECT_EQ(spooled(ActivityKind::operation).size(), 1u);
  EXPECT_EQ(named(spooled(ActivityKind::api), "dnnl_primitive_execute").size(), 1u);
  EXPECT_THAT(reply.details.at("check"), testing::StartsWith("full, 16 elements"));
}

}  // namespace
}  // namespace bench
