// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/chrome_trace.hpp"

#include "profiler/export/trace_validator.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

namespace bench {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Activity activity(ActivityKind kind, std::string name, std::int64_t start,
                  std::optional<std::int64_t> duration) {
  Activity a;
  a.kind = kind;
  a.name = std::move(name);
  a.start = Nanoseconds(start);
  if (duration) a.duration = Nanoseconds(*duration);
  a.track.pid = 100;
  a.track.tid = 100;
  return a;
}

Activity kernel(std::string name, std::int64_t start, std::int64_t duration, std::int64_t stream) {
  Activity a = activity(ActivityKind::kernel, std::move(name), start, duration);
  a.track.device = 0;
  a.track.stream = stream;
  return a;
}

// Returns the trace as text after validating it.
std::string trace_of(const std::vector<Activity>& activities, TraceOptions options = {}) {
  const test::TemporaryFolder folder;
  std::string text;
  const auto trace = ChromeTrace::to(text_bytes(text), folder.path(), std::move(options));
  for (const Activity& a : activities) EXPECT_TRUE(trace->consume(a).ok());
  EXPECT_TRUE(trace->finish().ok());
  EXPECT_THAT(check_trace(text).problems, IsEmpty()) << text;
  return text;
}

std::vector<json> events(const std::string& text, const std::string& phase) {
  std::vector<json> found;
  const json document = json::parse(text);
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

// Activities of every kind.
std::vector<Activity> everything() {
  std::vector<Activity> all;
  Activity layer = activity(ActivityKind::operation, "layer1.0.conv2", 1'000'000'007, 90'000);
  layer.case_id = "conv/forward/n32c64h56w56k64r3s3p1/f32/onednn/cpu/hot";
  layer.scope = "resnet50:layer1.0.conv2";
  layer.direction = "forward";
  layer.attributes.set(Attribute::flops, std::int64_t{231'211'008});
  layer.attributes.set(Attribute::bytes, std::int64_t{1'753'088});
  layer.attributes.set(Attribute::process_name, "bench worker");
  layer.attributes.set(Attribute::thread_name, "runner");
  all.push_back(layer);
  Activity call = activity(ActivityKind::api, "cudaLaunchKernel", 1'000'001'000, 5'000);
  call.correlation = 42;
  all.push_back(call);
  Activity conv = activity(ActivityKind::primitive, "convolution", 1'000'007'000, 80'123);
  conv.attributes.set(Attribute::implementation, "brgconv:avx512_core");
  conv.attributes.set(Attribute::in_shapes, "32x64x56x56 64x64x3x3");
  conv.attributes.set(Attribute::layouts, "abcd -> acdb");
  all.push_back(conv);
  Activity gemm = kernel("sm90_gemm<\"a\">", 1'000'010'000, 30'000, 7);
  gemm.correlation = 42;
  gemm.attributes.set(Attribute::grid, "32,4,1");
  all.push_back(gemm);
  all.push_back(kernel("copy", 1'000'020'000, 30'000, 9));
  Activity buffer = activity(ActivityKind::allocation, "weights", 1'000'000'500, 60'000);
  buffer.attributes.set(Attribute::size_bytes, std::int64_t{147'456});
  buffer.attributes.set(Attribute::address, std::int64_t{0x7f00'0000'1000});
  buffer.attributes.set(Attribute::role, "weights");
  all.push_back(buffer);
  Activity counter = activity(ActivityKind::counter, "queue", 1'000'030'000, std::nullopt);
  counter.attributes.set(Attribute::value, 2.5);
  counter.attributes.set(Attribute::value_unit, "bytes");
  counter.attributes.set(Attribute::domain, "train");
  all.push_back(counter);
  Activity marker = activity(ActivityKind::marker, "epoch", 1'000'040'000, std::nullopt);
  marker.attributes.set(Attribute::marker_scope, "process");
  marker.attributes.set(Attribute::domain, "train");
  all.push_back(marker);
  Activity other = activity(ActivityKind::range, "step", 1'000'000'100, 100);
  other.track = {200, 201, std::nullopt, std::nullopt};
  other.attributes.set(Attribute::rank, std::int64_t{1});
  all.push_back(other);
  Activity open = activity(ActivityKind::operation, "crashed", 1'000'095'000, std::nullopt);
  open.attributes.set(Attribute::unfinished, std::int64_t{1});
  all.push_back(open);
  return all;
}

TEST(ChromeTrace, ShowsEverything) {
  test::expect_golden("profiler/export/testdata/everything.trace.json", trace_of(everything()));
}

TEST(ChromeTrace, DoesNotDependOnOrderOrMemory) {
  std::vector<Activity> all = everything();
  const std::string expected = trace_of(all);
  EXPECT_EQ(trace_of(all, {.memory = 1}), expected);
  // Track numbers depend on the order of arrival; everything else is the same.
  const auto slices = events(expected, "X");
  std::mt19937 random(1);  // NOLINT: the same each time
  std::shuffle(all.begin() + 1, all.end(), random);
  const auto shuffled = events(trace_of(all), "X");
  ASSERT_EQ(shuffled.size(), slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(shuffled[i].at("name"), slices[i].at("name"));
    EXPECT_EQ(shuffled[i].at("ts"), slices[i].at("ts"));
  }
}

TEST(ChromeTrace, FlowsRunFromTheLaunchToTheKernelsOfItsProcess) {
  const std::string text = trace_of(everything());
  const auto starts = events(text, "s"), ends = events(text, "f");
  ASSERT_THAT(starts, SizeIs(1));
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(starts[0].at("id"), ends[0].at("id"));
  EXPECT_EQ(starts[0].at("pid"), 100);
  EXPECT_EQ(ends[0].at("tid"), 7);
  EXPECT_EQ(ends[0].at("bp"), "e");
  EXPECT_EQ(check_trace(text).flows, 1);
}

TEST(ChromeTrace, PartialOverlapsGoToFurtherLanes) {
  const std::string text = trace_of({activity(ActivityKind::range, "a", 0, 10),
                                     activity(ActivityKind::range, "b", 5, 10),
                                     activity(ActivityKind::range, "c", 6, 2)});
  const auto slices = events(text, "X");
  ASSERT_THAT(slices, SizeIs(3));
  EXPECT_EQ(slices[0].at("tid"), 100);
  EXPECT_FALSE(slices[0].contains("args"));
  EXPECT_NE(slices[1].at("tid"), 100);
  EXPECT_EQ(slices[1].at("args").at("overlapping_lane"), 1);
  EXPECT_EQ(slices[2].at("tid"), 100);
  EXPECT_THAT(text, HasSubstr("\"main thread 100, overlapping 1\""));
}

TEST(ChromeTrace, AnAnnouncedActivityThatEndedIsDrawnOnce) {
  Activity announced = activity(ActivityKind::operation, "conv", 10, std::nullopt);
  announced.attributes.set(Attribute::unfinished, std::int64_t{1});
  Activity inner = announced;
  inner.name = "inner";
  const Activity ended = activity(ActivityKind::operation, "conv", 10, 50);
  const auto slices =
      events(trace_of({announced, inner, ended, activity(ActivityKind::api, "x", 100, 20)}), "X");
  ASSERT_THAT(slices, SizeIs(3));
  EXPECT_EQ(slices[0].at("name"), "inner");
  EXPECT_EQ(slices[0].at("dur"), 1.11);  // ends 1 us after the last end
  EXPECT_EQ(slices[0].at("args").at("unfinished"), true);
  EXPECT_EQ(slices[1].at("name"), "conv");
  EXPECT_FALSE(slices[1].contains("args"));
}

TEST(ChromeTrace, LiveBytesAreComputedFromAllocationsIfNoCounterRecordsThem) {
  std::vector<Activity> all;
  for (int i = 0; i < 2; ++i) {
    Activity buffer = activity(ActivityKind::allocation, "b", 10 * i, 15);
    buffer.attributes.set(Attribute::size_bytes, std::int64_t{100});
    all.push_back(buffer);
  }
  std::vector<std::int64_t> live;
  for (const json& event : events(trace_of(all), "C")) live.push_back(event["args"]["value"]);
  EXPECT_THAT(live, ElementsAre(100, 200, 100, 0));
  Activity counter = activity(ActivityKind::counter, "live_bytes", 3, std::nullopt);
  counter.attributes.set(Attribute::value, 7.0);
  all.push_back(counter);
  EXPECT_THAT(events(trace_of(all), "C"), SizeIs(1));
}

TEST(ChromeTrace, HostileActivitiesGiveAValidTrace) {
  std::vector<Activity> all;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t start : {-kMost - 1, -kMost, std::int64_t{0}, kMost}) {
    for (const std::int64_t duration : {-kMost, std::int64_t{0}, kMost}) {
      Activity a = activity(ActivityKind::range, "\xff</script>\"\\\n\x01", start, duration);
      a.track = {start, duration, start, duration};
      a.correlation = 1;
      a.attributes.set(Attribute::occupancy, std::numeric_limits<double>::infinity());
      a.attributes.set(Attribute::flops, kMost);
      all.push_back(a);
      a.kind = ActivityKind::allocation;
      a.attributes.set(Attribute::size_bytes, kMost);
      all.push_back(a);
      a.kind = ActivityKind::counter;
      a.attributes.set(Attribute::value, std::numeric_limits<double>::quiet_NaN());
      all.push_back(a);
      a.kind = ActivityKind::kernel;
      a.track.pid = 1'000'000'000;  // where this tool's own numbers begin
      all.push_back(a);
    }
  }
  trace_of(all);
}

TEST(ChromeTrace, OfNothingIsEmpty) {
  EXPECT_EQ(json::parse(trace_of({})).at("traceEvents"), json::array());
}

TEST(ChromeTrace, MetadataIsText) {
  TraceOptions options;
  options.metadata = {{"command", "bench run \"a\""}, {"tool", "someone else"}};
  const json metadata = json::parse(trace_of(everything(), options)).at("metadata");
  EXPECT_EQ(metadata.at("command"), "bench run \"a\"");
  EXPECT_EQ(metadata.at("tool"), "bench");
  EXPECT_EQ(metadata.at("activities"), "10");
}

TEST(ChromeTrace, IsThereOnlyWhenFinishedAndCompressedBySuffix) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("t.json.gz");
  {
    auto trace = ChromeTrace::create(path, Existing::refuse);
    ASSERT_TRUE(trace.ok());
    for (const Activity& a : everything()) ASSERT_TRUE((*trace)->consume(a).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE((*trace)->finish().ok());
    EXPECT_EQ((*trace)->summary().activities, 10);
    EXPECT_EQ((*trace)->summary().drawn, 10);
    EXPECT_EQ((*trace)->summary().flows, 1);
  }
  const auto check = check_trace_file(path);
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->ok());
  EXPECT_EQ(check->events.at('X'), 7);
  EXPECT_EQ(test::read_text(path).substr(0, 2), "\x1f\x8b");
  EXPECT_FALSE(ChromeTrace::create(path, Existing::refuse).ok());
  { auto abandoned = ChromeTrace::create(folder.file("u.json"), Existing::refuse); }
  EXPECT_FALSE(std::filesystem::exists(folder.file("u.json")));
}

TEST(ChromeTraceLog, IsValidAtEveryEvent) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("t.json");
  auto log = ChromeTraceLog::create(path, Existing::refuse);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(check_trace(test::read_text(path)).ending, TraceEnding::unterminated);
  // Sorted by end.
  std::vector<Activity> all = everything();
  std::stable_sort(all.begin(), all.end(), [](const Activity& a, const Activity& b) {
    const Nanoseconds none(0);
    return a.start + a.duration.value_or(none) < b.start + b.duration.value_or(none);
  });
  for (const Activity& a : all) {
    ASSERT_TRUE((*log)->consume(a).ok());
    const TraceCheck check = check_trace(test::read_text(path));
    EXPECT_EQ(check.ending, TraceEnding::unterminated);
    EXPECT_THAT(check.problems, IsEmpty());
  }
  ASSERT_TRUE((*log)->finish().ok());
  const TraceCheck check = check_trace(test::read_text(path));
  EXPECT_EQ(check.ending, TraceEnding::terminated);
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_EQ(check.flows, 1);
  EXPECT_EQ(check.events.at('X'), 6);  // the open one is an instant
  EXPECT_TRUE(json::accept(test::read_text(path)));
}

TEST(ChromeTraceLog, IsPlainJson) {
  const auto log = ChromeTraceLog::create("/tmp/t.json.gz", Existing::refuse);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message(),
            "/tmp/t.json.gz: a trace written continuously is plain JSON, not .gz; name it .json");
}

// Each time before 0 became 0, so that these events lost their distance from the others.
TEST(ChromeTrace, EventsBeforeZeroKeepTheirDistanceFromTheOthers) {
  Activity allocation = activity(ActivityKind::allocation, "buffer", -3'000, 1'000);
  allocation.attributes.set(Attribute::size_bytes, std::int64_t{8});
  const json document =
      json::parse(trace_of({activity(ActivityKind::range, "early", -5'000, 2'000),
                            activity(ActivityKind::marker, "mark", -4'000, std::nullopt),
                            allocation, activity(ActivityKind::range, "late", 1'000, 500)}));
  std::vector<std::pair<std::string, double>> times;
  for (const json& event : document.at("traceEvents"))
    if (event.at("ph") != "M") times.emplace_back(event.at("name"), event.at("ts"));
  using Time = std::pair<std::string, double>;
  EXPECT_THAT(times,
              testing::UnorderedElementsAre(Time{"early", 0}, Time{"mark", 1}, Time{"buffer", 2},
                                            Time{"buffer", 3}, Time{"live_bytes (bytes)", 2},
                                            Time{"live_bytes (bytes)", 3}, Time{"late", 6}));
  EXPECT_EQ(document.at("metadata").at("shift_ns"), "5000");
}

}  // namespace
}  // namespace bench
