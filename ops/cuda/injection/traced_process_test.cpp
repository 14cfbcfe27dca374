// SPDX-License-Identifier: Apache-2.0
// Tests tracing one process into its file, with functions that replace CUPTI's.
#include "ops/cuda/injection/traced_process.hpp"

#include "profiler/capture/spool_format.hpp"
#include "profiler/cupti/scripted_cupti.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <unistd.h>

namespace bench::ops::cuda {
namespace {

using test::read_text;
using test::SyntheticBuffer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TracedProcessFile : public ::testing::Test {
 protected:
  GpuSpoolWriter writer() { return GpuSpoolWriter::create(folder_.file("s"), 42).value(); }
  Result<CuptiLibrary> library() {
    CuptiLibrary library = test::toolkit_cupti();
    library.api = scripted_cupti(library.api, script_);
    return library;
  }
  void begin(TracedProcess& process) {
    process.begin([this] { return library(); }, {}, claim_);
  }
  GpuSession session(const std::string& path) const {
    return read_gpu_session(read_text(path), path).value();
  }
  SyntheticBuffer kernel(std::uint32_t correlation) const {
    SyntheticBuffer buffer;
    buffer.add(test::id_record(9, correlation));
    buffer.add(test::kernel_record({.start = 10, .end = 20, .correlation = correlation}));
    return buffer;
  }

  test::TemporaryFolder folder_;
  test::CuptiScript script_;
  CuptiProcess claim_;
};

TEST_F(TracedProcessFile, HoldsEachDumpAndTheRestAtTheEnd) {
  TracedProcess process(writer());
  begin(process);
  ASSERT_TRUE(process.is_tracing());
  const std::string path = folder_.file("s") + ".gpu.42";
  EXPECT_THAT(session(path).records, IsEmpty());
  script_.buffers.push_back(kernel(1));
  process.dump();
  GpuSession written = session(path);
  EXPECT_EQ(written.pid, getpid());
  EXPECT_THAT(written.tracer, HasSubstr("CUPTI "));
  ASSERT_EQ(written.records.size(), 1U) << "ids are of the program's own profiler";
  EXPECT_EQ(std::get<GpuKernel>(written.records[0]).correlation, 1U);

  script_.buffers.push_back(kernel(2));
  script_.dropped[0] = 3;
  process.end();
  written = session(path);
  EXPECT_EQ(written.records.size(), 2U);
  EXPECT_EQ(written.dropped, 3);
  EXPECT_FALSE(process.is_tracing());
  EXPECT_THAT(read_text(path), HasSubstr(R"({"record":"session_end","dropped":3,"faults":[]})"));
}

TEST_F(TracedProcessFile, AFaultThatComesBackIsToldOnce) {
  TracedProcess process(writer());
  begin(process);
  script_.results["flush 0"] = CUPTI_ERROR_UNKNOWN;
  for (int i = 0; i < 3; ++i) process.dump();
  process.end();
  EXPECT_THAT(session(folder_.file("s") + ".gpu.42").faults,
              ElementsAre(HasSubstr("records were not delivered")));
}

TEST_F(TracedProcessFile, SaysWhyThereIsNoTrace) {
  TracedProcess absent(writer());
  absent.begin([] { return Error{"cannot be loaded: nowhere", "CUPTI", ""}; }, {}, claim_);
  EXPECT_FALSE(absent.is_tracing());
  absent.end();
  const GpuSession none = session(folder_.file("s") + ".gpu.42");
  EXPECT_EQ(none.tracer, capture::kNoTracer);
  EXPECT_THAT(none.faults, ElementsAre(HasSubstr("CUPTI: cannot be loaded: nowhere")));

  script_.results["subscribe bench"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  script_.other_tool = "Nsight Systems";
  TracedProcess other(writer());
  begin(other);
  EXPECT_THAT(session(folder_.file("s") + ".gpu.42.2").faults,
              ElementsAre(HasSubstr("another profiler (Nsight Systems)")));
}

TEST_F(TracedProcessFile, AFileThatIsGoneEndsNothing) {
  const GpuSpoolWriter file = writer();
  std::remove(file.path().c_str());
  EXPECT_FALSE(file.append("text").ok());
  TracedProcess process(file);
  begin(process);
  script_.buffers.push_back(kernel(1));
  process.dump();
  process.end();
  EXPECT_FALSE(process.is_tracing());
}

TEST_F(TracedProcessFile, TheThreadDumpsUntilItIsStopped) {
  TracedProcess process(writer());
  begin(process);
  script_.buffers.push_back(kernel(1));
  DumpThread dumps(process, Nanoseconds(1));
  const std::string path = folder_.file("s") + ".gpu.42";
  while (read_text(path).find("\"kernel\"") == std::string::npos) usleep(1000);
  ASSERT_TRUE(dumps.stop(std::chrono::minutes(1)));
  EXPECT_TRUE(dumps.stop(std::chrono::minutes(1)));
  process.end();
  EXPECT_EQ(session(path).records.size(), 1U);
}

TEST(InjectionSettings, ComeFromVariables) {
  std::map<std::string, std::string> set;
  const Variables variables = [&](const std::string& name) {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_FALSE(injection_settings(variables));
  set[capture::kSpoolVariable] = "/s";
  const auto usual = injection_settings(variables);
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->dump_period, std::chrono::seconds(1));
  EXPECT_THAT(usual->groups, Contains(RecordGroup::memory));
  set[capture::kKindsVariable] = "device";
  set[capture::kDumpPeriodVariable] = "20ms";
  const auto settings = injection_settings(variables);
  EXPECT_EQ(settings->spool, "/s");
  EXPECT_THAT(settings->groups, ElementsAre(RecordGroup::operators, RecordGroup::device));
  EXPECT_EQ(settings->dump_period, std::chrono::milliseconds(20));
  set[capture::kKindsVariable] = "nonsense";
  EXPECT_EQ(injection_settings(variables)->groups, usual->groups);
}

// Whatever is missing in the process, the driver must receive a success status.
TEST(Injection, DoesNothingOutsideOfBenchProfile) {
  const auto library = DynamicLibrary::load(BENCH_CUDA_INJECTION);
  ASSERT_TRUE(library.ok()) << library.error();
  auto* const initialise = library->function<int()>("InitializeInjection");
  ASSERT_NE(initialise, nullptr);
  EXPECT_EQ(initialise(), 1);
  EXPECT_EQ(initialise(), 1);
  // The library does not export the C++ runtime that it contains.
  EXPECT_EQ(library->symbol("_ZTVSt9exception"), nullptr);
}

}  // namespace
}  // namespace bench::ops::cuda
