// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/cupti_tracer.hpp"

#include "profiler/cupti/scripted_cupti.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::test::CuptiScript;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct TracerFixture {
  std::function<Result<CuptiLibrary>()> load = [this]() -> Result<CuptiLibrary> {
    CuptiLibrary library = bench::test::toolkit_cupti();
    library.api = bench::test::scripted_cupti(library.api, script);
    return library;
  };
  std::shared_ptr<DeviceTracer> tracer() {
    return make_cupti_tracer(
        load, process,
        [this]() -> Status {
          script.calls.emplace_back("synchronise");
          return Done{};
        },
        besides);
  }
  std::vector<std::string> calls_with(const std::string& text) const {
    std::vector<std::string> found;
    for (const std::string& call : script.calls) {
      if (call.find(text) != std::string::npos) found.push_back(call);
    }
    return found;
  }

  CuptiScript script;
  CuptiProcess process;
  AdditionalSources besides;
};

// Never continues before it is stopped.
class StandingPacer final : public Pacer {
 public:
  bool wait(Nanoseconds) override { return pause_->wait(std::chrono::hours(24)); }
  void stop() override { pause_->stop(); }

 private:
  std::shared_ptr<Pacer> pause_ = make_pacer();
};

template <class Record>
std::vector<Record> records_of(const GpuSession& session) {
  std::vector<Record> found;
  for (const GpuRecord& record : session.records) {
    if (const auto* typed_record = std::get_if<Record>(&record)) found.push_back(*typed_record);
  }
  return found;
}

TEST(CuptiTracer, RecordsWhatIsAskedForFromTheWindowOn) {
  TracerFixture fixture;
  const auto tracer = fixture.tracer();
  ASSERT_TRUE(tracer->begin(kTraceDevice).ok());
  fixture.script.buffers.emplace_back().add(
      bench::test::kernel_record({.name = "warm_up", .start = 1, .end = 2, .correlation = 1}));
  ASSERT_TRUE(tracer->open_window().ok());
  tracer->region_begins(7);
  tracer->region_begins(8);
  tracer->region_ends();
  tracer->region_ends();
  fixture.script.buffers.emplace_back().add(
      bench::test::kernel_record({.name = "timed", .start = 10, .end = 20, .correlation = 2}));
  const auto text = tracer->finish();
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_THAT(*text, HasSubstr("\"timed\""));
  EXPECT_THAT(*text, Not(HasSubstr("warm_up")));
  const auto session = read_gpu_session(*text, "trace");
  ASSERT_TRUE(session.ok()) << session.error().message();
  EXPECT_EQ(session->records.size(), 1u);
  EXPECT_EQ(fixture.calls_with("synchronise").size(), 2u);
  EXPECT_EQ(fixture.calls_with("push").size(), 2u);
  EXPECT_EQ(fixture.calls_with("pop").size(), 2u);
}

