// SPDX-License-Identifier: Apache-2.0
#include "harness/store/peak_file.hpp"

#include "base/file.hpp"
#include "harness/store/store.hpp"
#include "tests/support/program.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PeakRecord peak(const std::string& run, const std::string& name, CeilingValue value) {
  PeakRecord record;
  record.run_id = run;
  record.time = "2026-11-21T08:00:00Z";
  record.machine_class = "class-2c";
  record.cpu = "a processor";
  record.id = "peak/forward/x/f32/native/cpu/hot";
  record.ceiling = {name, "", 2, value};
  record.low = value;
  record.high = value;
  return record;
}

TEST(PeakRecord, IsReadBackInEachUnit) {
  PeakRecord read = peak("r", "read", BytesPerSecond{4.25e10});
  read.ceiling.level = "dram";
  read.low = BytesPerSecond{4e10};
  for (const PeakRecord& record : {peak("r", "fma_avx512_f32", FlopsPerSecond{1e11}), read,
                                   peak("r", "dispatch", Nanoseconds(312))}) {
    const auto again = peak_from_json_line(to_json_line(record));
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(*again, record);
    EXPECT_THAT(test::schema_problems(to_json_line(record), "docs/peak.schema.json"), IsEmpty());
  }
  EXPECT_THAT(
      to_json_line(read),
      HasSubstr(
          R"("record":"peak","schema":"bench.peak/1","name":"read","level":"dram","threads":2,"bytes_per_s":42500000000,"low":40000000000,)"));
}

TEST(PeakRecord, WithoutOneValueIsRefused) {
  const std::string start =
      R"({"record":"peak","schema":"bench.peak/1","name":"dispatch","threads":1,)";
  const std::string end = R"("low":1,"high":1,"run_id":"r","machine_class":"c"})";
  EXPECT_TRUE(peak_from_json_line(start + R"("ns":1,)" + end).ok());
  EXPECT_FALSE(peak_from_json_line(start + end).ok());
  EXPECT_FALSE(peak_from_json_line(start + R"("ns":1,"flops_per_s":1,)" + end).ok());
  EXPECT_FALSE(peak_from_json_line("{}").ok());
  EXPECT_FALSE(peak_from_json_line("[").ok());
}

// Regression test: a ceiling of 1e-300 FLOP/s gave an ideal time of 1 ns, and any name that begins
// with `fma_` counted as one of arithmetic.
TEST(PeakRecord, WhatNoMachineHasIsRefused) {
  const auto error = [](PeakRecord record) {
    const auto read = peak_from_json_line(to_json_line(record));
    return read.ok() ? "" : read.error().message();
  };
  const PeakRecord good = peak("r", "fma_avx2_f32", FlopsPerSecond{1e11});
  EXPECT_EQ(error(good), "");
  for (const double rate : {0.0, 1e-300, 1e300})
    EXPECT_THAT(error(peak("r", "fma_avx2_f32", FlopsPerSecond{rate})), HasSubstr("flops_per_s"));
  for (const char* name : {"fma_x_f32", "fma_avx2_f31", "gemm_", "gemm_x", "fma_cuda_", ""})
    EXPECT_THAT(error(peak("r", name, FlopsPerSecond{1e11})), HasSubstr("no ceiling has the name"));
  EXPECT_THAT(error(peak("r", "dispatch", Nanoseconds(0))), HasSubstr("`ns`"));
  EXPECT_THAT(error(peak("r", "dispatch", FlopsPerSecond{1e11})), HasSubstr("another unit"));
  EXPECT_THAT(error(peak("r", "read", BytesPerSecond{1e10})), HasSubstr("no level"));
  PeakRecord crossed = good;
  crossed.low = FlopsPerSecond{2e11};
  EXPECT_THAT(error(crossed), HasSubstr("`low` is above `high`"));
  crossed.low = FlopsPerSecond{0};
  EXPECT_THAT(error(crossed), HasSubstr("`low` is not above 0"));
}

TEST(StoredCeilings, AreTheHighestOfTheLastValues) {
  std::vector<PeakRecord> records = {peak("0", "fma_avx2_f32", FlopsPerSecond{9e9})};
  for (const std::string run : {"1", "2", "3", "4", "5"}) {
    records.push_back(peak(run, "fma_avx2_f32", FlopsPerSecond{run == "2" ? 5e9 : 4e9}));
    records.push_back(peak(run, "dispatch", Nanoseconds(run == "3" ? 100 : 200)));
  }
  const Ceilings ceilings = stored_ceilings(records, 2, {{"l2", Bytes{1}}});
  EXPECT_THAT(ceilings.rows, ElementsAre(Ceiling{"fma_avx2_f32", "", 2, FlopsPerSecond{5e9}},
                                         Ceiling{"dispatch", "", 2, Nanoseconds(100)}));
  EXPECT_EQ(ceilings.threads, 2);
  EXPECT_EQ(ceilings.caches.at("l2"), Bytes{1});
}

