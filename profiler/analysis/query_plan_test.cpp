// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/query_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::analysis {
namespace {

using testing::HasSubstr;

Activity primitive(const char* phase, std::int64_t time = 100) {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.name = "convolution";
  activity.duration = Nanoseconds(time);
  activity.scope = "net:block1:conv2";
  activity.direction = "backward_data";
  activity.attributes.set(Attribute::primitive, "convolution");
  activity.attributes.set(Attribute::op, "conv");
  activity.attributes.set(Attribute::phase, phase);
  activity.attributes.set(Attribute::engine, "cpu");
  activity.attributes.set(Attribute::dtype, "f32");
  return activity;
}

Activity of_kind(ActivityKind kind, const char* name) {
  Activity activity;
  activity.kind = kind;
  activity.name = name;
  activity.duration = Nanoseconds(100);
  return activity;
}

// Returns whether it would be in the table if the file contained nothing of a higher level.
bool selects(const AnalysisOptions& options, const Activity& activity) {
  const auto selection = Selection::compile(options);
  EXPECT_TRUE(selection.ok());
  return selection->level(activity) != Level::none && selection->admits(activity);
}

template <class Change>
AnalysisOptions with(Change change) {
  AnalysisOptions options;
  change(options);
  return options;
}

TEST(Selection, TakesWhatWasExecutedWhenNothingIsAskedFor) {
  const AnalysisOptions none;
  EXPECT_TRUE(selects(none, primitive("exec")));
  EXPECT_TRUE(selects(none, primitive("")));
  for (const char* phase : {"create", "create:cache_hit", "dispatch", "check", "graph"}) {
    EXPECT_FALSE(selects(none, primitive(phase))) << phase;
  }
  for (const ActivityKind kind :
       {ActivityKind::kernel, ActivityKind::memcpy, ActivityKind::memset}) {
    EXPECT_TRUE(selects(none, of_kind(kind, "k")));
  }
  for (const ActivityKind kind :
       {ActivityKind::allocation, ActivityKind::synchronisation, ActivityKind::api,
        ActivityKind::overhead, ActivityKind::marker, ActivityKind::counter}) {
    EXPECT_FALSE(selects(none, of_kind(kind, "k"))) << to_string(kind);
  }
}

TEST(Selection, OperatorsAndRangesStandBelowWhatDoesTheWork) {
  const auto selection = Selection::compile({});
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->level(of_kind(ActivityKind::range, "r")), Level::range);
  EXPECT_EQ(selection->level(of_kind(ActivityKind::operation, "o")), Level::operation);
  EXPECT_EQ(selection->level(primitive("exec")), Level::work);
}

TEST(Selection, PhaseChoosesExecutionsCreationsOrAll) {
  const auto phase = [](PhaseFilter filter) {
    return with([&](AnalysisOptions& options) { options.phase = filter; });
  };
  EXPECT_TRUE(selects(phase(PhaseFilter::exec), primitive("exec")));
  EXPECT_FALSE(selects(phase(PhaseFilter::exec), primitive("create:cache_miss")));
  EXPECT_TRUE(selects(phase(PhaseFilter::create), primitive("create:cache_miss")));
  EXPECT_TRUE(selects(phase(PhaseFilter::create), primitive("create")));
  EXPECT_FALSE(selects(phase(PhaseFilter::create), primitive("create_nested")));
  EXPECT_FALSE(selects(phase(PhaseFilter::create), primitive("exec")));
  for (const char* each : {"exec", "create", "dispatch"}) {
    EXPECT_TRUE(selects(phase(PhaseFilter::all), primitive(each)));
  }
}

TEST(Selection, TypeIsAKindAPhaseAnOperatorOrAName) {
  const auto type = [](std::vector<std::string> types) {
    return with([&](AnalysisOptions& options) { options.types = std::move(types); });
  };
  EXPECT_TRUE(selects(type({"convolution"}), primitive("exec")));
  EXPECT_TRUE(selects(type({"conv"}), primitive("exec")));
  EXPECT_TRUE(selects(type({"matmul", "conv"}), primitive("exec")));
  EXPECT_FALSE(selects(type({"matmul"}), primitive("exec")));
  EXPECT_FALSE(selects(type({"conv"}), primitive("create")));
  EXPECT_TRUE(selects(type({"dispatch"}), primitive("dispatch")));
  EXPECT_FALSE(selects(type({"dispatch"}), primitive("exec")));
  EXPECT_TRUE(selects(type({"primitive"}), primitive("exec")));
  EXPECT_TRUE(selects(type({"allocation"}), of_kind(ActivityKind::allocation, "weights")));
  EXPECT_TRUE(selects(type({"dnnl_stream_wait"}), of_kind(ActivityKind::api, "dnnl_stream_wait")));
}

