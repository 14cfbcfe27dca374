// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/sqlite_profile.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace bench {
namespace {

using test::kNsysSchema;
using test::nsys_number;
using test::read_sqlite;
using test::SqliteProfile;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string nsys_call(std::int64_t start, std::int64_t end, std::int64_t correlation,
                      std::int64_t pid = 7, std::int64_t tid = 8) {
  return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, {}, {}, 1);", start,
                     end, nsys_number(pid, tid), correlation);
}

std::string nsys_kernel(std::int64_t start, std::int64_t end, std::int64_t correlation,
                        std::int64_t pid = 7, int name = 2) {
  return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 13, {}, {}, {});",
                     start, end, correlation, nsys_number(pid), name);
}

std::string nsys_range(std::int64_t start, std::string_view end, std::string_view text,
                       int type = 59, std::int64_t tid = 8) {
  return fmt::format("INSERT INTO NVTX_EVENTS VALUES ({}, {}, {}, {}, '{}');", start, end, type,
                     nsys_number(7, tid), text);
}

SqliteProfile read_fixture(const std::string& name) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/readers/testdata/" + name,
                     std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return test::read_sqlite_bytes(bytes.str());
}

TEST(NsysReader, AKernelHasItsCallItsRangesAndItsShortName) {
  const SqliteProfile profile =
      read_sqlite(std::string(kNsysSchema) + nsys_range(50, "400", "layer:conv1") +
                  nsys_call(100, 200, 5) + nsys_kernel(250, 350, 5));
  ASSERT_EQ(profile.error, "");
  const Activity& kernel = profile.at(ActivityKind::kernel, "add");
  EXPECT_EQ(kernel.start.count(), 250);
  EXPECT_EQ(kernel.duration->count(), 100);
  EXPECT_EQ(kernel.track, (Track{7, 8, 0, 13}));
  EXPECT_EQ(kernel.scope, "conv1");
  EXPECT_EQ(kernel.correlation, 5u);
  EXPECT_EQ(kernel.attributes.integer(Attribute::wait_ns), 150);
  EXPECT_EQ(kernel.attributes.text(Attribute::long_name), "void add<float>(float*)");
  const Activity& call = profile.at(ActivityKind::api, "cudaLaunchKernel");
  EXPECT_EQ(call.track, (Track{7, 8, {}, {}}));
  EXPECT_EQ(call.scope, "conv1");
  EXPECT_EQ(profile.at(ActivityKind::range, "conv1").duration->count(), 350);
  EXPECT_EQ(profile.report.format, "nsys_sqlite");
  EXPECT_EQ(profile.report.malformed, 0);
  EXPECT_EQ(profile.report.activities, static_cast<std::int64_t>(profile.activities.size()));
}

// One number of a correlation may occur in each process.
TEST(NsysReader, CorrelationsOfTwoProcessesAreDifferent) {
  const SqliteProfile profile = read_sqlite(
      std::string(kNsysSchema) + nsys_call(100, 200, 5, 7, 8) + nsys_call(300, 400, 5, 9, 10) +
      nsys_kernel(500, 600, 5, 9) + nsys_kernel(250, 260, 5, 7, 3));
  EXPECT_EQ(profile.at(ActivityKind::kernel, "add").track.pid, 9);
  EXPECT_EQ(profile.at(ActivityKind::kernel, "add").attributes.integer(Attribute::wait_ns), 200);
  EXPECT_EQ(profile.at(ActivityKind::kernel, "nvjet_hsh_64x8").track.tid, 8);
}

TEST(NsysReader, AKernelWithoutACallIsKept) {
  const SqliteProfile profile = read_sqlite(std::string(kNsysSchema) + nsys_kernel(250, 260, 5));
  EXPECT_EQ(profile.at(ActivityKind::kernel, "add").track, (Track{7, 0, 0, 13}));
}

TEST(NsysReader, RangesMayBeStoredInAnyOrder) {
  const SqliteProfile profile =
      read_sqlite(std::string(kNsysSchema) + nsys_range(20, "30", "inner") +
                  nsys_range(10, "90", "layer:outer") + nsys_range(10, "40", "layer:middle") +
                  nsys_call(25, 26, 1) + nsys_kernel(27, 28, 1));
  EXPECT_THAT(profile.names(ActivityKind::range), ElementsAre("inner", "middle", "outer"));
  EXPECT_EQ(profile.at(ActivityKind::range, "inner").scope, "outer:middle");
  EXPECT_EQ(profile.at(ActivityKind::kernel, "add").scope, "outer:middle");
}

TEST(NsysReader, ARangeWithoutAnEndIsUnfinished) {
  const SqliteProfile profile =
      read_sqlite(std::string(kNsysSchema) + nsys_range(10, "NULL", "open") +
                  nsys_range(20, "30", "inside") + nsys_range(5, "50", "of the process", 60));
  const Activity& open = profile.at(ActivityKind::range, "open");
  EXPECT_FALSE(open.duration.has_value());
  EXPECT_EQ(open.attributes.integer(Attribute::unfinished), 1);
  EXPECT_EQ(profile.at(ActivityKind::range, "of the process").duration->count(), 45);
}

