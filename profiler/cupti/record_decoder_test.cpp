// SPDX-License-Identifier: Apache-2.0
// Real structures, read by the real library, without a GPU.
#include "profiler/cupti/record_decoder.hpp"

#include "profiler/cupti/synthetic_buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::SyntheticBuffer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CuptiDecoderTest : public testing::Test {
 protected:
  GpuSession decode(SyntheticBuffer& buffer) {
    GpuSession session;
    decoder_.decode(buffer.data(), buffer.size(), session);
    return session;
  }
  template <class Record>
  Record only(SyntheticBuffer& buffer) {
    const GpuSession session = decode(buffer);
    EXPECT_THAT(session.faults, IsEmpty());
    EXPECT_THAT(session.records, SizeIs(1));
    return session.records.size() == 1 ? std::get<Record>(session.records[0]) : Record{};
  }
  template <class Record, class Structure>
  Record decoded(const Structure& structure) {
    SyntheticBuffer buffer;
    buffer.add(structure);
    return only<Record>(buffer);
  }

  const CuptiLibrary library_ = test::toolkit_cupti();
  CuptiDecoder decoder_{library_.api};
};

TEST_F(CuptiDecoderTest, Kernel) {
  CUpti_ActivityKernel10 record = test::kernel_record({"_Z4gemmv", 1000, 3500, 9, 77, 1, 1});
  record.deviceId = 2;
  record.gridX = 32;
  record.gridY = 4;
  record.gridZ = 3;
  record.blockX = 128;
  record.blockY = 2;
  record.registersPerThread = 168;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 65536;
  record.graphNodeId = 5'000'000'001u;
  record.queued = 900;
  GpuKernel expected;
  expected.name = "_Z4gemmv";
  expected.time = GpuInterval{1000ns, 3500ns};
  expected.place = {2, 1, 9};
  expected.grid = {32, 4, 3};
  expected.block = {128, 2, 1};
  expected.registers = 168;
  expected.static_shared_bytes = 1024;
  expected.dynamic_shared_bytes = 65536;
  expected.correlation = 77;
  expected.queued = 900ns;
  expected.graph_node = 5'000'000'001u;
  EXPECT_TRUE(decoded<GpuKernel>(record) == expected);
  record.kind = CUPTI_ACTIVITY_KIND_KERNEL;
  EXPECT_TRUE(decoded<GpuKernel>(record) == expected);
}

TEST_F(CuptiDecoderTest, WhatAKernelDoesNotSayIsAbsent) {
  test::Launch launch;
  launch.name = nullptr;
  const auto kernel = decoded<GpuKernel>(test::kernel_record(launch));
  EXPECT_EQ(kernel.name, "(no name)");
  EXPECT_EQ(kernel.time, std::nullopt);  // start and end are 0
  EXPECT_EQ(kernel.correlation, std::nullopt);
  EXPECT_EQ(kernel.queued, std::nullopt);
  EXPECT_EQ(kernel.graph_node, std::nullopt);
}

TEST_F(CuptiDecoderTest, CopiesOfEveryKind) {
  for (int kind = 0; kind <= CUPTI_ACTIVITY_MEMCPY_KIND_PTOP; ++kind) {
    auto record = test::copy_record(static_cast<CUpti_ActivityMemcpyKind>(kind), 5, 10, 20, 3);
    const auto copy = decoded<GpuMemcpy>(record);
    EXPECT_EQ(static_cast<int>(copy.kind), kind);
  }
  for (int kind = 0; kind <= CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC; ++kind) {
    auto record = test::copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 5, 10, 20, 3);
    record.srcKind = static_cast<std::uint8_t>(kind);
    EXPECT_EQ(static_cast<int>(decoded<GpuMemcpy>(record).source), kind);
  }
  auto large = test::copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 5'368'709'120, 10, 20, 3);
  large.graphNodeId = 4;
  const auto copy = decoded<GpuMemcpy>(large);
  EXPECT_EQ(to_string(copy.kind), "device_to_host");
  EXPECT_EQ(to_string(copy.source), "device");
  EXPECT_EQ(to_string(copy.destination), "pinned");
  EXPECT_EQ(copy.bytes, 5'368'709'120);
  EXPECT_EQ(copy.time, (GpuInterval{10ns, 20ns}));
  EXPECT_EQ(copy.correlation, 3u);
  EXPECT_EQ(copy.graph_node, 4u);
  EXPECT_EQ(copy.source_device, std::nullopt);
  large.copyKind = 200;  // a kind of a later version
  EXPECT_EQ(decoded<GpuMemcpy>(large).kind, GpuCopyKind::unknown);
}

