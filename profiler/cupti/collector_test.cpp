// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/collector.hpp"

#include "profiler/cupti/scripted_cupti.hpp"
#include "profiler/cupti/synthetic_buffer.hpp"
#include "profiler/gpu/join.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <unistd.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CuptiCollectorTest : public testing::Test {
 protected:
  CuptiCollectorTest() : library_(test::toolkit_cupti()) {
    library_.api = test::scripted_cupti(library_.api, script_);
  }

  std::unique_ptr<CuptiCollector> started(const CuptiOptions& options = {}) {
    auto collector = CuptiCollector::start(library_, options, process_);
    EXPECT_TRUE(collector.ok()) << collector.error().message();
    return collector.ok() ? std::move(collector).value() : nullptr;
  }
  std::string start_error() {
    const auto collector = CuptiCollector::start(library_, {}, process_);
    return collector.ok() ? "started" : collector.error().message();
  }
  // Returns the calls that begin with one of the words, in order.
  std::vector<std::string> calls(const std::vector<std::string>& words) const {
    std::vector<std::string> found;
    for (const std::string& call : script_.calls) {
      const bool wanted = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return call.starts_with(word);
      });
      if (wanted) found.push_back(call);
    }
    return found;
  }
  void add_kernel(const char* name = "_Z6kernelv") {
    script_.buffers.emplace_back().add(test::kernel_record({name, 10, 20}));
  }
  GpuSynchronise synchronise() {
    return [this]() -> Status {
      script_.calls.push_back("synchronise");
      return Done{};
    };
  }

  test::CuptiScript script_;
  CuptiLibrary library_;
  CuptiProcess process_;
};

TEST_F(CuptiCollectorTest, TheOrderOfCalls) {
  auto collector = started();
  add_kernel();
  const GpuSession session = collector->finish(synchronise());
  EXPECT_THAT(session.records, SizeIs(1));
  EXPECT_THAT(collector->notes(), IsEmpty());
  std::vector<std::string> order = script_.calls;
  std::erase_if(order, [](const std::string& call) {
    return call.starts_with("runtime") || call.starts_with("driver");
  });
  EXPECT_THAT(
      order,
      ElementsAre("subscribe bench", "thread ids 1", "attribute 5 = 1", "timestamp", "buffers",
                  // kernels, copies, memsets, synchronisations, overheads, memory, devices,
                  // contexts, runtime calls, driver calls, external ids
                  "enable 10", "enable 1", "enable 22", "enable 2", "enable 38", "enable 17",
                  "enable 49", "enable 8", "enable 9", "enable 5", "enable 4", "enable 39",
                  "allocation source 1", "enable callback 13", "enable callback 20", "synchronise",
                  "flush 0", "flush 1", "disable 39", "disable 4", "disable 5", "disable 9",
                  "disable 8", "disable 49", "disable 17", "disable 38", "disable 2", "disable 22",
                  "disable 1", "disable 10", "allocation source 0", "disable callback 13",
                  "disable callback 20"));
  collector.reset();  // adds nothing; the subscriber stays
  EXPECT_EQ(script_.calls.back(), "disable callback 20");
}

// CUPTI 13.0.1 delivers no DEVICE record on an H100.
TEST_F(CuptiCollectorTest, ADeviceWithoutARecordIsDescribedByTheDriver) {
  CuptiOptions options;
  std::vector<std::int64_t> asked;
  options.describe_device = [&](std::int64_t device) {
    asked.push_back(device);
    GpuDevice description;
    description.device = device;
    description.name = "by the driver";
    return std::optional(description);
  };
  const auto collector = started(options);
  add_kernel();
  GpuSession early;  // kernels that an earlier delivery contained count, too
  collector->collect(early);
  EXPECT_THAT(asked, IsEmpty());  // the call would be traced
  const GpuSession session = collector->finish(synchronise());
  EXPECT_THAT(asked, ElementsAre(0));
  ASSERT_THAT(session.records, SizeIs(1));
  EXPECT_EQ(std::get<GpuDevice>(session.records.front()).name, "by the driver");
}

