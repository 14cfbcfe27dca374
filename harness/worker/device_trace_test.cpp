// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/device_trace.hpp"

#include "harness/wire/messages.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ScriptedTracer final : public ops::DeviceTracer {
 public:
  Status begin(std::uint32_t groups) override {
    calls.push_back("begin " + std::to_string(groups));
    if (!conflict.empty()) return Error{conflict, "", ""};
    return Done{};
  }
  Status open_window() override {
    calls.emplace_back("window");
    return Done{};
  }
  void region_begins(std::uint64_t id) noexcept override {
    calls.push_back("region " + std::to_string(id));
  }
  void region_ends() noexcept override { calls.emplace_back("ends"); }
  Result<std::string> finish() override {
    calls.emplace_back("finish");
    return text;
  }

  std::vector<std::string> calls;
  std::string conflict, text;
};

class TracedBackend final : public ops::Backend {
 public:
  std::string_view name() const override { return "cublas"; }
  std::string_view device() const override { return "cuda"; }
  ops::LibraryInfo library() const override { return {}; }
  ops::DeviceTracer* tracer() override { return has_tracer ? &scripted : nullptr; }
  Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create(const ops::Problem&) override {
    return ops::BackendError{};
  }
  Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create(const ops::Network&) override {
    return ops::BackendError{};
  }

  ScriptedTracer scripted;
  bool has_tracer = true;
};

class DeviceTraceTest : public testing::Test {
 protected:
  // Records two kernels of region 1, 1 us apart, and one without a region.
  void record(std::int64_t dropped = 0) {
    test::GpuScript script;
    script.add(test::hopper());
    script.launch("gemm", test::during(10000, 11000), 1);
    script.launch("splitkreduce", test::during(12000, 13000), 1);
    script.launch("stray", test::during(13000, 14000), 0);
    script.session.dropped = dropped;
    script.session.tracer = "CUPTI 13.0.1";
    backend_.scripted.text = format_gpu_session(script.session);
  }
  static OperatorExecution owner() {
    return {"case", "net:fc", "forward", "gemm", 5, GpuOperatorWork{100, 10}};
  }

  TracedBackend backend_;
  ProfileSwitches switches_;
};

TEST_F(DeviceTraceTest, AsksForTheGroupsThatAreWanted) {
  switches_.groups = {RecordGroup::operators, RecordGroup::memory, RecordGroup::device};
  const DeviceTrace trace(backend_, switches_);
  EXPECT_TRUE(trace.is_recording());
  EXPECT_TRUE(trace.is_recording_memory());
  EXPECT_THAT(backend_.scripted.calls, ElementsAre("begin 6"));
}

TEST_F(DeviceTraceTest, DoesNothingWithoutARequestedGroupOrATracer) {
  switches_.groups = {RecordGroup::operators};
  EXPECT_FALSE(DeviceTrace(backend_, switches_).is_recording());
  EXPECT_THAT(backend_.scripted.calls, IsEmpty());
  switches_ = {};
  backend_.has_tracer = false;
  DeviceTrace trace(backend_, switches_);
  EXPECT_EQ(trace.obstacle(), "");
  EXPECT_TRUE(trace.open_window().ok());
  EXPECT_EQ(trace.begin_region(), 0U);
  trace.end_region();
  EXPECT_THAT(backend_.scripted.calls, IsEmpty());
}

TEST_F(DeviceTraceTest, NamesWhatIsInTheWay) {
  backend_.scripted.conflict = "Nsight Systems is attached";
  const DeviceTrace trace(backend_, switches_);
  EXPECT_FALSE(trace.is_recording());
  EXPECT_THAT(trace.obstacle(), HasSubstr("Nsight Systems is attached"));
}

TEST_F(DeviceTraceTest, RegionsHaveIdsOfTheirOwnAndAreEnded) {
  {
    DeviceTrace trace(backend_, switches_);
    EXPECT_EQ(trace.begin_region(), 1U);
    trace.end_region();
    trace.end_region();
    EXPECT_EQ(trace.begin_region(), 2U);  // for a step that fails
    EXPECT_EQ(trace.begin_region(), 3U);
  }
  EXPECT_THAT(backend_.scripted.calls, ElementsAre("begin 7", "region 1", "ends", "region 2",
                                                   "ends", "region 3", "ends", "finish"));
}

TEST_F(DeviceTraceTest, KernelsBelongToTheOwnersOfTheirRegions) {
  record();
  DeviceTrace trace(backend_, switches_);
  trace.attribute(trace.begin_region(), owner());
  const auto join = trace.finish({});
  ASSERT_TRUE(join.ok()) << join.error().message();
  EXPECT_FALSE(trace.is_recording());
  const auto kernels = test::of_kind(join->activities, ActivityKind::kernel);
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].scope, "net:fc");
  EXPECT_EQ(kernels[0].attributes.integer(Attribute::flops), 100);
  EXPECT_EQ(kernels[0].attributes.integer(Attribute::iteration), 5);
  EXPECT_EQ(kernels[1].attributes.integer(Attribute::flops), 0);
  EXPECT_EQ(kernels[2].scope, "");
  const auto details = trace_details(*join, trace);
  EXPECT_EQ(details.at("gpu.tracer"), "CUPTI 13.0.1");
  EXPECT_EQ(details.at("gpu.kernels"), "3");
  EXPECT_EQ(details.at("gpu.kernel_sum_ns"), "3000");
  EXPECT_EQ(details.at("gpu.kernel_union_ns"), "3000");
  EXPECT_EQ(details.at("gpu.busy_share"), "0.7500");
  EXPECT_EQ(details.at("gpu.gap_max_ns"), "1000");
  EXPECT_THAT(details.at(kTraceNoteDetail), HasSubstr("1 kernel belongs to no known operator"));
  EXPECT_FALSE(details.contains(kTraceVoidDetail));
}

