// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/selection.hpp"

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

TEST(Selection, takes_what_was_executed_when_nothing_is_asked_for) {
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

TEST(Selection, operators_and_ranges_stand_below_what_does_the_work) {
  const auto selection = Selection::compile({});
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->level(of_kind(ActivityKind::range, "r")), Level::range);
  EXPECT_EQ(selection->level(of_kind(ActivityKind::operation, "o")), Level::operation);
  EXPECT_EQ(selection->level(primitive("exec")), Level::work);
}

TEST(Selection, phase_chooses_executions_creations_or_all) {
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

TEST(Selection, type_is_a_kind_a_phase_an_operator_or_a_name) {
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

TEST(Selection, kinds_are_alternatives_of_each_other) {
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

TEST(Selection, name_is_a_regular_expression_over_a_part) {
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

TEST(Selection, layer_is_whole_names_in_a_row) {
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

TEST(Selection, direction_covers_its_parts) {
  const auto direction = [](const char* word) {
    return with([&](AnalysisOptions& options) { options.direction = word; });
  };
  EXPECT_TRUE(selects(direction("backward_data"), primitive("exec")));
  EXPECT_TRUE(selects(direction("backward"), primitive("exec")));
  EXPECT_FALSE(selects(direction("back"), primitive("exec")));
  EXPECT_FALSE(selects(direction("forward"), primitive("exec")));
}

TEST(Selection, device_is_a_name_or_a_number) {
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

TEST(Selection, dtype_is_exact_and_an_unknown_one_is_left_out) {
  const auto dtype = [](const char* name) {
    return with([&](AnalysisOptions& options) { options.dtype = name; });
  };
  EXPECT_TRUE(selects(dtype("f32"), primitive("exec")));
  EXPECT_FALSE(selects(dtype("f16"), primitive("exec")));
  EXPECT_FALSE(selects(dtype("f32"), of_kind(ActivityKind::kernel, "k")));
}

TEST(Selection, time_bounds_include_their_ends_and_leave_unknown_times_out) {
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
