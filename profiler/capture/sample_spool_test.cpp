// SPDX-License-Identifier: Apache-2.0
// Samples that the system took, from recorded files.
#include "profiler/capture/sample_spool.hpp"

#include "profiler/analysis/summary.hpp"
#include "profiler/capture/spool_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string line(std::string_view kind, std::int64_t pid, std::int64_t tid, std::int64_t ns,
                 std::string_view fields = {}) {
  return fmt::format(R"({{"record":"{}","pid":{},"tid":{},"ns":{}{}{}}})", kind, pid, tid, ns,
                     fields.empty() ? "" : ",", fields) +
         "\n";
}

std::string period_line() { return line("sampling", 0, 0, 0, R"("period":5000000,"kernel":0)"); }

std::string sample_line(std::int64_t pid, std::int64_t tid, std::int64_t ns, std::int64_t address) {
  return line("sample", pid, tid, ns, fmt::format(R"("address":{})", address));
}

std::string map_line(std::int64_t pid, std::int64_t ns, std::int64_t begin, std::string_view file,
                     std::int64_t offset = 0) {
  return line(
      "map", pid, pid, ns,
      fmt::format(R"("begin":{},"size":4096,"offset":{},"file":"{}")", begin, offset, file));
}

SampleSpool read_samples(const std::string& text, const SampleSpool::Threads& own = {}) {
  auto spool = SampleSpool::read(*text_source_for_test("x.samples", text), own);
  EXPECT_TRUE(spool.ok());
  return std::move(*spool);
}

std::string describe_place(const LocatedSample& sample) {
  constexpr std::array<std::string_view, 4> kKinds = {"module", "generated", "kernel", "unknown"};
  return fmt::format("{} {} {} {}", sample.at.count(),
                     kKinds[static_cast<std::size_t>(sample.kind)], sample.file, sample.address);
}

std::vector<std::string> places(SampleSpool spool) {
  std::vector<std::string> found;
  const Status status = spool.take_rest([&](const LocatedSample& sample) -> Status {
    found.push_back(describe_place(sample));
    return Done{};
  });
  EXPECT_TRUE(status.ok());
  return found;
}

TEST(SamplesOfTheSystem, AreInTheModuleThatWasThereAtTheirTime) {
  EXPECT_THAT(
      places(read_samples(map_line(1, 10, 0x10000, "/lib/a.so", 0x3000) +
                          sample_line(1, 1, 20, 0x10010) +
                          // The place of an unloaded module is used again.
                          map_line(1, 30, 0x10000, "/lib/b.so") + sample_line(1, 1, 40, 0x10010) +
                          sample_line(1, 1, 50, 0x11000))),
      ElementsAre("20 module /lib/a.so 12304", "40 module /lib/b.so 16", "50 unknown  69632"));
}

TEST(SamplesOfTheSystem, OfChildrenAreInTheModulesOfTheirParentUntilTheyExecuteAProgram) {
  EXPECT_THAT(places(read_samples(
                  map_line(1, 10, 0x10000, "/lib/a.so") + line("child", 2, 2, 20, R"("parent":1)") +
                  // Loaded by the parent alone.
                  map_line(1, 25, 0x20000, "/lib/late.so") + sample_line(2, 2, 30, 0x10010) +
                  sample_line(2, 2, 31, 0x20010) + line("exec", 2, 2, 40, R"("name":"other")") +
                  map_line(2, 41, 0x30000, "/bin/other") + sample_line(2, 2, 50, 0x10010) +
                  sample_line(2, 2, 51, 0x30010))),
              ElementsAre("30 module /lib/a.so 16", "31 unknown  131088", "50 unknown  65552",
                          "51 module /bin/other 16"));
}

TEST(SamplesOfTheSystem, OfCodeWithoutAFileAreNamedAsSuch) {
  EXPECT_THAT(
      places(read_samples(map_line(1, 1, 0x10000, "//anon") +
                          map_line(1, 1, 0x20000, "/memfd:jit (deleted)") +
                          sample_line(1, 1, 2, 0x10010) + sample_line(1, 1, 3, 0x20010) +
                          line("sample", 1, 1, 4, R"("address":18446744071578845184,"kernel":1)"))),
      ElementsAre("2 generated  65552", "3 generated  131088", "4 kernel  18446744071578845184"));
}