TEST_F(CuptiCollectorTest, ADeviceWithARecordIsNotDescribedAgain) {
  CuptiOptions options;
  options.describe_device = [](std::int64_t) -> std::optional<GpuDevice> {
    ADD_FAILURE() << "the record describes it";
    return std::nullopt;
  };
  const auto collector = started(options);
  add_kernel();
  CUpti_ActivityDevice5 record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.id = 0;
  script_.buffers.back().add(record);
  EXPECT_THAT(collector->finish(synchronise()).records, SizeIs(2));
}

// Enabling a kind of API records resets which calls of this kind are traced. Frequent, cheap calls
// must therefore be disabled after it.
TEST_F(CuptiCollectorTest, NoiseIsSwitchedOffAfterItsKind) {
  const auto collector = started();
  const auto place = [&](const std::string& call) {
    return std::find(script_.calls.begin(), script_.calls.end(), call) - script_.calls.begin();
  };
  EXPECT_LT(place("enable 5"), place("runtime 17 0"));  // cudaGetDevice
  EXPECT_LT(place("enable 4"), place("driver 304 0"));  // cuCtxGetCurrent
  EXPECT_LT(place("driver 686 0"), static_cast<std::ptrdiff_t>(script_.calls.size()));
}

TEST_F(CuptiCollectorTest, AGroupThatIsOffIsNotTraced) {
  CuptiOptions options;
  options.groups = {RecordGroup::memory};
  const auto collector = started(options);
  EXPECT_THAT(calls({"enable "}), ElementsAre("enable 49", "enable 5", "enable 39",
                                              "enable callback 13", "enable callback 20"));
}

// The driver's launch calls identify kernels that cuDNN launches without the runtime.
TEST_F(CuptiCollectorTest, WithoutApiOnlyLaunchesOfTheDriver) {
  CuptiOptions options;
  options.groups = {RecordGroup::device};
  const auto collector = started(options);
  EXPECT_THAT(calls({"enable 4", "enable 49"}), IsEmpty());
  EXPECT_THAT(calls({"driver"}),
              ElementsAre("driver 307 1", "driver 442 1", "driver 652 1", "driver 653 1",
                          "driver 477 1", "driver 478 1", "driver 514 1", "driver 515 1"));
  script_.calls.clear();
  collector->finish(synchronise());  // later calls are no longer traced
  EXPECT_THAT(calls({"driver"}),
              ElementsAre("driver 307 0", "driver 442 0", "driver 652 0", "driver 653 0",
                          "driver 477 0", "driver 478 0", "driver 514 0", "driver 515 0"));
}

TEST_F(CuptiCollectorTest, AnotherProfilerIsNamedAndMayBeGoneLater) {
  script_.results["subscribe bench"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  script_.other_tool = "Nsight Systems";
  EXPECT_THAT(start_error(),
              HasSubstr("another profiler (Nsight Systems) is attached to this process"));
  EXPECT_THAT(script_.calls, ElementsAre("subscribe bench"));
  script_.results.clear();
  EXPECT_EQ(start_error(), "started");
}

TEST_F(CuptiCollectorTest, NoDriverIsAReason) {
  script_.results["subscribe bench"] = CUPTI_ERROR_UNKNOWN;
  EXPECT_THAT(start_error(), testing::AllOf(HasSubstr("CUPTI: cannot subscribe"),
                                            HasSubstr("(999)"), HasSubstr("bench doctor")));
}

TEST_F(CuptiCollectorTest, AKindThatIsNeededFailsTheStartAndIsUndone) {
  script_.results["enable 2"] = CUPTI_ERROR_INVALID_KIND;
  EXPECT_THAT(start_error(), HasSubstr("no records of MEMSET: CUPTI_ERROR_INVALID_KIND (21)"));
  EXPECT_THAT(calls({"disable ", "unsubscribe"}),
              ElementsAre("disable 22", "disable 1", "disable 10", "disable callback 13",
                          "disable callback 20", "unsubscribe"));
}

TEST_F(CuptiCollectorTest, AKindThatCanBeDoneWithoutIsANote) {
  script_.results["enable 17"] = CUPTI_ERROR_NOT_COMPATIBLE;
  const auto collector = started();
  EXPECT_THAT(collector->notes(), ElementsAre(HasSubstr("no records of OVERHEAD")));
  EXPECT_THAT(calls({"disable 17"}), IsEmpty());
}

TEST_F(CuptiCollectorTest, OneSessionAProcess) {
  { const auto collector = started(); }
  EXPECT_THAT(start_error(), testing::AllOf(HasSubstr("a second traced session in one process"),
                                            HasSubstr("in a separate process")));
  EXPECT_THAT(calls({"subscribe"}), SizeIs(1));
}

TEST_F(CuptiCollectorTest, TimesAreOfTheMonotonicClock) {
  const auto collector = started();
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(time.tv_nsec);
  };
  const std::uint64_t before = now();
  const std::uint64_t stamp = script_.timestamp();
  EXPECT_LE(before, stamp);
  EXPECT_LE(stamp, now());
}