TEST(NsysReader, OptionalColumnsMayBeMissing) {
  const SqliteProfile profile =
      read_sqlite(std::string(kNsysSchema) + nsys_call(1, 2, 1) + nsys_kernel(3, 4, 1));
  const Attributes& attributes = profile.at(ActivityKind::kernel, "add").attributes;
  EXPECT_EQ(attributes.text(Attribute::grid), "1,1,1");
  EXPECT_EQ(attributes.find(Attribute::occupancy), nullptr);
}

TEST(NsysReader, AMissingRequiredColumnIsNamedWithItsTable) {
  const SqliteProfile profile = read_sqlite(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, streamId INTEGER);");
  EXPECT_THAT(profile.error, HasSubstr("p.sqlite: table CUPTI_ACTIVITY_KIND_KERNEL: column "
                                       "`deviceId` is missing"));
}

TEST(NsysReader, ADamagedRowCostsANote) {
  const SqliteProfile profile = read_sqlite(
      std::string(kNsysSchema) + nsys_call(1, 2, 1) + nsys_kernel(9, 3, 1) + nsys_kernel(3, 9, 1) +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('soon', 9, 0, 13, 1, 1, 2);" +
      nsys_range(-4, "5", "before the beginning"));
  EXPECT_EQ(profile.names(ActivityKind::kernel).size(), 1u);
  EXPECT_EQ(profile.report.malformed, 3);
  EXPECT_THAT(profile.report.notes,
              ElementsAre("p.sqlite: table CUPTI_ACTIVITY_KIND_KERNEL, row 1: `start` or `end` is "
                          "not a time, or they are reversed",
                          "p.sqlite: table CUPTI_ACTIVITY_KIND_KERNEL, row 3: `start` or `end` is "
                          "not a time, or they are reversed",
                          HasSubstr("p.sqlite: table NVTX_EVENTS, row 1: "),
                          HasSubstr("the occupancy of its kernels is unknown")));
}

TEST(NsysReader, TheNumbersOfEnumerationsComeFromTheFile) {
  const SqliteProfile profile = read_sqlite(
      std::string(kNsysSchema) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
      "streamId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
      "CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT);"
      "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (42, 'CUDA_MEMCPY_KIND_DTOD', 'x');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 100, 42, 2, 2);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3, 4, 0, 7, 100, 1, 1, 2);");
  EXPECT_THAT(profile.names(ActivityKind::memcpy),
              ElementsAre("memcpy device_to_device (device -> device)",
                          "memcpy host_to_device (pinned -> device)"));
  EXPECT_EQ(profile.activities[0].attributes.integer(Attribute::bytes), 200);
}

TEST(NsysReader, TheFixtureIsReadCompletely) {
  const SqliteProfile profile = read_fixture("nsys.sqlite");
  ASSERT_EQ(profile.error, "");
  EXPECT_EQ(profile.report.malformed, 0);
  EXPECT_THAT(profile.report.facts, Contains(Pair("gpu.name", "NVIDIA H200")));
  EXPECT_THAT(profile.report.facts, Contains(Pair("nsys.schema", "3.25.0")));
  EXPECT_EQ(profile.names(ActivityKind::kernel).size(), 11u);  // ten, and a graph as a whole
  EXPECT_THAT(profile.names(ActivityKind::kernel), Contains("graph 6"));
  EXPECT_EQ(profile.names(ActivityKind::memcpy).size(), 2u);
  EXPECT_EQ(profile.names(ActivityKind::memset).size(), 2u);
  EXPECT_THAT(profile.names(ActivityKind::synchronisation), Each("wait for stream 7"));
  EXPECT_THAT(profile.names(ActivityKind::api), Contains("poll"));
  EXPECT_THAT(profile.names(ActivityKind::marker), ElementsAre("done"));
  EXPECT_EQ(profile.names(ActivityKind::allocation).size(), 1u);
  const Activity& prefetch = profile.at(ActivityKind::range, "prefetch");
  EXPECT_EQ(prefetch.attributes.text(Attribute::domain), "data");
  EXPECT_EQ(prefetch.attributes.text(Attribute::auxiliary), "category:io");
  const auto conv = std::ranges::find_if(profile.activities, [](const Activity& activity) {
    return activity.kind == ActivityKind::kernel &&
           activity.name.find("fprop") != std::string::npos;
  });
  ASSERT_NE(conv, profile.activities.end());
  EXPECT_EQ(conv->scope, "conv1");
  EXPECT_EQ(conv->attributes.text(Attribute::grid), "784,1,1");
  EXPECT_TRUE(conv->attributes.real(Attribute::occupancy).has_value());
  EXPECT_EQ(conv->attributes.text(Attribute::process_name), "python3");
}