TEST(SamplesOfTheSystem, ComeInOrderOfTimeAlsoIfTheProcessorsWroteThemOutOfOrder) {
  EXPECT_THAT(places(read_samples(sample_line(1, 2, 30, 1) + sample_line(1, 1, 10, 1) +
                                  map_line(1, 5, 0, "/a"))),
              ElementsAre("10 module /a 1", "30 module /a 1"));
}

TEST(SamplesOfTheSystem, OfADamagedFileAreRead) {
  const SampleSpool spool =
      read_samples("{\n" + period_line() + line("sample", -1, 1, 2) + line("what", 1, 1, 1) +
                   sample_line(1, 1, 10, 1) + line("lost", 1, 1, 1, R"("count":3)") +
                   R"({"record":"sample","pid":1,"t)");
  EXPECT_EQ(spool.malformed(), 4);
  EXPECT_EQ(spool.lost(), 3);
  EXPECT_EQ(spool.period(), Nanoseconds(5'000'000));
  EXPECT_THAT(places(spool), ElementsAre("10 unknown  1"));
}

// Processes that are their own parents.
TEST(SamplesOfTheSystem, OfAHostileFileEnd) {
  EXPECT_THAT(
      places(read_samples(line("child", 1, 1, 5, R"("parent":2)") +
                          line("child", 2, 2, 5, R"("parent":1)") + sample_line(1, 1, 10, 1))),
      ElementsAre("10 unknown  1"));
}

class SampledRows final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    if (activity.kind == ActivityKind::process) spans.push_back(activity);
    if (activity.kind == ActivityKind::sample) rows.push_back(activity);
    return Done{};
  }
  std::vector<Activity> rows, spans;
};

// Reads a spool as `bench profile` does: twice.
SampledRows read_both(const std::string& records, const std::string& samples) {
  SampledRows first;
  const auto facts = read_spool(*text_source_for_test("spool", records), first, {});
  EXPECT_TRUE(facts.ok());
  SpoolOptions options;
  options.facts = facts->facts;
  SampleSpool spool = read_samples(samples, options.facts.own_threads);
  options.samples = &spool;
  SampledRows kept;
  const auto report = read_spool(*text_source_for_test("spool", records), kept, options);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report->sampling.period, Nanoseconds(5'000'000));
  return kept;
}

std::vector<std::string> owners(const SampledRows& kept) {
  std::vector<std::string> found;
  for (const Activity& row : kept.rows) {
    found.push_back(fmt::format("{}:{} [{}] {} {}", row.track.tid, row.start.count(), row.scope,
                                row.attributes.text(Attribute::range),
                                row.attributes.text(Attribute::primitive)));
  }
  return found;
}

TEST(SamplesOfTheSystem, BelongToTheRangesThatWereOpenOnTheirThread) {
  const std::string records =
      line("process", 1, 1, 1, R"("program":"/bin/app")") +
      line("nvtx_push", 1, 1, 100, R"("text":"layer:net")") +
      line("nvtx_push", 1, 1, 200, R"("text":"aten::mm, seq = 1, op_id = 1, sizes = []")") +
      line("nvtx_pop", 1, 1, 300) + line("nvtx_pop", 1, 1, 400) +
      line("nvtx_push", 1, 3, 410, R"("text":"other")") + line("nvtx_pop", 1, 3, 500) +
      line("process_end", 1, 1, 900);
  std::string samples = period_line() + map_line(1, 1, 0, "/lib/libmkl.so");
  for (const std::int64_t at : {50, 150, 250, 350, 450}) samples += sample_line(1, 1, at, 16);
  // A worker without ranges of its own, and a thread with some.
  samples += sample_line(1, 2, 250, 16) + sample_line(1, 3, 250, 16) + sample_line(1, 3, 450, 16);
  EXPECT_THAT(owners(read_both(records, samples)),
              testing::UnorderedElementsAre(
                  "1:50 []  ", "1:150 [net] net ", "1:250 [net] aten::mm ", "1:350 [net] net ",
                  "1:450 []  ", "2:250 [net] aten::mm ", "3:250 []  ", "3:450 [] other "));
}

