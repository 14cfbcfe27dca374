// SPDX-License-Identifier: Apache-2.0
// The tables that a mapping alone describes; pyprof_test.cpp has the importer's other properties.
#include "profiler/readers/table_import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ImportedTable final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  ReadReport report;
  std::vector<Activity> activities;
};

ImportedTable import_table(std::string_view format, std::string text) {
  ImportedTable table;
  const auto source = text_source_for_test("table", std::move(text));
  const auto reader = find_reader(*source);
  EXPECT_TRUE(reader.ok());
  if (!reader.ok()) return table;
  EXPECT_EQ((*reader)->name, format);
  auto report = (*reader)->read(*source, table);
  EXPECT_TRUE(report.ok());
  if (report.ok()) table.report = *std::move(report);
  return table;
}

std::string read_table_testdata(const std::string& name) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/readers/testdata/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TableImport, TheKernelsOfPyprofsParseAreRead) {
  const ImportedTable table = import_table("pyprof_dict", read_table_testdata("pyprof_net.dict"));
  EXPECT_THAT(table.report.notes, IsEmpty());
  ASSERT_EQ(table.activities.size(), 4u);
  const Activity& product = table.activities[0];
  EXPECT_EQ(product.kind, ActivityKind::kernel);
  EXPECT_EQ(product.name, "volta_h884gemm_64x128_ldg8_nn");
  EXPECT_EQ(product.duration, Nanoseconds(81'920));
  EXPECT_EQ(product.scope, "encoder:attention_1");
  EXPECT_EQ(product.direction, "forward");
  EXPECT_EQ(product.track, (Track{0, 1'234'567'890, 0, 7}));
  EXPECT_EQ(product.attributes.text(Attribute::source_location), "train.py:12,model.py:34");
  EXPECT_EQ(product.attributes.text(Attribute::op), "matmul");
  EXPECT_EQ(product.attributes.text(Attribute::module), "torch");
  EXPECT_EQ(product.attributes.text(Attribute::dtype), "f16");
  EXPECT_EQ(product.attributes.text(Attribute::in_shapes), "8x16x128x64 8x16x64x128");
  EXPECT_EQ(product.attributes.integer(Attribute::sequence), 7);
  EXPECT_EQ(product.attributes.text(Attribute::alternate_sequence), "5,6");
  EXPECT_EQ(product.attributes.text(Attribute::grid), "2,128,1");
  const Activity& sum = table.activities[1];
  EXPECT_EQ(sum.start, Nanoseconds(81'920));
  EXPECT_EQ(sum.attributes.text(Attribute::in_shapes), "32");
  EXPECT_THAT(sum.attributes.text(Attribute::long_name), HasSubstr("char 'a')"));
}

TEST(TableImport, ABackwardKernelOfPyprofsParseHasTheCallOfItsSequenceNumber) {
  const ImportedTable table = import_table("pyprof_dict", read_table_testdata("pyprof_net.dict"));
  ASSERT_EQ(table.activities.size(), 4u);
  const Activity& gradient = table.activities[2];
  EXPECT_EQ(gradient.direction, "backward");
  EXPECT_EQ(gradient.scope, "encoder:attention_1");
  EXPECT_EQ(gradient.attributes.text(Attribute::op), "matmul");
  EXPECT_THAT(gradient.attributes.text(Attribute::problem), HasSubstr("'op': 'matmul'"));
  EXPECT_EQ(gradient.attributes.text(Attribute::source_location), "train.py:12,model.py:34");
  EXPECT_EQ(gradient.attributes.text(Attribute::in_shapes), "8x16x128x64 8x16x64x128");
}

TEST(TableImport, ACutOrMalformedDictionaryIsCountedAndNoted) {
  std::string text = read_table_testdata("pyprof_net.dict");
  text.resize(text.size() - 20);
  const ImportedTable cut = import_table("pyprof_dict", text);
  EXPECT_EQ(cut.report.activities, 3);
  EXPECT_EQ(cut.report.malformed, 1);
  EXPECT_THAT(cut.report.notes, ElementsAre(HasSubstr("table:4: the text ends before this line")));
  const ImportedTable other = import_table(
      "pyprof_dict",
      "{'kShortName': 'a', 'kDuration': 1}\n{'kShortName': }\n{'kDuration': 2}\nprose\n"
      "{'kShortName': 'b', 'kDuration': -1, 'stream': 'x'}\n");
  EXPECT_EQ(other.report.activities, 1);
  EXPECT_EQ(other.report.malformed, 2);
  EXPECT_EQ(other.report.ignored, 2);
}

// PyProf prints any columns that -c names. In quotes, they cannot be prose.
TEST(TableImport, AnySelectionOfPyprofsCsvIsRead) {
  const ImportedTable table = import_table("pyprof", "\"Layer\",\"Sil(ns)\"\n\"a:b\",\"12\"\n");
  ASSERT_EQ(table.activities.size(), 1u);
  EXPECT_EQ(table.activities[0].scope, "a:b");
  EXPECT_EQ(table.activities[0].duration, Nanoseconds(12));
  EXPECT_EQ(import_table("pyprof", "\"Kernel\"\n\"sgemm\"\n").activities.size(), 1u);
  EXPECT_FALSE(pyprof_reader.recognises("\"Device\",\"Stream\"\n\"0\",\"7\"\n"));
}

TEST(TableImport, TheTraceOfNvprofHasItsUnitsInARow) {
  const ImportedTable table = import_table("nvprof", read_table_testdata("nvprof_trace.csv"));
  EXPECT_THAT(table.report.notes, IsEmpty());
  EXPECT_EQ(table.report.starts, StartTimes::recorded);
  EXPECT_EQ(table.report.facts.at("gpu.name"), "GeForce RTX 2080 Ti");
  ASSERT_EQ(table.activities.size(), 3u);
  EXPECT_EQ(table.activities[0].kind, ActivityKind::memset);
  EXPECT_EQ(table.activities[0].start, Nanoseconds(210'515'251));
  EXPECT_EQ(table.activities[0].duration, Nanoseconds(1568));
  EXPECT_EQ(table.activities[0].attributes.integer(Attribute::bytes), 1028);
  const Activity& kernel = table.activities[1];
  EXPECT_EQ(kernel.kind, ActivityKind::kernel);
  EXPECT_EQ(kernel.name, "scale");
  EXPECT_EQ(kernel.attributes.text(Attribute::long_name), "void scale<float, 4>(float*, int)");
  EXPECT_EQ(kernel.attributes.text(Attribute::grid), "2,3,1");
  EXPECT_EQ(kernel.attributes.text(Attribute::block), "128,1,1");
  EXPECT_EQ(kernel.attributes.integer(Attribute::registers), 32);
  EXPECT_EQ(kernel.attributes.integer(Attribute::shared_bytes), 1792);
  EXPECT_EQ(kernel.correlation, 281u);
  EXPECT_EQ(kernel.track, (Track{0, 0, 0, 7}));
  const Activity& copy = table.activities[2];
  EXPECT_EQ(copy.kind, ActivityKind::memcpy);
  EXPECT_EQ(copy.attributes.integer(Attribute::size_bytes), 1'048'576);
  EXPECT_EQ(copy.attributes.integer(Attribute::bytes), 2'097'152);
}

TEST(TableImport, TheTraceOfNsightSystemsHasItsUnitsInItsHeader) {
  const ImportedTable table = import_table("nsys", read_table_testdata("nsys_trace.csv"));
  EXPECT_THAT(table.report.notes, IsEmpty());
  ASSERT_EQ(table.activities.size(), 2u);
  EXPECT_EQ(table.activities[0].kind, ActivityKind::memcpy);
  EXPECT_EQ(table.activities[0].attributes.integer(Attribute::size_bytes), 4'194'000);
  const Activity& kernel = table.activities[1];
  EXPECT_EQ(kernel.name, "demo::(anonymous namespace)::saxpyKernel");
  EXPECT_EQ(kernel.start, Nanoseconds(1'136'125'733));
  EXPECT_EQ(kernel.duration, Nanoseconds(7072));
  EXPECT_EQ(kernel.track.device, 0);
  EXPECT_EQ(kernel.track.stream, 13);
  EXPECT_EQ(kernel.attributes.integer(Attribute::shared_bytes), 1000);
  EXPECT_EQ(kernel.attributes.text(Attribute::grid), "4096,1,1");
}

TEST(TableImport, AColumnWithAnUnknownUnitIsNotRead) {
  const ImportedTable table =
      import_table("nsys", "Start (ns),Duration (weeks),GrdX,Name\n1,2,3,k\n");
  EXPECT_EQ(table.report.unknown, 1);
  EXPECT_THAT(table.report.notes, ElementsAre(HasSubstr("unknown unit `weeks` of the column")));
  ASSERT_EQ(table.activities.size(), 1u);
  EXPECT_EQ(table.activities[0].duration, std::nullopt);
}

TEST(TableImport, ANumberThatNoDeviceHasIsNotRead) {
  const ImportedTable table = import_table(
      "nsys", "Start (ns),Duration (ns),GrdX,Device,Name\n1,2,3,GPU (5),k\n4,2,3,GPU (500000),k\n");
  ASSERT_EQ(table.activities.size(), 2u);
  EXPECT_EQ(table.activities[0].track.device, 5);
  EXPECT_EQ(table.activities[1].track.device, std::nullopt);
  EXPECT_EQ(table.report.unknown, 1);
  EXPECT_THAT(table.report.notes, ElementsAre(HasSubstr(":3: 1 value could not be read")));
}

// Each replacement moved the rest of the name, so a megabyte took minutes.
TEST(TableImport, ANameOfManyUnnamedNamespacesIsReadAtOnce) {
  constexpr std::size_t kNamespaces = 20'000;
  std::string name, expected;
  for (std::size_t i = 0; i < kNamespaces; ++i) {
    name += "<unnamed>::";
    expected += "(anonymous namespace)::";
  }
  const ImportedTable table =
      import_table("nsys", "Start (ns),Duration (ns),GrdX,Name\n1,2,3," + name + "k\n");
  ASSERT_EQ(table.activities.size(), 1u);
  EXPECT_TRUE(table.activities[0].name == expected + "k");
}

}  // namespace
}  // namespace bench
