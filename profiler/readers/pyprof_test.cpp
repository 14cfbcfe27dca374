// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

struct Table final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  ReadReport report;
  std::vector<Activity> activities;
};

Table read(std::string text) {
  Table table;
  const auto source = text_source_for_test("table", std::move(text));
  EXPECT_TRUE(pyprof_reader.recognises(source->head()));
  auto report = pyprof_reader.read(*source, table);
  EXPECT_TRUE(report.ok());
  if (report.ok()) table.report = *std::move(report);
  return table;
}

std::string read_testdata(const std::string& name) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/readers/testdata/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string resnet50() { return read_testdata("pyprof_resnet50.txt"); }

// The same table as written by `prof.py --csv`: every field is quoted.
std::string as_csv(const std::string& columns) {
  std::istringstream lines(columns);
  std::string csv;
  for (std::string line; std::getline(lines, line);) {
    std::string quoted = "\"";
    for (const char c : line) {
      if (c == '"') {
        quoted += "\"\"";
      } else {
        quoted += c == '\t' ? "\",\"" : std::string(1, c);
      }
    }
    csv += quoted + "\"\n";
  }
  return csv;
}

// The same table as it is written for awk: one blank between fields, and none inside a field.
std::string as_blanks(std::string columns) {
  std::replace(columns.begin(), columns.end(), '\t', ' ');
  return columns;
}

// 33712 ns cut after the second digit would be 33 ns.
TEST(PyprofReader, ATableTornInItsLastNumberDoesNotHaveThatRow) {
  const Table complete = read(resnet50());
  std::string text = resnet50();
  while (!text.ends_with('\n')) text.pop_back();
  text.resize(text.size() - 2);
  const Table incomplete_line = read(text);
  EXPECT_EQ(incomplete_line.activities.size() + 1, complete.activities.size());
  EXPECT_EQ(incomplete_line.report.malformed, 1);
  EXPECT_THAT(
      incomplete_line.report.notes,
      Contains(HasSubstr("the text ends before this line does: its last number may be cut")));
}

TEST(PyprofReader, Resnet50Has34KernelsOf3683771Ns) {
  const Table table = read(resnet50());
  EXPECT_EQ(table.report.format, "pyprof");
  EXPECT_EQ(table.report.activities, 34);
  EXPECT_EQ(table.report.malformed + table.report.unknown + table.report.ignored, 0);
  Nanoseconds sum{0};
  for (const Activity& kernel : table.activities) {
    EXPECT_EQ(kernel.kind, ActivityKind::kernel);
    EXPECT_EQ(kernel.start, sum);  // one after the other
    EXPECT_EQ(kernel.direction, "forward");
    sum += kernel.duration.value();
  }
  EXPECT_EQ(sum, Nanoseconds(3'683'771));
}

TEST(PyprofReader, ColumnsCsvAndBlanksAreTheSameTable) {
  const Table columns = read(resnet50());
  const Table csv = read(as_csv(resnet50()));
  const Table blanks = read(as_blanks(resnet50()));
  EXPECT_EQ(csv.activities, columns.activities);
  EXPECT_EQ(blanks.activities, columns.activities);
  const Table carriage_returns = read([] {
    std::string text = as_csv(resnet50());
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
      text.insert(at, "\r");
    }
    return text;
  }());
  EXPECT_EQ(carriage_returns.activities, columns.activities);
}

