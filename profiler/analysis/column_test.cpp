// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/column.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bench::analysis {
namespace {

using testing::HasSubstr;

Activity primitive() {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.name = "convolution";
  activity.duration = Nanoseconds(1'100'000);
  activity.attributes.set(Attribute::flops, std::int64_t{822'083'584});
  activity.attributes.set(Attribute::bytes, std::int64_t{25'698'304});
  return activity;
}

Cell value_of(const char* name, const Activity& activity, const Peaks& peaks = {}) {
  const auto column = find_column(name);
  EXPECT_TRUE(column.ok()) << name;
  return (*column)->of_activity({activity, Nanoseconds(7), peaks}, **column);
}

TEST(Columns, HaveNamesOfTheirOwnAndEveryAttributeIsOne) {
  std::set<std::string_view> names;
  for (const Column& column : columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_FALSE(column.help.empty()) << column.name;
    EXPECT_EQ(column.of_activity == nullptr, column.merge == Merge::position) << column.name;
    EXPECT_EQ(column.of_group != nullptr, column.merge == Merge::statistic) << column.name;
  }
  for (const AttributeInfo& attribute : attributes()) {
    EXPECT_EQ(names.count(attribute.name), 1u) << attribute.name;
  }
}

TEST(Columns, AreFoundByTheNamesOfPyprofAndProfileAnalyze) {
  struct Pair {
    const char* foreign;
    const char* name;
  };
  constexpr Pair kPairs[] = {{"idx", "index"},
                             {"seq", "sequence"},
                             {"altseq", "alternate_sequence"},
                             {"tid", "tid"},
                             {"layer", "layer"},
                             {"trace", "trace"},
                             {"dir", "direction"},
                             {"sub", "sub"},
                             {"mod", "module"},
                             {"op", "op"},
                             {"kernel", "name"},
                             {"params", "parameters"},
                             {"sil", "time_ns"},
                             {"tc", "tensor_cores"},
                             {"device", "device"},
                             {"stream", "stream"},
                             {"grid", "grid"},
                             {"block", "block"},
                             {"flops", "flops"},
                             {"bytes", "bytes"},
                             {"self", "self_ns"},
                             {"memory", "bytes"},
                             {"computation", "flops"},
                             {"cumulative", "cumulative_ns"},
                             {"in_shapes", "in_shapes"}};
  for (const Pair& pair : kPairs) {
    const auto column = find_column(pair.foreign);
    ASSERT_TRUE(column.ok()) << pair.foreign;
    EXPECT_EQ((*column)->name, pair.name);
  }
}

TEST(Columns, AnUnknownOneIsAnErrorWithTheNearestNameAndThePlaceOfAll) {
  const auto column = find_column("bandwith");
  ASSERT_FALSE(column.ok());
  EXPECT_THAT(column.error().message(), HasSubstr("unknown column `bandwith`"));
  EXPECT_THAT(column.error().message(), HasSubstr("did you mean `bandwidth`?"));
  EXPECT_THAT(column.error().message(), HasSubstr("docs/analyze.md all"));
}

// A convolution of 1.1 ms, from MegEngine's tests.
TEST(Columns, RatesAreWorkOverTime) {
  EXPECT_EQ(readable(value_of("flops_per_s", primitive()), Quantity::flop_rate), "747.35 GFLOP/s");
  EXPECT_EQ(readable(value_of("bytes", primitive()), Quantity::byte), "24.51 MiB");
  EXPECT_EQ(readable(value_of("bandwidth", primitive()), Quantity::byte_rate), "23.36 GB/s");
}

TEST(Columns, ARateWithoutWorkOrWithoutTimeIsUnknown) {
  Activity activity = primitive();
  activity.attributes.erase(Attribute::flops);
  EXPECT_FALSE(is_known(value_of("flops_per_s", activity)));
  EXPECT_TRUE(is_known(value_of("bandwidth", activity)));
  activity.duration = Nanoseconds(0);
  EXPECT_FALSE(is_known(value_of("bandwidth", activity)));
  activity.duration.reset();
  EXPECT_FALSE(is_known(value_of("bandwidth", activity)));
  EXPECT_FALSE(is_known(value_of("time_ns", activity)));
}

TEST(Columns, DeviceIsWhereItRan) {
  Activity activity = primitive();
  EXPECT_EQ(device_name(activity), "cpu");
  activity.attributes.set(Attribute::engine, "gpu");
  EXPECT_EQ(device_name(activity), "gpu");
  activity.track.device = 2;
  EXPECT_EQ(device_name(activity), "gpu:2");  // of any vendor
  activity.attributes.erase(Attribute::engine);
  EXPECT_EQ(device_name(activity), "cuda:2");
  Activity kernel;
  kernel.kind = ActivityKind::kernel;
  EXPECT_EQ(device_name(kernel), "cuda");
}

TEST(Columns, TypeIsTheLibrarysWordElseTheToolsElseTheName) {
  Activity activity = primitive();
  EXPECT_EQ(operation_type(activity), "convolution");
  activity.name = "k";
  activity.attributes.set(Attribute::op, "conv");
  EXPECT_EQ(operation_type(activity), "conv");
  activity.attributes.set(Attribute::primitive, "conv2d");
  EXPECT_EQ(operation_type(activity), "conv2d");
}

TEST(Columns, FlagsTellWhatIsWrongWithARow) {
  Peaks peaks;
  EXPECT_FALSE(is_known(value_of("flags", primitive(), peaks)));
  peaks.bandwidth = BytesPerSecond{20e9};
  EXPECT_EQ(value_of("flags", primitive(), peaks), Cell(std::string("above peak bandwidth")));
  peaks.flops = FlopsPerSecond{700e9};
  EXPECT_EQ(value_of("flags", primitive(), peaks),
            Cell(std::string("above peak bandwidth, above peak FLOP rate")));
  Activity unknown = primitive();
  unknown.attributes.clear();
  unknown.attributes.set(Attribute::unfinished, std::int64_t{1});
  EXPECT_EQ(value_of("flags", unknown, peaks), Cell(std::string("work unknown, unfinished")));
  unknown.attributes.set(Attribute::phase, "create");  // a creation does no work
  EXPECT_EQ(value_of("flags", unknown, peaks), Cell(std::string("unfinished")));
}

}  // namespace
}  // namespace bench::analysis