TEST_F(CuptiCollectorTest, RegionsAreMarkedAndBalanced) {
  const auto collector = started();
  script_.calls.clear();
  {
    const CuptiRegion outer(*collector, GpuExternalKind::operation, 1);
    const CuptiRegion phase(*collector, GpuExternalKind::phase, 9);
    const CuptiRegion inner(*collector, GpuExternalKind::operation, 2);
  }
  EXPECT_THAT(script_.calls,
              ElementsAre("push 3 1", "push 4 9", "push 3 2", "pop 3", "pop 4", "pop 3"));
}

TEST_F(CuptiCollectorTest, ARegionThatIsNotTakenIsAFaultAndNotPopped) {
  const auto collector = started();
  script_.results["push 3 1"] = CUPTI_ERROR_UNKNOWN;
  { const CuptiRegion region(*collector, GpuExternalKind::operation, 1); }
  EXPECT_THAT(calls({"pop"}), IsEmpty());
  EXPECT_THAT(collector->finish(synchronise()).faults,
              ElementsAre("1 operators could not be marked"));
}

// Opening the window discards the records of the warm-up, except those of what still exists:
// devices, contexts and memory.
TEST_F(CuptiCollectorTest, AWindowBeginsAnew) {
  const auto collector = started();
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1;
  CUpti_ActivityMemory4 memory{};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.bytes = 4096;
  script_.buffers.emplace_back()
      .add(test::kernel_record({"_Z4warmv", 1, 2}))
      .add(context)
      .add(memory);
  script_.dropped[0] = 5;
  script_.calls.clear();
  ASSERT_TRUE(collector->open_window(synchronise()).ok());
  EXPECT_THAT(script_.calls, ElementsAre("synchronise", "flush 0"));
  add_kernel("_Z5countv");
  const GpuSession session = collector->finish(synchronise());
  ASSERT_THAT(session.records, SizeIs(3));
  EXPECT_TRUE(std::holds_alternative<GpuContext>(session.records[0]));
  EXPECT_EQ(std::get<GpuAllocation>(session.records[1]).bytes, 4096);
  EXPECT_EQ(std::get<GpuKernel>(session.records[2]).name, "_Z5countv");
  EXPECT_EQ(session.dropped, 0);
  EXPECT_EQ(session.pid, getpid());
  EXPECT_THAT(session.tracer, HasSubstr("CUPTI 13."));
}

TEST_F(CuptiCollectorTest, DroppedRecordsVoidThePass) {
  const auto collector = started();
  add_kernel();
  script_.dropped[0] = 7;
  const GpuSession session = collector->finish(synchronise());
  EXPECT_EQ(session.dropped, 7);
  EXPECT_THAT(join_gpu_session(session).void_reasons,
              ElementsAre(HasSubstr("7 records were dropped")));
}

TEST_F(CuptiCollectorTest, RecordsBeyondTheLimitVoidThePass) {
  CuptiOptions options;
  options.buffer_bytes = 1024;
  options.most_bytes = 2048;
  const auto collector = started(options);
  for (int i = 0; i < 5; ++i) add_kernel();
  const GpuSession session = collector->finish(synchronise());
  EXPECT_EQ(script_.buffer_size, 1024u);
  EXPECT_THAT(session.records, SizeIs(testing::Le(2u)));
  EXPECT_THAT(session.faults, ElementsAre(HasSubstr("record buffers: limit of")));
}