TEST(PyprofReader, ARowSaysWhatItsColumnsSay) {
  const std::vector<Activity> kernels = read(resnet50()).activities;
  const Activity& gemm = kernels.at(8);
  EXPECT_EQ(gemm.name, "volta_fp16_s884cudnn_fp16_256x128_ldg8_re");
  EXPECT_EQ(gemm.scope, "conv2_x:Bottleneck_1:Conv1");
  EXPECT_EQ(gemm.duration, Nanoseconds(85'344));
  EXPECT_EQ(gemm.attributes.integer(Attribute::index), 10);
  EXPECT_EQ(gemm.attributes.text(Attribute::op), "conv2d");
  EXPECT_EQ(gemm.attributes.integer(Attribute::given_flops), 822'083'584);
  EXPECT_EQ(gemm.attributes.integer(Attribute::given_bytes), 25'698'304);
  EXPECT_EQ(gemm.attributes.text(Attribute::tensor_cores), "used (name: mma-shape)");
  const Activity& residual = kernels.at(31);
  EXPECT_EQ(residual.attributes.text(Attribute::in_shapes), "32x256x56x56 32x256x56x56");
  EXPECT_EQ(residual.attributes.text(Attribute::dtype), "f16");
}

// PyProf prints 0 if it has no formula.
TEST(PyprofReader, WorkThatItHadNoFormulaForIsUnknown) {
  const std::vector<Activity> kernels = read(resnet50()).activities;
  const Activity& implicit_gemm = kernels.at(15);
  EXPECT_EQ(implicit_gemm.attributes.integer(Attribute::index), 17);
  EXPECT_EQ(implicit_gemm.attributes.find(Attribute::given_flops), nullptr);
  EXPECT_EQ(implicit_gemm.attributes.find(Attribute::given_bytes), nullptr);
  const Activity& second_pass = kernels.at(4);  // the first kernel has the FLOPs and bytes
  EXPECT_EQ(second_pass.attributes.find(Attribute::given_flops), nullptr);
  EXPECT_EQ(second_pass.attributes.find(Attribute::given_bytes), nullptr);
  const Activity& offsets = kernels.at(0);  // only prepares, so its 0 is a real value
  EXPECT_EQ(offsets.attributes.integer(Attribute::given_flops), 0);
}

// PyProf prints "-" because its list of kernel names does not contain it.
TEST(PyprofReader, TheHmmaKernelOfRow17UsedTensorCores) {
  const Activity kernel = read(resnet50()).activities.at(15);
  EXPECT_EQ(kernel.name, "Volta_hmma_implicit_gemm_fprop_fp32_nhwc");
  EXPECT_EQ(kernel.attributes.text(Attribute::tensor_cores), "used (name: mma-word)");
}

// Printed by prof.py of PyProf 3.11: the same seven kernels with --csv and with -w 300.
TEST(PyprofReader, ATableThatWAlignedIsReadLikeItsCsv) {
  const Table csv = read(read_testdata("pyprof_csv.txt"));
  const Table aligned = read(read_testdata("pyprof_w300.txt"));
  ASSERT_EQ(csv.activities.size(), 7u);
  ASSERT_EQ(aligned.activities.size(), 7u);
  EXPECT_EQ(csv.report.malformed + csv.report.unknown + csv.report.ignored, 0);
  EXPECT_EQ(aligned.report.malformed + aligned.report.unknown + aligned.report.ignored, 0);
  for (std::size_t i = 0; i < 7; ++i) {
    const Activity& a = aligned.activities[i];
    const Activity& b = csv.activities[i];
    EXPECT_EQ(a.duration, b.duration) << i;
    EXPECT_EQ(a.track, (Track{0, 140'735'123'456'768, 0, 7})) << i;  // longer than its column
    EXPECT_EQ(a.track, b.track) << i;
    EXPECT_EQ(a.direction, b.direction) << i;
    EXPECT_TRUE(b.name.starts_with(a.name)) << a.name;
    for (const Attribute attribute : {Attribute::sequence, Attribute::given_flops,
                                      Attribute::given_bytes, Attribute::sub, Attribute::index}) {
      EXPECT_EQ(a.attributes.integer(attribute), b.attributes.integer(attribute)) << i;
    }
    for (const Attribute attribute :
         {Attribute::op, Attribute::in_shapes, Attribute::grid, Attribute::tensor_cores}) {
      EXPECT_EQ(a.attributes.text(attribute), b.attributes.text(attribute)) << i;
    }
  }
  EXPECT_EQ(csv.activities[1].attributes.text(Attribute::in_shapes), "8x16x128x64 8x16x64x128");
  EXPECT_EQ(csv.activities[3].attributes.text(Attribute::in_shapes), "32x256x56x56 32x256x56x56");
  EXPECT_EQ(csv.activities[0].attributes.text(Attribute::module), "torch.nn.functional");
  EXPECT_EQ(csv.activities[0].attributes.integer(Attribute::sequence), 4);
  EXPECT_EQ(csv.activities[0].attributes.text(Attribute::alternate_sequence), "5,6");
  EXPECT_EQ(csv.activities[3].scope, "");
}

TEST(PyprofReader, ValuesThatWMayHaveCutAreTold) {
  EXPECT_THAT(read(read_testdata("pyprof_csv.txt")).report.notes, testing::IsEmpty());
  const Table aligned = read(read_testdata("pyprof_w300.txt"));
  EXPECT_THAT(
      aligned.report.notes,
      ElementsAre(HasSubstr("may be cut (Kernel, Layer, Module, Params): `prof.py --csv`")));
  const Table narrow = read(read_testdata("pyprof_w130.txt"));  // the default columns
  ASSERT_EQ(narrow.activities.size(), 7u);
  EXPECT_EQ(narrow.report.malformed + narrow.report.unknown + narrow.report.ignored, 0);
  EXPECT_EQ(narrow.activities[2].duration, Nanoseconds(147'967));
  // "float" may be the beginning of "float16".
  const Table cut = read("Idx Op Kernel Params Sil(ns)\n1 relu k [\"float 10\n");
  EXPECT_EQ(cut.activities.at(0).attributes.find(Attribute::dtype), nullptr);
}

TEST(PyprofReader, TheSumOfASplitProductHasNotItsWork) {
  const Activity sum = read(read_testdata("pyprof_csv.txt")).activities.at(6);
  EXPECT_EQ(sum.name, "splitKreduce_kernel");
  EXPECT_EQ(sum.attributes.find(Attribute::given_flops), nullptr);
  EXPECT_EQ(sum.attributes.find(Attribute::given_bytes), nullptr);
}

TEST(PyprofReader, FlopsThatPyprofRepeatsOnALaterKernelCountOnce) {
  const Table table = read(
      "Idx Op Kernel Params Sil(ns) FLOPs Bytes\n"
      "1 sum reduce_kernel T=[(4,)],fp32, 10 4 16\n"
      "2 sum reduce_kernel T=[(4,)],fp32, 10 4 0\n"
      "3 sum reduce_kernel T=[(4,)],fp32, 10 4 16\n"  // the next operator
      "4 mean reduce_kernel T=[(4,)],fp32, 10 4 0\n");
  ASSERT_EQ(table.activities.size(), 4u);
  std::vector<std::int64_t> flops;
  for (const Activity& kernel : table.activities) {
    flops.push_back(kernel.attributes.integer(Attribute::given_flops).value_or(-1));
  }
  EXPECT_THAT(flops, ElementsAre(4, -1, 4, 4));
}

TEST(PyprofReader, AllColumnsInAnyOrder) {
  const Table table = read(
      "\"Bytes\",\"FLOPs\",\"Block\",\"Grid\",\"Stream\",\"Device\",\"TC\",\"Sil(ns)\",\"Params\","
      "\"Kernel\",\"Op\",\"Mod\",\"Sub\",\"Direction\",\"Trace\",\"Layer\",\"TId\",\"AltSeqId\","
      "\"SeqId\",\"Idx\"\n"
      "\"8\",\"4\",\"128,1,1\",\"2,3,1\",\"7\",\"0\",\"0\",\"1e3\",\"M=4\",\"sgemm\",\"mm\","
      "\"torch\",\"1\",\"bprop\",\"net.py:73\",\"a:b\",\"99\",\"5,6\",\"4\",\"3\"\n");
  ASSERT_EQ(table.activities.size(), 1u);
  const Activity& kernel = table.activities[0];
  const Attributes& attributes = kernel.attributes;
  EXPECT_EQ(kernel.duration, Nanoseconds(1000));
  EXPECT_EQ(kernel.direction, "backward");
  EXPECT_EQ(kernel.scope, "a:b");
  EXPECT_EQ(kernel.track, (Track{0, 99, 0, 7}));
  EXPECT_EQ(attributes.integer(Attribute::index), 3);
  EXPECT_EQ(attributes.integer(Attribute::sequence), 4);
  EXPECT_EQ(attributes.text(Attribute::alternate_sequence), "5,6");
  EXPECT_EQ(attributes.text(Attribute::source_location), "net.py:73");
  EXPECT_EQ(attributes.integer(Attribute::sub), 1);
  EXPECT_EQ(attributes.text(Attribute::module), "torch");
  EXPECT_EQ(attributes.text(Attribute::parameters), "M=4");
  EXPECT_EQ(attributes.text(Attribute::grid), "2,3,1");
  EXPECT_EQ(attributes.text(Attribute::block), "128,1,1");
  EXPECT_EQ(attributes.integer(Attribute::line), 2);
}

TEST(PyprofReader, NamesThatAreUnknownTodayAreRowsLikeOthers) {
  const Table table = read(
      "Idx Op Kernel Params Sil(ns) FLOPs Bytes\n"
      "1 linear nvjet_hsh_128x256 M=1,bf16 1000 0 0\n"
      "2 conv2d sm90_xmma_fprop_implicit_gemm_bf16 T=(2,3),bfloat16, 2000 na na\n");
  ASSERT_EQ(table.activities.size(), 2u);
  EXPECT_EQ(table.report.malformed + table.report.unknown, 0);
  for (const Activity& kernel : table.activities) {
    EXPECT_EQ(kernel.attributes.text(Attribute::dtype), "bf16");
    EXPECT_EQ(kernel.attributes.find(Attribute::given_flops), nullptr);
  }
}

TEST(PyprofReader, WhatCannotBeReadIsCountedAndNoted) {
  const Table table = read(
      "Found 4 kernels\n"
      "Idx Op Kernel Sil(ns) FLOPs\n"
      "1 relu k 1000 8\n"
      "2 relu k\n"
      "3 relu k 1.5 8\n"
      "4 relu k -3 8\n"
      "\n"
      "x relu k 2000 99999999999999999999\n"
      "interrupted\n");
  EXPECT_EQ(table.report.activities, 2);
  EXPECT_EQ(table.report.malformed, 3);
  EXPECT_EQ(table.report.unknown, 2);
  EXPECT_EQ(table.report.ignored, 2);
  EXPECT_THAT(
      table.report.notes,
      ElementsAre(HasSubstr("table:4: 3 fields, expected 5"), HasSubstr("table:5: the time"),
                  HasSubstr("table:6: the time"), HasSubstr("table:8: 2 values")));
  EXPECT_EQ(table.activities[1].attributes.find(Attribute::given_flops), nullptr);
}

TEST(PyprofReader, ATornCsvGivesItsWholeRows) {
  const std::string csv = as_csv(resnet50());
  const Table table = read(csv.substr(0, csv.size() - 40));
  EXPECT_EQ(table.report.activities, 33);
  EXPECT_EQ(table.report.malformed, 1);
  EXPECT_THAT(table.report.notes, Contains(HasSubstr("table:35: ")));
}

TEST(PyprofReader, RecognisesTablesAndNoProse) {
  EXPECT_TRUE(pyprof_reader.recognises("Idx,Direction,Op\n"));
  EXPECT_TRUE(pyprof_reader.recognises("any text\nIdx\tKernel\tSil(ns)\r\n"));
  for (const char* text : {"", "Op Kernel\n", "Idx Op Kernel Speed\n", "Idx Sil(ns) Bytes\n",
                           "The Op and its Kernel\n", "name,time_ns\n"}) {
    EXPECT_FALSE(pyprof_reader.recognises(text)) << text;
  }
}

}  // namespace
}  // namespace bench