// Lines of a GPU stand between those of its host. Both have a `read` from `dram`.
TEST(StoredCeilings, OfAGpuAreApartFromThoseOfItsHostAndOfOtherGpus) {
  const auto on = [](const std::string& gpu, PeakRecord record) {
    record.gpu = gpu;
    record.ceiling.threads = 1;
    return record;
  };
  const std::vector<PeakRecord> records = {
      on("", peak("1", "dispatch", Nanoseconds(300))),
      on("Fake GPU", peak("1", "dispatch", Nanoseconds(900))),
      on("Fake GPU", peak("2", "dispatch", Nanoseconds(800))),
      on("Other GPU", peak("3", "dispatch", Nanoseconds(100)))};
  const auto again = peak_from_json_line(to_json_line(records[1]));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, records[1]);
  EXPECT_THAT(test::schema_problems(to_json_line(records[1]), "docs/peak.schema.json"), IsEmpty());
  EXPECT_THAT(to_json_line(records[0]), testing::Not(HasSubstr("gpu")));
  EXPECT_THAT(stored_ceilings(records, 1, {}).rows,
              ElementsAre(Ceiling{"dispatch", "", 1, Nanoseconds(300)}));
  Ceilings gpu;
  gpu.gpu = "Fake GPU";
  gpu.caches = {{"l2", Bytes{1}}};
  const Ceilings found = stored_gpu_ceilings(records, gpu);
  EXPECT_THAT(found.rows, ElementsAre(Ceiling{"dispatch", "", 1, Nanoseconds(800)}));
  EXPECT_EQ(found.caches.at("l2"), Bytes{1});
  EXPECT_THAT(stored_gpu_ceilings(records, Ceilings{}).rows, IsEmpty());
}

class PeakStore : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  BaselineStore store_{folder_.path()};
};

TEST_F(PeakStore, KeepsTheLastValuesOfEachCeiling) {
  ASSERT_TRUE(store_.add_peaks({peak("0", "fma_avx2_f32", FlopsPerSecond{1e9})}).ok());
  for (const std::string run : {"1", "2", "3", "4", "5", "6"}) {
    const auto path = store_.add_peaks({peak(run, "dispatch", Nanoseconds(1))});
    ASSERT_TRUE(path.ok()) << path.error().message();
    EXPECT_EQ(*path, folder_.path() + "/class-2c/peak.jsonl");
  }
  const auto history = store_.peaks("class-2c");
  ASSERT_TRUE(history.ok());
  ASSERT_THAT(history->records, SizeIs(1 + kMaxPeakValues));
  EXPECT_EQ(history->records[0].run_id, "0");
  EXPECT_EQ(history->records[1].run_id, "2");
  EXPECT_THAT(store_.peaks("other")->records, IsEmpty());
}

// Regression test: a ceiling of another machine class used to count, and verify was silent.
TEST_F(PeakStore, CeilingsOfAnotherClassAreABadLine) {
  PeakRecord foreign = peak("1", "dispatch", Nanoseconds(1));
  foreign.machine_class = "other";
  std::string nameless = to_json_line(peak("2", "dispatch", Nanoseconds(1)));
  nameless.insert(1, R"("gpu":"",)");
  folder_.write("class-2c/peak.jsonl", to_json_line(foreign) + "\n" + nameless + "\n");
  const auto history = store_.peaks("class-2c");
  ASSERT_TRUE(history.ok());
  EXPECT_THAT(history->records, IsEmpty());
  EXPECT_THAT(history->problems,
              ElementsAre(HasSubstr("peak.jsonl:1: ceiling refused: machine_class `other` does not "
                                    "belong here"),
                          HasSubstr("peak.jsonl:2: ceiling refused: `gpu` is empty")));
  EXPECT_EQ(store_.peak_problems(), history->problems);
}

// Regression test: `bench peak` used to find this only after it had measured.
TEST_F(PeakStore, AFileThatCannotBeReplacedIsFoundBeforeMeasuring) {
  EXPECT_TRUE(store_.check_peaks("class-2c"));
  const std::string path = folder_.write("class-2c/peak.jsonl", "rubbish\n");
  EXPECT_THAT(store_.check_peaks("class-2c").error().message(),
              HasSubstr("peak.jsonl:1: ceiling refused"));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder_.write("elsewhere", ""), path);
  EXPECT_THAT(store_.check_peaks("class-2c").error().message(), HasSubstr("symbolic link"));
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(store_.check_peaks("class-2c"));
}

TEST_F(PeakStore, CeilingsAreNoBaselines) {
  ASSERT_TRUE(store_.add_peaks({peak("1", "dispatch", Nanoseconds(1))}).ok());
  EXPECT_THAT(*store_.list(), IsEmpty());
  EXPECT_FALSE(store_.holds("class-2c"));
  EXPECT_FALSE(store_.foreign_content().has_value());
}

TEST_F(PeakStore, RefusesToReplaceWhatItCannotRead) {
  ASSERT_TRUE(store_.add_peaks({peak("1", "dispatch", Nanoseconds(1))}).ok());
  const std::string path = folder_.path() + "/class-2c/peak.jsonl";
  ASSERT_TRUE(write_file(path, "{\"schema\":\"bench.peak/2\"}\n", Existing::replace).ok());
  const auto added = store_.add_peaks({peak("2", "dispatch", Nanoseconds(1))});
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(added.error().message(), HasSubstr("peak.jsonl:1: ceiling refused"));
  EXPECT_THAT(store_.peaks("class-2c")->problems, SizeIs(1));
  EXPECT_EQ(store_.peak_problems(), store_.peaks("class-2c")->problems);
  EXPECT_FALSE(store_.add_peaks({}).ok());
}

}  // namespace
}  // namespace bench
