// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/readers/readers.hpp"
#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::during;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

struct CollectingSink final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
};

Result<ReadReport> read(std::string text, ActivitySink& sink) {
  const auto source = text_source_for_test("s.jsonl", std::move(text));
  const auto reader = find_reader(*source);
  EXPECT_EQ((*reader)->name, "gpu_records");
  return (*reader)->read(*source, sink);
}

TEST(GpuRecordsReader, GivesTheJoinedActivities) {
  test::GpuScript script(42);
  script.session.tracer = "CUPTI 13.0.1";
  script.owner(1, "net:conv1", "conv");
  script.launch("gemm", during(10'000, 20'000), 1);
  CollectingSink sink;
  const auto report = read(format_gpu_session(script.session), sink);
  ASSERT_TRUE(report.ok()) << report.error().message();
  const auto kernels = test::of_kind(sink.activities, ActivityKind::kernel);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].scope, "net:conv1");
  EXPECT_EQ(report->activities, static_cast<std::int64_t>(sink.activities.size()));
  EXPECT_EQ(report->lines, 5);
  EXPECT_THAT(report->facts, Contains(Pair("tracer", "CUPTI 13.0.1")));
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("the occupancy of its kernels is unknown")));
}

TEST(GpuRecordsReader, SaysThatAPassIsVoid) {
  test::GpuScript script;
  script.session.dropped = 3;
  CollectingSink sink;
  const auto report = read(format_gpu_session(script.session), sink);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->notes,
              ElementsAre(HasSubstr("s.jsonl: the pass is void: 3 records were dropped")));
}

TEST(GpuRecordsReader, ADamagedFileIsAnErrorWithItsLine) {
  CollectingSink sink;
  const auto report = read(format_gpu_session({}) + "{\"record\":\"kernel\"}\n", sink);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message(), HasSubstr("s.jsonl:2: `name` is missing"));
}

}  // namespace
}  // namespace bench
