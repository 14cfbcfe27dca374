// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/counters_pass.hpp"

#include "ops/backend/device_counters.hpp"
#include "tests/fakes/profile_pass_fixture.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

ops::Work work(std::optional<std::int64_t> macs, std::int64_t flops) {
  ops::Work work;
  work.macs = macs;
  work.flops = flops;
  work.bytes_read = 3000;
  work.bytes_written = 1000;
  return work;
}

TEST(CounterDetails, ReadingsStandBesideTheirSources) {
  const auto details = counter_details(
      {{"l2_hit_share", {0.5, "lts__t_sector_hit_rate.pct"}}, {"x", {std::nullopt, "no x here"}}},
      work(std::nullopt, 10));
  EXPECT_THAT(details,
              ElementsAre(Pair("counter.l2_hit_share", "0.5000"),
                          Pair("counter.l2_hit_share.source", "lts__t_sector_hit_rate.pct"),
                          Pair("counter.x", "n/a: no x here")));
}

TEST(CounterDetails, TheModelIsCheckedWhereItApplies) {
  const CounterReadings readings = {{"tensor_operations_f16", {1500.0, "a"}},
                                    {"tensor_operations_bf16", {500.0, "b"}},
                                    {"dram_read_bytes", {1000.0, "c"}},
                                    {"dram_write_bytes", {1000.0, "d"}}};
  const auto gemm = counter_details(readings, work(1000, 2000));
  EXPECT_EQ(gemm.at("check.tensor_operations"), "1.000 of the model, as computed");
  EXPECT_THAT(gemm.at("check.dram_bytes"), HasSubstr("0.500 of the model, less"));
  EXPECT_EQ(gemm.at("tensor_cores.types"), "f16, bf16");
  EXPECT_EQ(gemm.at("tensor_cores"), "used (counter)");  // all FLOPs are operations of tensor cores
  EXPECT_THAT(counter_details(readings, work(std::nullopt, 2000)),
              Not(Contains(Key("check.tensor_operations"))));
}

TEST(CountersRequest, IsOneOfCountersAlone) {
  ProfileRequest request;
  request.switches = {{"kinds", "operators,device"}, {"iterations", "5-9"}};
  EXPECT_FALSE(is_counters_request(request));
  EXPECT_TRUE(is_counters_request(counters_request(request)));
  request.switches = {};
  EXPECT_FALSE(is_counters_request(request));
}

class FakeCounters final : public ops::DeviceCounters {
 public:
  Result<CounterReadings, ops::BackendError> measure(
      std::span<ops::Invocation* const> rotation) override {
    for (ops::Invocation* invocation : rotation) executed += invocation->run() ? 1 : 0;
    return answer;
  }
  int executed = 0;
  Result<CounterReadings, ops::BackendError> answer = CounterReadings();
};

// The fake backend with counters.
class CountedBackend final : public ops::Backend {
 public:
  CountedBackend(ops::Backend& inner, ops::DeviceCounters& counters)
      : inner_(inner), counters_(counters) {}
  std::string_view name() const override { return inner_.name(); }
  std::string_view device() const override { return inner_.device(); }
  ops::LibraryInfo library() const override { return inner_.library(); }
  Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create(
      const ops::Problem& problem) override {
    return inner_.create(problem);
  }
  Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create(
      const ops::Network& network) override {
    return inner_.create(network);
  }
  ops::DeviceCounters* counters() override { return &counters_; }
  bool reject_last_engine(std::string_view reason) override {
    return inner_.reject_last_engine(reason);
  }

 private:
  ops::Backend& inner_;
  ops::DeviceCounters& counters_;
};

class CountersPassTest : public ProfilePassTest {
 protected:
  Result<ProfiledReply, ErrorReply> count(const std::string& id = kGemm) {
    CountedBackend counted(backend_, counters_);
    const ProfilePassContext world{counted, clock_, std::nullopt, Bytes{1 << 16}, decoder_};
    return run_counters_pass(world, counters_request(request(id)));
  }
  FakeCounters counters_;
  VerboseDecoder decoder_;
};