TEST(Selection, KindsAreAlternativesOfEachOther) {
  const AnalysisOptions kinds = with([](AnalysisOptions& options) {
    options.kinds = {"api", "kernel"};
  });
  EXPECT_TRUE(selects(kinds, of_kind(ActivityKind::api, "a")));
  EXPECT_TRUE(selects(kinds, of_kind(ActivityKind::kernel, "k")));
  EXPECT_FALSE(selects(kinds, primitive("exec")));
  const auto bad =
      Selection::compile(with([](AnalysisOptions& options) { options.kinds = {"kernels"}; }));
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message(), HasSubstr("--kind: unknown kind `kernels`"));
  EXPECT_THAT(bad.error().message(), HasSubstr("kernel"));
}

TEST(Selection, NameIsARegularExpressionOverAPart) {
  const auto name = [](const char* pattern) {
    return with([&](AnalysisOptions& options) { options.name = pattern; });
  };
  EXPECT_TRUE(selects(name("vol"), primitive("exec")));
  EXPECT_TRUE(selects(name("^conv.*n$"), primitive("exec")));
  EXPECT_FALSE(selects(name("^vol"), primitive("exec")));
  const auto bad = Selection::compile(name("a("));
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message(), HasSubstr("--name"));
}

TEST(Selection, LayerIsWholeNamesInARow) {
  const auto layer = [](const char* path) {
    return with([&](AnalysisOptions& options) { options.layer = path; });
  };
  for (const char* path : {"net", "block1", "conv2", "net:block1", "block1:conv2"}) {
    EXPECT_TRUE(selects(layer(path), primitive("exec"))) << path;
  }
  for (const char* path : {"block", "net:conv2", "conv2:block1", "block1\\:conv2"}) {
    EXPECT_FALSE(selects(layer(path), primitive("exec"))) << path;
  }
  Activity colon = primitive("exec");
  colon.scope = "net:a\\:b";
  EXPECT_TRUE(selects(layer("a\\:b"), colon));
  EXPECT_FALSE(selects(layer("b"), colon));
}

TEST(Selection, DirectionCoversItsParts) {
  const auto direction = [](const char* word) {
    return with([&](AnalysisOptions& options) { options.direction = word; });
  };
  EXPECT_TRUE(selects(direction("backward_data"), primitive("exec")));
  EXPECT_TRUE(selects(direction("backward"), primitive("exec")));
  EXPECT_FALSE(selects(direction("back"), primitive("exec")));
  EXPECT_FALSE(selects(direction("forward"), primitive("exec")));
}

TEST(Selection, DeviceIsANameOrANumber) {
  const auto devices = [](std::vector<std::string> names) {
    return with([&](AnalysisOptions& options) { options.devices = std::move(names); });
  };
  Activity kernel = of_kind(ActivityKind::kernel, "k");
  kernel.track.device = 1;
  for (const char* name : {"cuda", "cuda:1", "1"}) EXPECT_TRUE(selects(devices({name}), kernel));
  for (const char* name : {"cuda:0", "0", "cpu"}) EXPECT_FALSE(selects(devices({name}), kernel));
  EXPECT_TRUE(selects(devices({"cpu", "cuda:0"}), primitive("exec")));
  EXPECT_FALSE(selects(devices({"cuda"}), primitive("exec")));
}

TEST(Selection, DtypeIsExactAndAnUnknownOneIsLeftOut) {
  const auto dtype = [](const char* name) {
    return with([&](AnalysisOptions& options) { options.dtypes = {name}; });
  };
  EXPECT_TRUE(selects(dtype("f32"), primitive("exec")));
  EXPECT_FALSE(selects(dtype("f16"), primitive("exec")));
  EXPECT_FALSE(selects(dtype("f32"), of_kind(ActivityKind::kernel, "k")));
}

TEST(Selection, TimeBoundsIncludeTheirEndsAndLeaveUnknownTimesOut) {
  const auto between = [](std::int64_t min, std::int64_t max) {
    return with([&](AnalysisOptions& options) {
      options.min_time = Nanoseconds(min);
      options.max_time = Nanoseconds(max);
    });
  };
  EXPECT_TRUE(selects(between(100, 100), primitive("exec", 100)));
  EXPECT_FALSE(selects(between(101, 200), primitive("exec", 100)));
  EXPECT_FALSE(selects(between(0, 99), primitive("exec", 100)));
  Activity unknown = primitive("exec");
  unknown.duration.reset();
  EXPECT_FALSE(selects(between(0, 1000), unknown));
}

}  // namespace
}  // namespace bench::analysis