TEST_F(DeviceTraceTest, CopiesHaveTotalMeanAndWaitApart) {
  test::GpuScript script;
  for (const std::int64_t start : {100, 400}) {
    GpuMemcpy copy;
    copy.bytes = 64;
    copy.time = test::during(start, start + 30);
    copy.correlation = script.call("cudaMemcpyAsync", test::during(start - 20, start - 10), 11, 0);
    script.add(copy);
  }
  backend_.scripted.text = format_gpu_session(script.session);
  DeviceTrace trace(backend_, switches_);
  const auto join = trace.finish({});
  ASSERT_TRUE(join.ok()) << join.error().message();
  const auto details = trace_details(*join, trace);
  EXPECT_EQ(details.at("gpu.copy_count"), "2");
  EXPECT_EQ(details.at("gpu.copy_bytes"), "128");
  EXPECT_EQ(details.at("gpu.copy_total_ns"), "60");
  EXPECT_EQ(details.at("gpu.copy_mean_ns"), "30");
  EXPECT_EQ(details.at("gpu.copy_wait_ns"), "40");
  EXPECT_FALSE(details.contains("gpu.fill_count"));
}

TEST_F(DeviceTraceTest, MemoryIsListedByRoleAndOtherMemoryByTheDriversCount) {
  test::GpuScript script;
  script.memory(GpuAllocationChange::allocation, 0x1000, 600, 10);
  script.memory(GpuAllocationChange::allocation, 0x2000, 30, 20).role = "cold copy";
  script.memory(GpuAllocationChange::allocation, 0x3000, 5, 30).library = "/x/libcudnn.so.9";
  script.memory(GpuAllocationChange::release, 0x2000, 30, 40);
  GpuReading reading;
  reading.at = Nanoseconds(50);
  reading.memory = GpuProcessMemory{1605, GpuMemorySource::process};
  script.add(reading);
  backend_.scripted.text = format_gpu_session(script.session);
  DeviceTrace trace(backend_, switches_);
  const auto join = trace.finish([](const GpuAllocation& allocation) {
    return allocation.address == 0x1000
               ? std::optional<GpuAllocationTag>(GpuAllocationTag{"source", "input"})
               : std::nullopt;
  });
  ASSERT_TRUE(join.ok()) << join.error().message();
  const auto details = trace_details(*join, trace);
  EXPECT_EQ(details.at("gpu.memory.peak_bytes"), "635");
  EXPECT_EQ(details.at("gpu.memory.peak.input_bytes"), "600");
  EXPECT_EQ(details.at("gpu.memory.peak.cold_copy_bytes"), "30");
  EXPECT_EQ(details.at("gpu.memory.peak.library_bytes"), "5");
  EXPECT_EQ(details.at("gpu.memory.other_bytes"), "1000");
  EXPECT_EQ(details.at("gpu.memory.other_source"), "the driver's count of this process");
}

TEST_F(DeviceTraceTest, OtherMemoryIsAbsentIfTheDriverDoesNotReportTheProcess) {
  test::GpuScript script;
  script.memory(GpuAllocationChange::allocation, 0x1000, 600, 10);
  script.add(GpuReading{});
  backend_.scripted.text = format_gpu_session(script.session);
  DeviceTrace trace(backend_, switches_);
  const auto join = trace.finish({});
  ASSERT_TRUE(join.ok()) << join.error().message();
  const auto details = trace_details(*join, trace);
  EXPECT_EQ(details.at("gpu.memory.peak_bytes"), "600");
  EXPECT_FALSE(details.contains("gpu.memory.other_bytes"));
  EXPECT_FALSE(details.contains("gpu.memory.other_source"));
  EXPECT_THAT(details.at(kTraceNoteDetail), HasSubstr("the memory of this process"));
}

TEST_F(DeviceTraceTest, MissingRecordsVoidIt) {
  record(3);
  DeviceTrace trace(backend_, switches_);
  const auto join = trace.finish({});
  ASSERT_TRUE(join.ok());
  EXPECT_THAT(trace_details(*join, trace).at(kTraceVoidDetail),
              HasSubstr("3 records were dropped"));
}

TEST_F(DeviceTraceTest, ColdIterationsAreNoted) {
  GpuJoin join;
  DeviceTrace trace(backend_, switches_);
  trace.attribute(trace.begin_region(), owner());
  join.cold = {1, 9};
  EXPECT_THAT(trace_details(join, trace).at(kTraceNoteDetail), HasSubstr("in iteration 5"));
}

TEST_F(DeviceTraceTest, WhatCannotBeReadIsAnError) {
  backend_.scripted.text = "nonsense";
  DeviceTrace trace(backend_, switches_);
  EXPECT_FALSE(trace.finish({}).ok());
}

}  // namespace
}  // namespace bench