TEST(CuptiTracer, SaysAlsoWhatTheDriverSaidAndWhatMemoryIsFor) {
  TracerFixture fixture;
  Nanoseconds now{100};
  DeviceState state;
  state.used_bytes = 1000;
  fixture.besides.readings = std::make_shared<DeviceReadings>(
      [&]() -> Result<StateReader> {
        return StateReader([&]() -> std::optional<DeviceState> { return state; });
      },
      std::make_shared<StandingPacer>(), [&] { return now; });
  fixture.besides.allocations = std::make_shared<AllocationLog>();
  fixture.script.results["enable 17"] = CUPTI_ERROR_NOT_COMPATIBLE;  // overheads
  const auto tracer = fixture.tracer();
  ASSERT_TRUE(tracer->begin(kTraceMemory | kTraceDevice).ok());
  const int place = 0;
  fixture.besides.allocations->record_allocation(&place, {64}, "workspace", Nanoseconds(150));
  CUpti_ActivityMemory4 allocation{};
  allocation.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  allocation.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  allocation.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  allocation.address = reinterpret_cast<std::uintptr_t>(&place);
  allocation.bytes = 64;
  allocation.timestamp = 140;
  fixture.script.buffers.emplace_back().add(allocation);
  state.used_bytes = 1500;
  now = Nanoseconds(200);
  ASSERT_TRUE(tracer->open_window().ok());
  state.sm_clock_hz = 1'755'000'000;
  now = Nanoseconds(300);
  const auto text = tracer->finish();
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto session = read_gpu_session(*text, "trace");
  ASSERT_TRUE(session.ok()) << session.error().message();
  const auto grown = [](std::int64_t bytes) {
    return GpuProcessMemory{bytes, GpuMemorySource::growth};
  };
  EXPECT_THAT(records_of<GpuReading>(*session),
              ElementsAre(GpuReading{0, Nanoseconds(200), {}, {}, grown(500)},
                          GpuReading{0, Nanoseconds(300), 1'755'000'000, {}, grown(500)}));
  const auto allocations = records_of<GpuAllocation>(*session);
  ASSERT_EQ(allocations.size(), 1u);
  EXPECT_EQ(allocations[0].role, "workspace");
  const auto notes = records_of<GpuNote>(*session);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0].text, HasSubstr("no records of OVERHEAD"));
}

// A trace without kernels and memory records no clocks.
TEST(CuptiTracer, AsksTheDriverOnlyForWhatIsTraced) {
  TracerFixture fixture;
  int queries = 0;
  fixture.besides.readings = std::make_shared<DeviceReadings>(
      [&]() -> Result<StateReader> {
        ++queries;
        return Error{"no", "", ""};
      },
      std::make_shared<StandingPacer>(), [] { return Nanoseconds(0); });
  const auto tracer = fixture.tracer();
  ASSERT_TRUE(tracer->begin(kTraceApi).ok());
  ASSERT_TRUE(tracer->open_window().ok());
  const auto text = tracer->finish();
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(queries, 0);
  EXPECT_THAT(*text, Not(HasSubstr("\"note\"")));
}

TEST(CuptiTracer, RegionsThatWereNotEndedEndWithTheTrace) {
  TracerFixture fixture;
  const auto tracer = fixture.tracer();
  ASSERT_TRUE(tracer->begin(kTraceApi | kTraceMemory | kTraceDevice).ok());
  tracer->region_begins(7);
  ASSERT_TRUE(tracer->finish().ok());
  EXPECT_EQ(fixture.calls_with("pop").size(), 1u);
}

TEST(CuptiTracer, SaysWhyThereIsNone) {
  TracerFixture fixture;
  fixture.script.results["subscribe bench"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  fixture.script.other_tool = "Nsight Systems";
  const auto begun = fixture.tracer()->begin(kTraceDevice);
  ASSERT_FALSE(begun.ok());
  EXPECT_THAT(begun.error().what, HasSubstr("another profiler (Nsight Systems) is attached"));
}

TEST(CuptiTracer, LoadsTheLibraryWhenItBeginsAndNotBefore) {
  TracerFixture fixture;
  int loaded = 0;
  fixture.load = [&]() -> Result<CuptiLibrary> {
    ++loaded;
    return Error{"cannot be loaded", "CUPTI", ""};
  };
  const auto tracer = fixture.tracer();
  EXPECT_EQ(loaded, 0);
  EXPECT_EQ(tracer->begin(kTraceDevice).error().message(), "CUPTI: cannot be loaded");
  tracer->region_begins(1);
  tracer->region_ends();
  EXPECT_FALSE(tracer->open_window().ok());
  EXPECT_FALSE(tracer->finish().ok());
  EXPECT_EQ(loaded, 1);
}

TEST(CuptiTracer, LooksWhereOtherLibrariesAreFound) {
  const SearchStep steps[] = {{"/opt/libs", "$BENCH_CUDA_LIBS"}, {"", "the loader's path"}};
  EXPECT_THAT(cupti_candidates(steps), ElementsAre("/opt/libs/libcupti.so.13", "libcupti.so.13"));
}

}  // namespace
}  // namespace bench::ops::cuda
