// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/summary.hpp"

#include "profiler/analysis/bounded_names.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <sstream>

namespace bench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Activity timed(ActivityKind kind, std::string name, std::int64_t start, std::int64_t time) {
  Activity activity;
  activity.kind = kind;
  activity.name = std::move(name);
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(time);
  return activity;
}

Activity layer(const std::string& scope, std::int64_t start, std::int64_t time) {
  Activity activity = timed(ActivityKind::operation, "conv", start, time);
  activity.scope = scope;
  return activity;
}

Activity counter(std::int64_t start, double value) {
  Activity activity;
  activity.kind = ActivityKind::counter;
  activity.name = "live";
  activity.start = Nanoseconds(start);
  activity.attributes.set(Attribute::value, value);
  activity.attributes.set(Attribute::value_unit, "bytes");
  return activity;
}

Summary summary_of(const std::vector<Activity>& activities) {
  Summary summary;
  for (const Activity& activity : activities) EXPECT_TRUE(summary.consume(activity).ok());
  return summary;
}

std::vector<std::string> names_of(const auto& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

// Four executions of known lengths, without time between them.
std::vector<Activity> executions() {
  return {timed(ActivityKind::primitive, "sqrt", 0, 52'000),
          timed(ActivityKind::primitive, "plus", 52'000, 41'000),
          timed(ActivityKind::primitive, "plus", 93'000, 22'000),
          timed(ActivityKind::primitive, "dot", 115'000, 60'000)};
}

Activity process(std::int64_t start, std::int64_t time, std::int64_t pid = 0) {
  Activity activity = timed(ActivityKind::process, "app", start, time);
  activity.track.pid = activity.track.tid = pid;
  return activity;
}

TEST(Summary, CountsEachExecutionOnce) {
  const std::vector<TimeRow> rows = summary_of(executions()).operators({});
  EXPECT_THAT(names_of(rows), ElementsAre("plus", "dot", "sqrt"));
  const TimeRow& plus = rows[0];
  EXPECT_EQ(plus.count, 2);
  EXPECT_EQ(plus.total, Nanoseconds(63'000));
  EXPECT_EQ(plus.self, Nanoseconds(63'000));
  EXPECT_EQ(plus.min, Nanoseconds(22'000));
  EXPECT_EQ(plus.max, Nanoseconds(41'000));
  EXPECT_EQ(plus.mean, Nanoseconds(31'500));
  EXPECT_EQ(rows[2].count, 1);
  EXPECT_DOUBLE_EQ(plus.share.value(), 63.0 / 175);
  EXPECT_DOUBLE_EQ(rows[1].cumulative_share.value(), 123.0 / 175);
  EXPECT_DOUBLE_EQ(rows[2].cumulative_share.value(), 1.0);
}

TEST(Summary, FiveKeysOrderItBothWays) {
  const Summary summary = summary_of(executions());
  struct Expected {
    SummarySort sort;
    std::vector<std::string> names;
  };
  const Expected orders[] = {{SummarySort::total, {"plus", "dot", "sqrt"}},
                             {SummarySort::mean, {"dot", "sqrt", "plus"}},
                             {SummarySort::min, {"dot", "sqrt", "plus"}},
                             {SummarySort::max, {"dot", "sqrt", "plus"}},
                             {SummarySort::count, {"plus", "dot", "sqrt"}}};
  for (const Expected& expected : orders) {
    EXPECT_EQ(names_of(summary.operators({expected.sort})), expected.names);
    const auto ascending = names_of(summary.operators({expected.sort, SortOrder::ascending}));
    if (expected.sort == SummarySort::count) {
      // equal values are sorted by name
      EXPECT_THAT(ascending, ElementsAre("dot", "sqrt", "plus"));
    } else {
      EXPECT_EQ(ascending,
                std::vector<std::string>(expected.names.rbegin(), expected.names.rend()));
    }
  }
  EXPECT_THAT(names_of(summary.operators({SummarySort::total, SortOrder::descending, 1})),
              ElementsAre("plus"));
}

// On an H100, the waits of the host and the tracer's work were 62 % of the category `device`.
TEST(Summary, TheCategoryDeviceHoldsOnlyWhatTheDeviceExecutes) {
  const auto tables =
      summary_of({timed(ActivityKind::kernel, "k", 0, 3),
                  timed(ActivityKind::memcpy, "copy", 10, 4),
                  timed(ActivityKind::memset, "fill", 20, 1),
                  timed(ActivityKind::synchronisation, "wait for stream 13", 30, 42),
                  timed(ActivityKind::overhead, "buffer_request", 80, 20)})
          .categories({});
  EXPECT_THAT(names_of(tables.at("device")), ElementsAre("copy", "k", "fill"));
  EXPECT_EQ(tables.at("device").at(0).share, 0.5);
  EXPECT_THAT(names_of(tables.at("synchronisation")), ElementsAre("wait for stream 13"));
  EXPECT_THAT(names_of(tables.at("overhead")), ElementsAre("buffer_request"));
}

TEST(Summary, CategoriesStandApartAndWhatIsOnlyConsideredInNone) {
  Activity creation = timed(ActivityKind::primitive, "matmul", 0, 5);
  creation.attributes.set(Attribute::phase, "create:cache_miss");
  Activity dispatch = timed(ActivityKind::primitive, "matmul", 0, 0);
  dispatch.attributes.set(Attribute::phase, "dispatch");
  Activity mine = timed(ActivityKind::range, "task", 0, 7);
  mine.attributes.set(Attribute::domain, "my domain");
  Activity marker = timed(ActivityKind::marker, "here", 3, 0);
  marker.duration.reset();
  const auto tables =
      summary_of({timed(ActivityKind::operation, "conv1", 0, 10), creation, dispatch, mine, marker,
                  timed(ActivityKind::kernel, "k", 20, 3), timed(ActivityKind::api, "call", 30, 2),
                  timed(ActivityKind::range, "it", 40, 1), counter(0, 1)})
          .categories({});
  std::vector<std::string> names;
  for (const auto& [name, rows] : tables) names.push_back(name);
  EXPECT_THAT(names,
              ElementsAre("api", "creation", "device", "marker", "my domain", "operator", "range"));
  EXPECT_EQ(tables.at("creation").at(0).total, Nanoseconds(5));
  EXPECT_EQ(tables.at("marker").at(0).count, 1);
}

// The example of MXNet's profiler guide: operators of 0.1150 ms in total, 17 API calls, counters.
TEST(Summary, OperatorsCallsAndCountersNeverAddUp) {
  std::vector<Activity> activities = {
      timed(ActivityKind::operation, "sqrt", 0, 52'000),
      timed(ActivityKind::operation, "_plus_scalar", 60'000, 41'000),
      timed(ActivityKind::operation, "ones", 110'000, 22'000)};
  for (int i = 0; i < 17; ++i) {
    activities.push_back(timed(ActivityKind::api, "MXNDArrayFree", 200'000 + 10 * i, 5));
  }
  activities.push_back(counter(0, 4096));
  const auto tables = summary_of(activities).categories({});
  Nanoseconds operators{0};
  for (const TimeRow& row : tables.at("operator")) operators += row.total;
  EXPECT_EQ(operators, Nanoseconds(115'000));
  EXPECT_EQ(tables.at("api").at(0).count, 17);
  EXPECT_EQ(tables.count("counter"), 0u);
}

TEST(Summary, LayersThatNestShareWhatIsTheirOwn) {
  const std::vector<TimeRow> rows =
      summary_of({layer("net:a", 0, 60), layer("net:b", 60, 30), layer("net", 0, 100)}).layers({});
  EXPECT_THAT(names_of(rows), ElementsAre("net", "net:a", "net:b"));
  EXPECT_EQ(rows[0].total, Nanoseconds(100));
  EXPECT_EQ(rows[0].self, Nanoseconds(10));
  EXPECT_DOUBLE_EQ(rows[0].share.value(), 0.1);
  EXPECT_DOUBLE_EQ(rows[1].share.value(), 0.6);
  EXPECT_DOUBLE_EQ(rows[2].cumulative_share.value(), 1.0);
}

// As recorded by a profiling pass: nearly all of a layer's time is that of its primitive.
TEST(Summary, ALayerSharesTheTimeOfItsPrimitive) {
  const auto primitive = [](const std::string& scope, std::int64_t start, std::int64_t time) {
    Activity activity = timed(ActivityKind::primitive, "matmul", start, time);
    activity.scope = scope;
    return activity;
  };
  const Summary summary = summary_of({primitive("net:a", 1, 74), layer("net:a", 0, 75),
                                      primitive("net:b", 76, 24), layer("net:b", 75, 25)});
  const std::vector<TimeRow> rows = summary.layers({});
  ASSERT_THAT(names_of(rows), ElementsAre("net:a", "net:b"));
  EXPECT_EQ(rows[0].self, Nanoseconds(1));
  EXPECT_DOUBLE_EQ(rows[0].share.value(), 0.75);
  EXPECT_DOUBLE_EQ(rows[1].cumulative_share.value(), 1.0);
  EXPECT_DOUBLE_EQ(summary.categories({}).at("primitive").at(0).share.value(), 1.0);
}

TEST(Summary, PrimitivesWithoutALayerBelongToTheirCase) {
  Activity primitive = timed(ActivityKind::primitive, "matmul", 0, 5);
  primitive.case_id = "gemm/forward";
  EXPECT_THAT(names_of(summary_of({primitive}).layers({})), ElementsAre("gemm/forward"));
  primitive.scope = "net:fc";
  EXPECT_THAT(names_of(summary_of({primitive}).layers({})), ElementsAre("net:fc"));
}

Activity ranged(const std::string& name, const std::string& scope, std::int64_t start,
                std::int64_t time) {
  Activity activity = timed(ActivityKind::range, name, start, time);
  activity.scope = scope;
  return activity;
}

Activity executed(const std::string& primitive, const std::string& scope, std::int64_t start,
                  std::int64_t time) {
  Activity activity = timed(ActivityKind::primitive, primitive, start, time);
  activity.scope = scope;
  return activity;
}

double sum_of_shares(const std::vector<TimeRow>& rows) {
  double sum = 0;
  for (const TimeRow& row : rows) sum += row.share.value();
  return sum;
}

// The name of the function was cut, although it is what the samples were taken for.
TEST(Summary, ASampledFunctionIsWholeOnANarrowTerminal) {
  const std::string fits = "std::vector<float>::operator_of_medium_length";
  const std::string longer = "namespace_one::namespace_two::a_template<with_arguments>::" + fits;
  std::vector<Activity> samples;
  for (const std::string& function : {fits, longer}) {
    Activity& sample = samples.emplace_back(timed(ActivityKind::sample, function, 0, 0));
    sample.duration.reset();
    sample.attributes.set(Attribute::object, "lib.so");
    sample.attributes.set(Attribute::cpu_ns, std::int64_t{5'000'000});
  }
  SummaryOptions options;
  options.width = 80;
  const std::string text = format_summary(summary_of(samples), options);
  EXPECT_THAT(text, HasSubstr("\n" + fits + " (lib.so) "));
  EXPECT_THAT(text, HasSubstr("\n    namespace_one::namespace_two::a_template"));  // below its row
}

// oneDNN's time, which includes creation, contradicted the smaller time that was attributed.
TEST(Summary, CreationOutsideALayerIsSaidToBeUnattributed) {
  Activity creation = timed(ActivityKind::primitive, "convolution", 0, 50);
  creation.attributes.set(Attribute::phase, "create");
  constexpr const char* kSentence =
      "Attributed is what was executed, or ran in a layer; the creation of primitives elsewhere is "
      "unattributed.\n";
  Activity execution = timed(ActivityKind::primitive, "convolution", 60, 10);
  execution.attributes.set(Attribute::phase, "exec");
  EXPECT_THAT(format_summary(summary_of({creation, execution})), HasSubstr(kSentence));
  EXPECT_THAT(format_summary(summary_of({execution})), Not(HasSubstr(kSentence)));
}

// The forward pass of a PyTorch step, where pooling takes 87 of 349 ms outside oneDNN. Regression
// test: the table of layers used to show only fractions of oneDNN's primitives, 58.8 % and 41.2 %.
TEST(Summary, LayersOfRangesShareTheWallTimeWithWhatNoPrimitiveExplains) {
  const Summary summary = summary_of(
      {executed("convolution", "conv1_x", 1, 94), ranged("aten::conv2d", "conv1_x", 0, 96),
       ranged("aten::max_pool2d", "conv1_x", 96, 87), ranged("conv1_x", "conv1_x", 0, 190),
       executed("convolution", "Conv2", 195, 66), ranged("aten::conv2d", "Conv2", 193, 70),
       ranged("Conv2", "Conv2", 191, 127), timed(ActivityKind::range, "step", 0, 349)});
  EXPECT_EQ(summary.attribution().wall, Nanoseconds(349));
  EXPECT_EQ(summary.attribution().unattributed, Nanoseconds(32));
  const std::vector<TimeRow> layers = summary.layers({});
  ASSERT_THAT(names_of(layers), ElementsAre("conv1_x", "Conv2", "(unattributed)"));
  EXPECT_DOUBLE_EQ(layers[0].share.value(), 190.0 / 349);
  EXPECT_DOUBLE_EQ(layers[1].share.value(), 127.0 / 349);
  EXPECT_DOUBLE_EQ(layers[2].share.value(), 32.0 / 349);
  EXPECT_DOUBLE_EQ(layers[2].cumulative_share.value(), 1.0);
  EXPECT_EQ(layers[0].count, 1);
  EXPECT_EQ(layers[0].total, Nanoseconds(190));
  EXPECT_EQ(layers[0].self, Nanoseconds(96));  // outside primitives
  EXPECT_EQ(layers[0].mean, Nanoseconds(190));
  const std::vector<TimeRow> operators = summary.operators({});
  ASSERT_THAT(names_of(operators), ElementsAre("(outside primitives)", "convolution"));
  EXPECT_EQ(operators[0].total, Nanoseconds(349 - 160));
  EXPECT_DOUBLE_EQ(operators[1].share.value(), 160.0 / 349);
  EXPECT_DOUBLE_EQ(sum_of_shares(operators), 1.0);
  EXPECT_THAT(format_summary(summary),
              HasSubstr("(unattributed)        n/a    0.000032        9.2 "));
}

// Autograd's ranges have the scope of the layer whose forward operator they belong to, but they run
// later, outside that layer's own range.
TEST(Summary, TheBackwardPassOfALayerIsInItsTotal) {
  const Summary summary = summary_of({ranged("a", "net:a", 0, 10), ranged("net", "net", 0, 12),
                                      executed("reorder", "net:a", 21, 5),
                                      ranged("ConvolutionBackward0", "net:a", 20, 30)});
  const std::vector<TimeRow> rows = summary.layers({});
  ASSERT_THAT(names_of(rows), ElementsAre("net", "net:a", "(outside)"));
  EXPECT_EQ(rows[0].total, Nanoseconds(42));
  EXPECT_DOUBLE_EQ(rows[0].share.value(), 2.0 / 50);
  EXPECT_EQ(rows[1].total, Nanoseconds(40));
  EXPECT_EQ(rows[1].self, Nanoseconds(35));
  EXPECT_EQ(rows[1].count, 1);
  EXPECT_EQ(rows[1].mean, std::nullopt);
  EXPECT_DOUBLE_EQ(sum_of_shares(rows), 1.0);
}

// Devices work in parallel to the host, so their time is not part of the wall time.
TEST(Summary, DevicesHaveTablesOfTheirOwn) {
  Activity kernel = executed("sgemm", "net:a", 5, 300);
  kernel.kind = ActivityKind::kernel;
  kernel.track.device = 0;
  const Summary summary = summary_of({ranged("a", "net:a", 0, 10), kernel});
  EXPECT_EQ(summary.attribution().wall, Nanoseconds(305));
  ASSERT_THAT(names_of(summary.layers({})), ElementsAre("(outside)", "net:a"));
  EXPECT_EQ(summary.layers({})[1].total, Nanoseconds(10));
  ASSERT_THAT(names_of(summary.device_layers({})), ElementsAre("net:a"));
  EXPECT_EQ(summary.device_layers({})[0].total, Nanoseconds(300));
  EXPECT_THAT(names_of(summary.operators({})), IsEmpty());
  EXPECT_THAT(names_of(summary.device_operators({})), ElementsAre("sgemm"));
  EXPECT_THAT(format_summary(summary),
              HasSubstr("layer, on devices  count [1]  total [ms]  of devices"));
  const json document = json::parse(summary_json(summary));
  EXPECT_EQ(document["device_layers"][0]["total_ns"], 300);
  EXPECT_FALSE(json::parse(summary_json(summary_of(executions()))).contains("device_layers"));
}

TEST(Summary, TheTablesOfIterationsShareTheirWallTime) {
  const auto in_iteration = [](Activity activity) {
    activity.attributes.set(Attribute::iteration, std::int64_t{0});
    return activity;
  };
  const Summary summary =
      summary_of({executed("matmul", "net:b", 0, 500),  // before the iterations
                  in_iteration(executed("matmul", "net:a", 1001, 50)),
                  in_iteration(timed(ActivityKind::api, "call", 1052, 4)),
                  in_iteration(layer("net:a", 1000, 60)),
                  in_iteration(timed(ActivityKind::range, "iteration", 1000, 80))});
  EXPECT_EQ(summary.attribution().wall, Nanoseconds(80));
  EXPECT_EQ(summary.attribution().unattributed, Nanoseconds(20));
  const std::vector<TimeRow> rows = summary.layers({});
  EXPECT_THAT(names_of(rows), ElementsAre("net:b", "net:a", "(unattributed)", "(no layer)"));
  EXPECT_DOUBLE_EQ(rows[0].share.value(), 0.0);  // outside the iterations
  EXPECT_DOUBLE_EQ(rows[2].share.value(), 0.25);
  EXPECT_DOUBLE_EQ(sum_of_shares(rows), 1.0);
  EXPECT_DOUBLE_EQ(sum_of_shares(summary.operators({})), 1.0);
}

TEST(Summary, AttributedAndUnattributedAreTheWallTime) {
  Activity iteration = timed(ActivityKind::range, "iteration", 0, 100);
  iteration.attributes.set(Attribute::iteration, std::int64_t{0});
  const Attribution attribution =
      summary_of({layer("net:a", 10, 50), layer("net:b", 60, 30), iteration,
                  timed(ActivityKind::range, "outside", 200, 1000)})
          .attribution();
  EXPECT_EQ(attribution.wall, Nanoseconds(100));
  EXPECT_EQ(attribution.attributed, Nanoseconds(80));
  EXPECT_EQ(attribution.unattributed, Nanoseconds(20));
}

// A PyTorch loop of 917 ms was shown as "wall 24 ms, convolution 80 %", which was 2 % of it.
TEST(Summary, TheSharesAreThoseOfTheProcessAndTheRestIsOutside) {
  const Summary summary =
      summary_of({executed("convolution", "", 100'000'000, 20'000'000),
                  executed("reorder", "", 300'000'000, 4'000'000), process(0, 917'000'000)});
  const Attribution attribution = summary.attribution();
  EXPECT_EQ(attribution.wall, Nanoseconds(917'000'000));
  EXPECT_EQ(attribution.attributed, Nanoseconds(24'000'000));
  EXPECT_EQ(attribution.unattributed, Nanoseconds(893'000'000));
  EXPECT_EQ(attribution.outside, Nanoseconds(893'000'000));
  const std::vector<TimeRow> layers = summary.layers({});
  ASSERT_THAT(names_of(layers), ElementsAre("(outside)", "(no layer)"));
  EXPECT_DOUBLE_EQ(layers[1].share.value(), 24.0 / 917);
  EXPECT_DOUBLE_EQ(sum_of_shares(layers), 1.0);
  const std::vector<TimeRow> operators = summary.operators({});
  ASSERT_THAT(names_of(operators), ElementsAre("(outside primitives)", "convolution", "reorder"));
  EXPECT_DOUBLE_EQ(operators[1].share.value(), 20.0 / 917);
  EXPECT_DOUBLE_EQ(sum_of_shares(operators), 1.0);
  EXPECT_THAT(
      format_summary(summary),
      testing::StartsWith("oneDNN was 24.00 ms of 917.0 ms of wall time, 2.6 %; the rest is "
                          "invisible to this profile.\nwall 917.000000 ms of the process = "
                          "attributed 24.000000 ms (2.6 %) + unattributed 893.000000 ms "
                          "(97.4 %)\n"));
  const json document = json::parse(summary_json(summary));
  EXPECT_EQ(document["attribution"]["wall_source"], "processes");
  EXPECT_EQ(document["attribution"]["outside_ns"], 893'000'000);
  EXPECT_EQ(document["attribution"]["onednn_ns"], 24'000'000);
}

TEST(Summary, ThreadsThatWorkAtOnceShareTheWallTime) {
  Activity second = executed("matmul", "b", 0, 100);
  second.track.tid = 2;
  const Summary summary =
      summary_of({executed("convolution", "a", 0, 60), second, process(0, 200)});
  const std::vector<TimeRow> operators = summary.operators({});
  ASSERT_THAT(names_of(operators), ElementsAre("(outside primitives)", "matmul", "convolution"));
  EXPECT_EQ(operators[1].total, Nanoseconds(100));  // time of the thread
  // 160 of threads in 100 of wall time
  EXPECT_NEAR(operators[1].share.value(), 100.0 * 100 / 160 / 200, 0.01);
  EXPECT_NEAR(operators[2].share.value(), 60.0 * 100 / 160 / 200, 0.01);
  EXPECT_DOUBLE_EQ(sum_of_shares(operators), 1.0);
  EXPECT_DOUBLE_EQ(sum_of_shares(summary.layers({})), 1.0);
  EXPECT_EQ(summary.attribution().outside, Nanoseconds(100));
  EXPECT_THAT(format_summary(summary), HasSubstr("Several threads worked at once"));
}

TEST(Summary, TheWallTimesOfProcessesAddUp) {
  Activity second = executed("matmul", "b", 20, 30);
  second.track.pid = second.track.tid = 2;
  const Summary summary = summary_of(
      {executed("convolution", "a", 0, 60), second, process(0, 100), process(10, 50, 2)});
  EXPECT_EQ(summary.attribution().wall, Nanoseconds(150));
  EXPECT_EQ(summary.attribution().outside, Nanoseconds(60));
  EXPECT_DOUBLE_EQ(sum_of_shares(summary.operators({})), 1.0);
  EXPECT_THAT(format_summary(summary), HasSubstr(" of 2 processes together"));
}

TEST(Summary, WithoutStartTimesAShareIsOfWhatWasRecorded) {
  Summary summary = summary_of(executions());
  summary.set_start_times(StartTimes::computed);
  const std::string text = format_summary(summary);
  EXPECT_THAT(text, HasSubstr("so the share of the process is unknown."));
  EXPECT_THAT(text, HasSubstr("sum 0.175000 ms of what was recorded"));
  EXPECT_THAT(text, HasSubstr("of recorded [%]"));
  EXPECT_THAT(text, Not(HasSubstr("wall")));
  const json attribution = json::parse(summary_json(summary))["attribution"];
  EXPECT_FALSE(attribution.contains("wall_ns"));
  EXPECT_EQ(attribution["recorded_ns"], 175'000);
}

TEST(Summary, WithoutIterationsTheWallTimeIsFromTheFirstToTheLastActivity) {
  const Attribution attribution =
      summary_of({layer("net:a", 10, 50), timed(ActivityKind::range, "all", 0, 100)}).attribution();
  EXPECT_EQ(attribution.wall, Nanoseconds(100));
  EXPECT_EQ(attribution.attributed, Nanoseconds(50));
  EXPECT_EQ(attribution.unattributed, Nanoseconds(50));
}

TEST(Summary, TheMeanOfACounterIsOverTimeAndNeverASum) {
  const Summary summary =
      summary_of({counter(0, 100), counter(30, 400), timed(ActivityKind::range, "r", 0, 40)});
  const std::vector<CounterRow> rows = summary.counters({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "live");
  EXPECT_EQ(rows[0].unit, "bytes");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].min, 100);
  EXPECT_EQ(rows[0].max, 400);
  EXPECT_EQ(rows[0].mean, (100.0 * 30 + 400.0 * 10) / 40);
  EXPECT_EQ(rows[0].last, 400);
  EXPECT_EQ(summary.attribution().wall, Nanoseconds(40));
}

TEST(Summary, AllocationsOfMoreThan2GiBAreExact) {
  const auto allocation = [](const char* role, std::int64_t size) {
    Activity activity = timed(ActivityKind::allocation, "buffer", 0, 10);
    activity.attributes.set(Attribute::role, role);
    activity.attributes.set(Attribute::size_bytes, size);
    return activity;
  };
  constexpr std::int64_t kBig = (std::int64_t{3} << 30) + 1;
  const std::vector<MemoryRow> rows =
      summary_of({allocation("weights", kBig), allocation("weights", kBig + 2),
                  allocation("scratchpad", std::numeric_limits<std::int64_t>::max())})
          .memory({});
  ASSERT_THAT(names_of(rows), ElementsAre("scratchpad", "weights"));
  EXPECT_EQ(rows[0].max_bytes, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(rows[1].count, 2);
  EXPECT_EQ(rows[1].min_bytes, kBig);
  EXPECT_EQ(rows[1].max_bytes, kBig + 2);
  EXPECT_EQ(rows[1].total_bytes, 2 * kBig + 2);
  EXPECT_EQ(rows[1].mean_bytes, static_cast<double>(kBig + 1));
}

TEST(Summary, WhatNeverEndedIsCountedApart) {
  Activity begun = layer("net:a", 0, 0);
  begun.duration.reset();
  begun.attributes.set(Attribute::unfinished, std::int64_t{1});
  const Summary summary = summary_of({layer("net:a", 10, 5), begun});
  ASSERT_THAT(names_of(summary.layers({})), ElementsAre("(outside)", "net:a"));
  EXPECT_EQ(summary.layers({})[1].count, 2);
  EXPECT_EQ(summary.layers({})[1].unfinished, 1);
  EXPECT_EQ(summary.layers({})[1].total, Nanoseconds(5));
  EXPECT_THAT(format_summary(summary), HasSubstr("net:a (1 unfinished)"));
}

TEST(Summary, ResetEmptiesIt) {
  Summary summary = summary_of(executions());
  EXPECT_FALSE(summary.empty());
  summary.reset();
  EXPECT_TRUE(summary.empty());
  EXPECT_THAT(summary.operators({}), IsEmpty());
  EXPECT_EQ(format_summary(summary), "no activities\n");
}

// Exact to the nanosecond: six decimals of a millisecond.
TEST(Summary, TextAndJsonSayTheSame) {
  const Summary summary = summary_of(executions());
  const std::string text = format_summary(summary);
  const json document = json::parse(summary_json(summary));
  ASSERT_EQ(document["operators"].size(), 3u);
  for (const json& row : document["operators"]) {
    for (const char* field : {"total_ns", "min_ns", "max_ns", "mean_ns"}) {
      const auto value = row[field].get<std::int64_t>();
      EXPECT_THAT(text, HasSubstr(fmt::format("{}.{:06}", value / 1'000'000, value % 1'000'000)));
    }
  }
  EXPECT_EQ(document["attribution"]["wall_ns"], 175'000);
  EXPECT_EQ(document["categories"]["primitive"], document["operators"]);
}

TEST(Summary, TablesFitATerminalOf80Columns) {
  std::vector<Activity> activities = executions();
  activities.push_back(
      layer("a_network:a_block_with_a_long_name:another_block:convolution_1", 0, 12'345'678));
  const Summary summary = summary_of(activities);
  SummaryOptions options;
  options.width = 80;
  std::istringstream lines(format_summary(summary, options));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(format_summary(summary, options),
              AllOf(HasSubstr("total [ms]"), HasSubstr("share [%]"), Not(HasSubstr("p50 [ms]"))));
  EXPECT_THAT(format_summary(summary), HasSubstr("p50 [ms]"));
}

TEST(Summary, EveryColumnHasItsUnit) {
  Activity allocation = timed(ActivityKind::allocation, "b", 0, 1);
  allocation.attributes.set(Attribute::size_bytes, std::int64_t{4});
  const std::string text =
      format_summary(summary_of({layer("a", 0, 1), counter(0, 1), allocation}));
  for (const char* heading : {"count [1]", "total [ms]", "share [%]", "cum. share [%]", "self [ms]",
                              "p95 [ms]", "total [B]", "mean over time [unit]"}) {
    EXPECT_THAT(text, HasSubstr(heading));
  }
}

TEST(Summary, MeansHaveSixDigitsOrTheirWholePart) {
  // 1 for two thirds of the time, then 2: 4/3.
  const std::string small = format_summary(
      summary_of({layer("a", 0, 300), counter(0, 1), counter(200, 2), counter(300, 2)}));
  EXPECT_THAT(small, AllOf(HasSubstr("1.33333 "), Not(HasSubstr("1.333333"))));
  const std::string large = format_summary(
      summary_of({layer("a", 0, 300), counter(0, 4e9), counter(200, 5e9), counter(300, 5e9)}));
  EXPECT_THAT(large, AllOf(HasSubstr("4333333333 "), Not(HasSubstr("e+"))));
}

TEST(Summary, HostileNamesStayText) {
  const Summary summary = summary_of({layer("\x1b[2J\xff", 0, 1)});
  EXPECT_THAT(format_summary(summary), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(json::accept(summary_json(summary)));
}

// Hot and cold cases, layers and whole networks are in one sum, which nothing said.
TEST(SummaryText, SaysOfHowManyCasesTheWallTimeIs) {
  Activity hot = timed(ActivityKind::range, "iteration", 0, 100);
  hot.attributes.set(Attribute::iteration, std::int64_t{0});
  hot.case_id = "hot";
  Activity cold = hot;
  cold.case_id = "cold";
  cold.start = Nanoseconds(200);
  EXPECT_THAT(format_summary(summary_of({hot, cold})),
              testing::HasSubstr(" ms of the recorded iterations of 2 cases together"));
  EXPECT_THAT(format_summary(summary_of({hot})), testing::Not(testing::HasSubstr("together")));
}

// A program that numbers its ranges has as many names as activities: 216 MB for 100,000.
TEST(Summary, NamesBeyondTheLimitAreOneRow) {
  Summary summary;
  constexpr std::int64_t kMore = 10;
  const auto limit = static_cast<std::int64_t>(analysis::BoundedNames::kMaxNames);
  for (std::int64_t i = 0; i < limit + kMore; ++i) {
    Activity range;
    range.kind = ActivityKind::range;
    range.name = "request " + std::to_string(i);
    range.start = Nanoseconds(1000 * i);
    range.duration = Nanoseconds(100);
    range.track = {1, 1, std::nullopt, std::nullopt};
    ASSERT_TRUE(summary.consume(range).ok());
  }
  const auto categories = summary.categories({});
  const std::vector<TimeRow>& ranges = categories.at("range");
  ASSERT_EQ(std::ssize(ranges), limit + 1);
  const auto joined = std::ranges::find(ranges, analysis::kFurtherNames, &TimeRow::name);
  ASSERT_NE(joined, ranges.end());
  EXPECT_EQ(joined->count, kMore);
  EXPECT_TRUE(summary.has_joined_names());
}

}  // namespace
}  // namespace bench