TEST_F(CuptiDecoderTest, CopiesBetweenDevices) {
  CUpti_ActivityMemcpyPtoP4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.bytes = 64;
  record.start = 1;
  record.end = 2;
  record.srcDeviceId = 3;
  record.dstDeviceId = 4;
  const auto copy = decoded<GpuMemcpy>(record);
  EXPECT_EQ(copy.kind, GpuCopyKind::peer_to_peer);
  EXPECT_EQ(copy.source_device, 3);
  EXPECT_EQ(copy.destination_device, 4);
}

TEST_F(CuptiDecoderTest, Memset) {
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.bytes = 4096;
  record.start = 100;
  record.end = 160;
  record.streamId = 7;
  record.correlationId = 8;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  const auto fill = decoded<GpuMemset>(record);
  EXPECT_TRUE(
      fill ==
      (GpuMemset{
          GpuMemoryKind::managed, 4096, GpuInterval{100ns, 160ns}, {0, 0, 7}, 8, std::nullopt}));
}

TEST_F(CuptiDecoderTest, AllocationAndRelease) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = 0x7f00'0000'0000u;
  record.bytes = 104'857'600;
  record.timestamp = 55;
  record.deviceId = 1;
  record.source = "/usr/lib/libcudnn.so.9";
  auto change = decoded<GpuAllocation>(record);
  EXPECT_EQ(change.change, GpuAllocationChange::allocation);
  EXPECT_EQ(change.address, 0x7f00'0000'0000u);
  EXPECT_EQ(change.bytes, 104'857'600);
  EXPECT_EQ(change.at, 55ns);
  EXPECT_EQ(change.place.device, 1);
  EXPECT_EQ(change.library, "/usr/lib/libcudnn.so.9");
  record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record.source = nullptr;
  change = decoded<GpuAllocation>(record);
  EXPECT_EQ(change.change, GpuAllocationChange::release);
  EXPECT_EQ(change.library, "");
}

TEST_F(CuptiDecoderTest, CallsHaveTheirNames) {
  SyntheticBuffer buffer;
  auto failed = test::call_record(CUPTI_ACTIVITY_KIND_RUNTIME,
                                  CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1, 2, 33, 4);
  failed.returnValue = 700;
  buffer.add(failed)
      .add(test::call_record(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 5,
                             6, 33, 7))
      .add(test::call_record(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, 5,
                             6, 33, 8))
      .add(test::call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 99'999, 5, 6, 33, 9));
  const GpuSession session = decode(buffer);
  ASSERT_THAT(session.records, SizeIs(4));
  const GpuApiCall expected{GpuApiDomain::runtime, "cudaLaunchKernel", {1ns, 2ns}, 33, 4, 700};
  EXPECT_TRUE(std::get<GpuApiCall>(session.records[0]) == expected);
  EXPECT_EQ(std::get<GpuApiCall>(session.records[1]).name, "cuLaunchKernel");
  EXPECT_EQ(std::get<GpuApiCall>(session.records[1]).domain, GpuApiDomain::driver);
  EXPECT_EQ(std::get<GpuApiCall>(session.records[2]).name, "cuMemAlloc_v2");  // its real name
  EXPECT_EQ(std::get<GpuApiCall>(session.records[3]).name, "call 99999");
}

TEST_F(CuptiDecoderTest, ExternalIds) {
  SyntheticBuffer buffer;
  CUpti_ActivityExternalCorrelation phase = test::id_record(2, 11);
  phase.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  buffer.add(test::id_record(18'446'744'073'709'551'615u, 10)).add(phase);
  const GpuSession session = decode(buffer);
  ASSERT_THAT(session.records, SizeIs(2));
  EXPECT_TRUE(std::get<GpuExternalId>(session.records[0]) ==
              (GpuExternalId{GpuExternalKind::operation, 18'446'744'073'709'551'615u, 10}));
  EXPECT_TRUE(std::get<GpuExternalId>(session.records[1]) ==
              (GpuExternalId{GpuExternalKind::phase, 2, 11}));
}

TEST_F(CuptiDecoderTest, OverheadsOfEveryKind) {
  constexpr std::pair<CUpti_ActivityOverheadKind, const char*> kOverheads[] = {
      {CUPTI_ACTIVITY_OVERHEAD_UNKNOWN, "unknown"},
      {CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, "driver_compiler"},
      {CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, "buffer_flush"},
      {CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, "instrumentation"},
      {CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, "resource"},
      {CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING, "module_loading"},
      {CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, "lazy_function_loading"},
      {CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, "command_buffer_full"},
      {CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, "buffer_request"},
      {CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT, "unified_memory"},
      {static_cast<CUpti_ActivityOverheadKind>(9 << 16), "unknown"},
      {static_cast<CUpti_ActivityOverheadKind>(3), "unknown"}};
  for (const auto& [kind, name] : kOverheads) {
    CUpti_ActivityOverhead3 record{};
    record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    record.overheadKind = kind;
    record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    record.objectId.pt.threadId = 33;
    record.start = 5;
    record.end = 6;
    record.correlationId = 12;
    const auto overhead = decoded<GpuOverhead>(record);
    EXPECT_EQ(to_string(overhead.kind), name) << kind;
    EXPECT_EQ(overhead.thread, 33);
    EXPECT_EQ(overhead.correlation, 12u);
    EXPECT_EQ(overhead.time, (GpuInterval{5ns, 6ns}));
  }
}

TEST_F(CuptiDecoderTest, Synchronisation) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  record.start = 5;
  record.end = 60;
  record.contextId = 1;
  record.streamId = 7;
  record.correlationId = 12;
  EXPECT_TRUE(decoded<GpuSynchronisation>(record) ==
              (GpuSynchronisation{GpuWaitKind::stream, {5ns, 60ns}, 1, 7, 12}));
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  record.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  EXPECT_TRUE(decoded<GpuSynchronisation>(record) ==
              (GpuSynchronisation{GpuWaitKind::context, {5ns, 60ns}, 1, {}, 12}));
}

