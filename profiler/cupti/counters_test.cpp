// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/counters.hpp"

#include "profiler/cupti/scripted_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array kCounters = {
    LogicalCounter::tensor_instructions, LogicalCounter::tensor_active_share,
    LogicalCounter::tensor_operations_bf16, LogicalCounter::dram_read_bytes};

class CounterSessionTest : public testing::Test {
 protected:
  Result<std::unique_ptr<CounterSession>, CounterError> start(
      std::span<const LogicalCounter> counters = kCounters) {
    library_ = test::scripted_counters(test::toolkit_counters(), script_);
    return CounterSession::start(library_, CounterDevice{}, counters);
  }
  // Returns why counters are unavailable, whether this shows at the start or during measurement.
  CounterError error() {
    auto session = start();
    if (!session) return session.error();
    auto readings = (*session)->measure([] { return Status(Done{}); });
    if (!readings) return readings.error();
    ADD_FAILURE() << "no error";
    return {};
  }
  CounterError error(const std::string& call, CUptiResult result) {
    script_.results = {{call, result}};
    return error();
  }
  std::ptrdiff_t count(const std::string& call) const {
    return std::count(script_.calls.begin(), script_.calls.end(), call);
  }

  test::CounterScript script_;
  CounterLibrary library_;
};

TEST_F(CounterSessionTest, ReadsWhatWasCounted) {
  script_.values = {{"sm__inst_executed_pipe_tensor.sum", 4096},
                    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 75},
                    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 137438953472.0},
                    {"dram__bytes_read.sum", 67108864}};
  auto session = start();
  ASSERT_TRUE(session.ok()) << session.error().error.message();
  EXPECT_EQ((*session)->chip(), "GH100");
  EXPECT_GE((*session)->passes(), 1u);
  int executions = 0;
  const auto readings = (*session)->measure([&] {
    ++executions;
    return Status(Done{});
  });
  ASSERT_TRUE(readings.ok()) << readings.error().error.message();
  EXPECT_EQ(executions, 2);
  EXPECT_EQ(find_value(*readings, LogicalCounter::tensor_instructions), 4096);
  EXPECT_DOUBLE_EQ(find_value(*readings, LogicalCounter::tensor_active_share).value(), 0.75);
  EXPECT_EQ(find_value(*readings, LogicalCounter::tensor_operations_bf16), 137438953472.0);
  EXPECT_EQ(find_value(*readings, LogicalCounter::dram_read_bytes), 67108864);
  EXPECT_EQ(readings->at("dram_read_bytes").source, "dram__bytes_read.sum");
}

TEST_F(CounterSessionTest, CallsComeInTheOrderThatWorks) {
  {
    auto session = start();
    ASSERT_TRUE(session.ok());
    script_.calls.clear();
    ASSERT_TRUE((*session)->measure([&] {
      script_.calls.emplace_back("execute");
      return Status(Done{});
    }));
  }
  EXPECT_THAT(script_.calls,
              ElementsAre("enable", "data_size", "initialize_data", "set_config",  //
                          "start", "push", "execute", "pop", "stop",               //
                          "start", "push", "execute", "pop", "stop",               //
                          "decode", "data_info", "evaluate", "disable", "deinitialize"));
}

TEST_F(CounterSessionTest, MeasuresAgain) {
  auto session = start();
  ASSERT_TRUE(session.ok());
  const auto execute = [] { return Status(Done{}); };
  ASSERT_TRUE((*session)->measure(execute).ok());
  ASSERT_TRUE((*session)->measure(execute).ok());
  EXPECT_EQ(count("enable"), 2);
  EXPECT_EQ(count("disable"), 2);
}

TEST_F(CounterSessionTest, WhatTheChipLacksIsUnansweredAndTheRestIsRead) {
  script_.chip = "GB20B";
  script_.passes_needed = 1;
  auto session = start();
  ASSERT_TRUE(session.ok());
  const auto readings = (*session)->measure([] { return Status(Done{}); });
  ASSERT_TRUE(readings.ok());
  EXPECT_EQ(find_value(*readings, LogicalCounter::dram_read_bytes), std::nullopt);
  EXPECT_THAT(readings->at("dram_read_bytes").source, HasSubstr("GB20B has no dram__bytes_read"));
  EXPECT_TRUE(find_value(*readings, LogicalCounter::tensor_instructions).has_value());
}

TEST_F(CounterSessionTest, NothingIsExecutedWhereNoQuestionCanBeAnswered) {
  script_.chip = "GB20B";
  constexpr std::array kReadBytes = {LogicalCounter::dram_read_bytes};
  auto session = start(kReadBytes);
  ASSERT_TRUE(session.ok());
  const auto readings = (*session)->measure([]() -> Status { return Error{"executed", "", ""}; });
  ASSERT_TRUE(readings.ok());
  EXPECT_EQ(readings->size(), 1u);
  EXPECT_EQ((*session)->passes(), 0u);
}