TEST(SamplesOfTheSystem, OfWorkersBelongToThePrimitiveOfTheirProcess) {
  const std::string records =
      line("process", 1, 1, 1) +
      line("verbose", 1, 1, 3'000'000,
           R"("text":"onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_inference,)"
           R"(data_f32::blocked:abcd:f0 diff_undef::undef::,,alg:eltwise_relu alpha:0 beta:0,)"
           R"(2x8x4x4,2")") +
      line("process_end", 1, 1, 9'000'000);
  const std::string samples = period_line() + map_line(1, 1, 0, "//anon") +
                              sample_line(1, 2, 2'000'000, 16) + sample_line(1, 1, 2'500'000, 16) +
                              sample_line(1, 2, 5'000'000, 16);
  const SampledRows kept = read_both(records, samples);
  EXPECT_THAT(owners(kept),
              testing::UnorderedElementsAre("2:2000000 []  eltwise", "1:2500000 []  eltwise",
                                            "2:5000000 []  "));
  std::vector<std::string> names;
  for (const Activity& row : kept.rows) names.push_back(row.name);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("[jit] of eltwise", "[jit] of eltwise", "[jit]"));
}

// A static program, or one that was started with an empty environment.
TEST(SamplesOfTheSystem, ShowProcessesThatWroteNoRecords) {
  const SampledRows kept = read_both(
      line("process", 1, 1, 1, R"("program":"/bin/app")") + line("process_end", 1, 1, 900),
      period_line() + line("exec", 2, 2, 90, R"("name":"tool")") + map_line(2, 95, 0, "/bin/tool") +
          sample_line(2, 2, 100, 16) + sample_line(2, 2, 300, 16));
  ASSERT_EQ(kept.spans.size(), 2U);
  EXPECT_EQ(kept.spans[1].name, "tool");
  EXPECT_EQ(kept.spans[1].duration, Nanoseconds(200));
  EXPECT_EQ(kept.rows.size(), 2U);
}

TEST(SamplesOfTheSystem, DivideTheCpuTimeByLayerAndRange) {
  const std::string records =
      line("process", 1, 1, 1) + line("nvtx_push", 1, 1, 100, R"("text":"layer:net")") +
      line("nvtx_pop", 1, 1, 400) +
      line("process_end", 1, 1, 900, R"("cpu_ns":20000000,"kernel_ns":5000000)");
  const std::string samples = period_line() + map_line(1, 1, 0, "/usr/bin/python3.11") +
                              sample_line(1, 1, 150, 16) + sample_line(1, 1, 200, 16) +
                              sample_line(1, 1, 500, 16);
  Summary summary;
  SpoolOptions options;
  options.facts.own_threads.emplace(1, 1);
  SampleSpool spool = read_samples(samples, options.facts.own_threads);
  options.samples = &spool;
  ASSERT_TRUE(read_spool(*text_source_for_test("spool", records), summary, options).ok());
  const std::vector<SampleRow> layers = summary.samples().layers();
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "net");
  EXPECT_EQ(layers[0].samples, 2);
  EXPECT_EQ(layers[1].name, kNoSampledLayer);
  EXPECT_EQ(summary.samples().ranges()[0].name, "net");
  EXPECT_THAT(
      describe_samples(summary.samples()),
      HasSubstr("show 15.00 ms of the 20.00 ms that the processes computed, 25.0 % of it in "
                "the kernel"));
  EXPECT_THAT(describe_samples(summary.samples()), HasSubstr("Functions of Python"));
  EXPECT_THAT(format_summary(summary), HasSubstr("layer, sampled"));
  EXPECT_THAT(summary_json(summary), HasSubstr(R"("processes_kernel_ns":5000000)"));
}

}  // namespace
}  // namespace bench