// Two zeros mean that there is no time. Such records used to appear at the time of boot.
TEST_F(CuptiDecoderTest, WhatIsNothingWithoutItsTimeIsPassedOver) {
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = 211;
  SyntheticBuffer buffer;
  buffer.add(overhead).add(wait).add(call);
  const GpuSession session = decode(buffer);
  EXPECT_THAT(session.records, IsEmpty());
  EXPECT_THAT(session.faults, IsEmpty());
  EXPECT_EQ(decoder_.other_kinds(), 0);
}

TEST_F(CuptiDecoderTest, DevicesAndContexts) {
  CUpti_ActivityDevice5 record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.id = 3;
  record.name = "NVIDIA H200";
  record.computeCapabilityMajor = 9;
  record.numThreadsPerWarp = 32;
  record.maxWarpsPerMultiprocessor = 64;
  record.maxBlocksPerMultiprocessor = 32;
  record.maxThreadsPerBlock = 1024;
  record.maxRegistersPerMultiprocessor = 65536;
  record.maxRegistersPerBlock = 65536;
  record.maxSharedMemoryPerMultiprocessor = 233472;
  record.numMultiprocessors = 132;
  record.globalMemorySize = std::uint64_t{141} << 30;
  const GpuDevice expected{3,
                           "NVIDIA H200",
                           {9, 0, 32, 64, 32, 1024, 65536, 65536, 233472},
                           132,
                           std::int64_t{141} << 30};
  EXPECT_TRUE(decoded<GpuDevice>(record) == expected);
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 4;
  context.deviceId = 3;
  EXPECT_TRUE(decoded<GpuContext>(context) == (GpuContext{4, 3}));
}

TEST_F(CuptiDecoderTest, KindsThatNobodyAskedForAreCounted) {
  SyntheticBuffer buffer;
  CUpti_ActivityGraphTrace2 graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  buffer.add(test::kernel_record({})).add(graph).add(test::kernel_record({}));
  const GpuSession session = decode(buffer);
  EXPECT_THAT(session.records, SizeIs(2));
  EXPECT_THAT(session.faults, IsEmpty());
  EXPECT_EQ(decoder_.other_kinds(), 1);
}

TEST_F(CuptiDecoderTest, ADamagedBufferIsAFaultAndKeepsWhatCameBefore) {
  SyntheticBuffer buffer;
  CUpti_ActivityAPI invalid{};
  invalid.kind = CUPTI_ACTIVITY_KIND_INVALID;
  buffer.add(test::kernel_record({})).add(invalid).add(test::kernel_record({}));
  const GpuSession session = decode(buffer);
  EXPECT_THAT(session.records, SizeIs(1));
  EXPECT_THAT(session.faults,
              ElementsAre(testing::AllOf(HasSubstr("cannot be read after 1 records"),
                                         HasSubstr("CUPTI_ERROR_INVALID_KIND"))));
}

TEST_F(CuptiDecoderTest, SeveralBuffersFillOneSession) {
  GpuSession session;
  for (int i = 0; i < 3; ++i) {
    SyntheticBuffer buffer;
    buffer.add(test::kernel_record({})).add(test::id_record(1, 2));
    decoder_.decode(buffer.data(), buffer.size(), session);
  }
  EXPECT_THAT(session.records, SizeIs(6));
  SyntheticBuffer empty;
  decoder_.decode(reinterpret_cast<std::uint8_t*>(&session), 0, session);
  EXPECT_THAT(session.records, SizeIs(6));
}

}  // namespace
}  // namespace bench