TEST_F(CuptiCollectorTest, AWarmUpBeyondTheLimitVoidsNothingButItsAllocations) {
  for (const bool memory : {false, true}) {
    CuptiOptions options;
    options.buffer_bytes = 1024;
    options.most_bytes = 2048;
    if (!memory) options.groups.erase(RecordGroup::memory);
    CuptiProcess process;
    auto started = CuptiCollector::start(library_, options, process);
    ASSERT_TRUE(started.ok()) << started.error().message();
    for (int i = 0; i < 5; ++i) add_kernel();
    ASSERT_TRUE((*started)->open_window(synchronise()).ok());
    add_kernel();
    const GpuSession session = (*started)->finish(synchronise());
    EXPECT_THAT(session.records, SizeIs(1));
    if (memory) {
      EXPECT_THAT(session.faults, ElementsAre(HasSubstr("allocations of the warm-up are unknown")));
    } else {
      EXPECT_THAT(session.faults, IsEmpty());
    }
  }
}

TEST_F(CuptiCollectorTest, ADeviceThatFailsIsAFault) {
  const auto collector = started();
  add_kernel();
  script_.results["flush 1"] = CUPTI_ERROR_UNKNOWN;
  const GpuSession session = collector->finish([] {
    return Status(Error{"an illegal memory access was encountered", "cuda", ""});
  });
  EXPECT_THAT(session.faults,
              ElementsAre(HasSubstr("the device did not finish: cuda: an illegal memory access"),
                          HasSubstr("records were not delivered")));
  EXPECT_THAT(session.records, SizeIs(1));  // existing records are kept
}

// A graph node gets the operator that is active during its capture. A cloned node refers to its
// original.
TEST_F(CuptiCollectorTest, NodesOfGraphsHaveTheirOperator) {
  const auto collector = started();
  CUpti_GraphData graph{};
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &graph;
  const auto happened = [&](CUpti_CallbackId id, std::uintptr_t node, std::uintptr_t original) {
    graph.node = reinterpret_cast<CUgraphNode>(node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(original);
    script_.callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, id, &resource);
  };
  {
    const CuptiRegion outer(*collector, GpuExternalKind::operation, 1);
    const CuptiRegion inner(*collector, GpuExternalKind::operation, 2);
    happened(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 10, 0);
    happened(CUPTI_CBID_RESOURCE_STREAM_CREATED, 99, 0);
  }
  happened(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 11, 0);
  happened(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, 20, 10);
  ASSERT_TRUE(collector->open_window(synchronise()).ok());  // keeps graph nodes
  const GpuSession session = collector->finish(synchronise());
  ASSERT_THAT(session.records, SizeIs(3));
  EXPECT_TRUE(std::get<GpuGraphNode>(session.records[0]) == (GpuGraphNode{10, {}, 2}));
  EXPECT_TRUE(std::get<GpuGraphNode>(session.records[1]) == (GpuGraphNode{11, {}, {}}));
  EXPECT_TRUE(std::get<GpuGraphNode>(session.records[2]) == (GpuGraphNode{20, 10, {}}));
}

// CUPTI's threads may deliver buffers late.
TEST_F(CuptiCollectorTest, BuffersThatComeAfterTheEndAreFreed) {
  auto collector = started();
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, records = 0;
  script_.requested(&buffer, &size, &records);
  ASSERT_NE(buffer, nullptr);
  collector.reset();
  script_.completed(nullptr, 0, buffer, size, 0);
  script_.requested(&buffer, &size, &records);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(size, 0u);
  script_.callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                   nullptr);
}

TEST_F(CuptiCollectorTest, CollectsWhatIsCompleteWithoutWaitingOrEnding) {
  const auto collector = started();
  add_kernel();
  GpuSession session;
  collector->collect(session);
  EXPECT_EQ(session.records.size(), 1U);
  EXPECT_THAT(calls({"flush", "synchronise", "disable"}), ElementsAre("flush 0"));
  add_kernel();
  collector->collect(session);
  EXPECT_EQ(session.records.size(), 2U);
  script_.results["flush 0"] = CUPTI_ERROR_UNKNOWN;
  collector->collect(session);
  EXPECT_THAT(session.faults, ElementsAre(HasSubstr("records were not delivered")));
  add_kernel();
  EXPECT_EQ(collector->finish(synchronise()).records.size(), 1U);
}

}  // namespace
}  // namespace bench