// Autograd computes gradients on a thread of its own, where no layer is open.
TEST(NsysReader, ABackwardKernelHasTheLayerOfItsForwardOperator) {
  const SqliteProfile profile = read_fixture("nsys.sqlite");
  const auto gradient = std::ranges::find_if(profile.activities, [](const Activity& activity) {
    return activity.kind == ActivityKind::kernel &&
           activity.name.find("dgrad") != std::string::npos;
  });
  ASSERT_NE(gradient, profile.activities.end());
  EXPECT_EQ(gradient->track.tid, 4250);
  EXPECT_EQ(gradient->scope, "conv1");
  EXPECT_EQ(gradient->direction, "backward");
}

// With the model of operators of the caller, an operator's work is on the kernel that computes it.
TEST(NsysReader, TheWorkOfAnOperatorIsOnItsKernel) {
  SqliteProfile profile;
  const auto source =
      open_text(std::string(BENCH_SOURCE_DIR) + "/profiler/readers/testdata/nsys.sqlite");
  ASSERT_TRUE(source.ok());
  std::string asked;
  (*source)->set_work_factory([&](std::string_view capability) {
    asked = capability;
    return [](const FrameworkCall& call) -> std::optional<FrameworkWork> {
      if (call.arguments == nullptr) return std::nullopt;
      FrameworkWork work;
      work.op = "conv";
      work.flops = 1000;
      work.bytes = 50;
      return work;
    };
  });
  ASSERT_TRUE(read_activities(**source, profile).ok());
  EXPECT_EQ(asked, "9.0");
  const auto conv = std::ranges::find_if(profile.activities, [](const Activity& activity) {
    return activity.kind == ActivityKind::kernel &&
           activity.name.find("fprop") != std::string::npos;
  });
  ASSERT_NE(conv, profile.activities.end());
  EXPECT_EQ(conv->attributes.integer(Attribute::flops), 1000);
  EXPECT_EQ(conv->attributes.text(Attribute::op), "conv");
}

TEST(NvprofReader, TheFixtureIsReadLikeThatOfNsys) {
  const SqliteProfile profile = read_fixture("nvprof.sqlite");
  ASSERT_EQ(profile.error, "");
  EXPECT_EQ(profile.report.format, "nvprof_sqlite");
  EXPECT_EQ(profile.report.malformed, 0);
  EXPECT_THAT(profile.report.facts, Contains(Pair("gpu.name", "NVIDIA H200")));
  EXPECT_EQ(profile.names(ActivityKind::kernel).size(), 10u);
  EXPECT_THAT(profile.names(ActivityKind::memcpy),
              Each("memcpy host_to_device (pinned -> device)"));
  EXPECT_THAT(profile.names(ActivityKind::api), Contains("cudaGraphLaunch"));
  EXPECT_THAT(profile.names(ActivityKind::marker), ElementsAre("done"));
  EXPECT_EQ(profile.at(ActivityKind::range, "prefetch").attributes.text(Attribute::domain), "data");
  EXPECT_EQ(profile.at(ActivityKind::range, "prefetch").duration->count(), 300'000);
  const auto gradient = std::ranges::find_if(profile.activities, [](const Activity& activity) {
    return activity.kind == ActivityKind::kernel &&
           activity.name.find("wgrad") != std::string::npos;
  });
  ASSERT_NE(gradient, profile.activities.end());
  EXPECT_EQ(gradient->track.pid, 4242);
  EXPECT_EQ(gradient->scope, "conv1");
  EXPECT_EQ(gradient->direction, "backward");
}

TEST(NvprofReader, ACallThatIsNotKnownHasItsNumber) {
  const SqliteProfile profile = read_sqlite(
      "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, cbid INT, start INT, "
      "end INT, processId INT, threadId INT, correlationId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 211, 5, 6, 7, -8, 1);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2, 9999, 7, 8, 7, -8, 2);");
  EXPECT_THAT(profile.names(ActivityKind::api),
              ElementsAre("cudaLaunchKernel", "runtime call 9999"));
  EXPECT_EQ(profile.activities[0].track.tid, 4294967288);
}

TEST(NsysReader, ANumberThatNoDeviceHasCostsANote) {
  const auto kernel_of = [](std::string_view device) {
    return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3, 9, {}, 13, 1, {}, 2);",
                       device, nsys_number(7));
  };
  const SqliteProfile profile =
      read_sqlite(std::string(kNsysSchema) + kernel_of("4095") + kernel_of("4096") +
                  kernel_of("-1") + kernel_of("9223372036854775807"));
  ASSERT_EQ(profile.names(ActivityKind::kernel).size(), 1U);
  EXPECT_EQ(profile.at(ActivityKind::kernel, "add").track.device, 4095);
  EXPECT_EQ(profile.report.malformed, 3);
  EXPECT_THAT(profile.report.notes, Contains("p.sqlite: table CUPTI_ACTIVITY_KIND_KERNEL, row 2: "
                                             "`deviceId` is not the number of a device"));
}

}  // namespace
}  // namespace bench