TEST_F(CounterSessionTest, WhoMayNotReadCountersLearnsHow) {
  for (const char* call : {"initialize", "availability", "enable", "set_config", "start"}) {
    const CounterError refused = error(call, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    EXPECT_EQ(refused.obstacle, CounterObstacle::not_permitted) << call;
    EXPECT_THAT(
        refused.error.message(),
        AllOf(HasSubstr("only administrators may read them (ERR_NVGPUCTRPERM)"),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), HasSubstr("CAP_SYS_ADMIN"),
              HasSubstr("RmProfilingAdminOnly"), HasSubstr("/proc/driver/nvidia/params")))
        << call;
  }
}

TEST_F(CounterSessionTest, DevicesWithoutCountersSayWhatTheyAre) {
  const CounterError mig = error("enable", CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
  EXPECT_EQ(mig.obstacle, CounterObstacle::not_supported);
  EXPECT_THAT(mig.error.message(), HasSubstr("MIG"));
  script_.results.clear();
  script_.unsupported = &CUpti_Profiler_DeviceSupported_Params::vGpu;
  const CounterError virtual_gpu = error();
  EXPECT_EQ(virtual_gpu.obstacle, CounterObstacle::not_supported);
  EXPECT_THAT(virtual_gpu.error.message(), HasSubstr("a virtual GPU without profiling"));
  script_.unsupported = nullptr;
  script_.chip = "GX999";
  EXPECT_THAT(error().error.message(), HasSubstr("CUPTI does not know the chip GX999"));
}

TEST_F(CounterSessionTest, AnotherProfilerIsNamedAsWhatItIs) {
  EXPECT_EQ(error("enable", CUPTI_ERROR_HARDWARE_BUSY).obstacle, CounterObstacle::occupied);
  const CounterError other = error("initialize", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(other.obstacle, CounterObstacle::occupied);
  EXPECT_THAT(other.error.message(), HasSubstr("another profiler is attached"));
}

TEST_F(CounterSessionTest, WithoutADriverTheDoctorIsNamed) {
  const CounterError none = error("initialize", CUPTI_ERROR_UNKNOWN);
  EXPECT_EQ(none.obstacle, CounterObstacle::failed);
  EXPECT_THAT(none.error.message(), HasSubstr("`bench doctor`"));
  EXPECT_EQ(count("deinitialize"), 0);
}

// With the real functions, the first one that needs a driver fails because there is none.
TEST_F(CounterSessionTest, TheRealLibraryRefusesWithoutADriver) {
  const CounterLibrary real = test::toolkit_counters();
  CUpti_Profiler_Initialize_Params parameters{};
  parameters.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
  if (real.api.initialize(&parameters) == CUPTI_SUCCESS) GTEST_SKIP() << "there is a driver";
  const auto session = CounterSession::start(real, CounterDevice{}, kCounters);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().obstacle, CounterObstacle::failed);
}

TEST_F(CounterSessionTest, AnExecutionThatFailsIsTheCause) {
  auto session = start();
  ASSERT_TRUE(session.ok());
  script_.results = {{"stop", CUPTI_ERROR_UNKNOWN}};
  const auto readings = (*session)->measure([]() -> Status {
    return Error{"the device is lost", "", ""};
  });
  ASSERT_FALSE(readings.ok());
  EXPECT_EQ(readings.error().error.message(), "the device is lost");
  EXPECT_EQ(count("pop"), 1);
  EXPECT_EQ(count("stop"), 1);
  EXPECT_EQ(count("disable"), 1);
  EXPECT_EQ(count("decode"), 0);
}

TEST_F(CounterSessionTest, ARangeThatDoesNotBeginStopsItsPass) {
  auto session = start();
  ASSERT_TRUE(session.ok());
  script_.results = {{"push", CUPTI_ERROR_INVALID_OPERATION}};
  EXPECT_FALSE((*session)->measure([] { return Status(Done{}); }).ok());
  EXPECT_EQ(count("start"), 1);
  EXPECT_EQ(count("stop"), 1);
  EXPECT_EQ(count("disable"), 1);
}

TEST_F(CounterSessionTest, PassesComeToAnEnd) {
  script_.passes_needed = 1'000'000;
  const CounterError endless = error();
  EXPECT_EQ(endless.obstacle, CounterObstacle::failed);
  EXPECT_THAT(endless.error.message(), HasSubstr("passes did not suffice"));
}

TEST_F(CounterSessionTest, WhatWasDroppedOrIsNotOneRangeIsNoResult) {
  script_.dropped = 1;
  EXPECT_THAT(error().error.message(), HasSubstr("the range was dropped"));
  script_.dropped = 0;
  script_.ranges = 2;
  EXPECT_THAT(error().error.message(), HasSubstr("2 ranges were counted, expected one"));
}

}  // namespace
}  // namespace bench