TEST_F(CountersPassTest, WhatWasCountedIsInTheDetails) {
  // 2 * 4^3 operations.
  counters_.answer = CounterReadings{{"tensor_instructions", {8.0, "i"}},
                                     {"tensor_active_share", {0.5, "s"}},
                                     {"tensor_operations_tf32", {128.0, "o"}}};
  const auto reply = count();
  ASSERT_TRUE(reply.ok()) << reply.error().reason;
  EXPECT_EQ(reply->details.at("tensor_cores"), "used (counter)");
  EXPECT_EQ(reply->details.at("check.tensor_operations"), "1.000 of the model, as computed");
  EXPECT_EQ(counters_.executed, 1);
  EXPECT_EQ(reply->activities, 0);
}

TEST_F(CountersPassTest, TheProcessorsCountersServeABackendThatComputesOnIt) {
  // Three matrices of 4 x 4 floats.
  counters_.answer = CounterReadings{{"cycles", {2000.0, "c"}}, {"llc_miss_bytes", {192.0, "m"}}};
  ProfilePassContext world{backend_, clock_, std::nullopt, Bytes{1 << 16}, decoder_};
  world.processor = &counters_;
  const auto reply = run_counters_pass(world, counters_request(request()));
  ASSERT_TRUE(reply.ok()) << reply.error().reason;
  EXPECT_THAT(reply->details,
              ElementsAre(Pair("check.llc_miss_bytes", "1.000 of the model, as computed"),
                          Pair("counter.cycles", "2000"), Pair("counter.cycles.source", "c"),
                          Pair("counter.llc_miss_bytes", "192"),
                          Pair("counter.llc_miss_bytes.source", "m")));
  EXPECT_EQ(counters_.executed, 1);
}

// The measuring processes rejected the first engine, whose result is wrong. Its counters are not
// those of the kernel that was measured.
TEST_F(CountersPassTest, CountsTheEngineThatWasMeasured) {
  std::size_t created = 0;
  FakeBackend engines([this](Nanoseconds time) { clock_.advance(time); },
                      [&](const std::string&) {
                        FakeScript script;
                        if (engines.rejected.empty()) script.wrong_element = 6;
                        ++created;
                        return script;
                      });
  engines.further_engines = 1;
  CountedBackend counted(engines, counters_);
  const ProfilePassContext world{counted, clock_, std::nullopt, Bytes{1 << 16}, decoder_};
  ProfileRequest checked = request();
  checked.prepare.check = CheckKind::reference;
  ASSERT_TRUE(run_counters_pass(world, counters_request(checked)).ok());
  EXPECT_EQ(engines.rejected.size(), 1u);
  EXPECT_EQ(created, 4u);  // two creations of each engine
  EXPECT_EQ(counters_.executed, 1);
  // The last engine is wrong too: nothing is counted.
  engines.rejected.clear();
  engines.further_engines = 0;
  const auto wrong = run_counters_pass(world, counters_request(checked));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().outcome, Outcome::wrong_result);
  EXPECT_EQ(counters_.executed, 1);
}

TEST_F(CountersPassTest, ColdCachesRotateOverTheArena) {
  ASSERT_TRUE(count("gemm/forward/m4n4k4/f32/onednn/cpu/cold").ok());
  EXPECT_GT(counters_.executed, 1);
}

TEST_F(CountersPassTest, WhatMayNotBeReadIsNoFailureAndWhatFailsIs) {
  counters_.answer =
      ops::BackendError{ops::BackendError::Kind::unsupported, "for administrators alone"};
  const auto forbidden = count();
  ASSERT_TRUE(forbidden.ok());
  EXPECT_THAT(forbidden->details, ElementsAre(Pair("counters", "n/a: for administrators alone")));
  counters_.answer = ops::BackendError{ops::BackendError::Kind::failed, "the device is lost"};
  const auto lost = count();
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().outcome, Outcome::failed);
  EXPECT_EQ(lost.error().reason, "the device is lost");
}

TEST_F(CountersPassTest, ABackendWithoutCountersSaysSoAndMakesNothing) {
  const ProfiledReply reply = profiled(counters_request(request()));
  EXPECT_THAT(
      reply.details,
      ElementsAre(Pair("counters", "n/a: the backend `onednn` cannot read hardware counters")));
  EXPECT_EQ(reply.iterations, 0);
  EXPECT_EQ(backend_.creations(), 0);
}

TEST_F(CountersPassTest, ACaseThatIsNoneIsRefused) {
  const Reply reply = handle(counters_request(request("gemm/forward/m4")));
  EXPECT_TRUE(std::holds_alternative<ErrorReply>(reply));
}

}  // namespace
}  // namespace bench
