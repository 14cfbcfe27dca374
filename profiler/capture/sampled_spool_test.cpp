// SPDX-License-Identifier: Apache-2.0
// Processes and samples of spools as activities.
#include "profiler/analysis/summary.hpp"
#include "profiler/capture/spool_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KeptRows final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    rows.push_back(activity);
    return Done{};
  }
  std::vector<Activity> of(ActivityKind kind) const {
    std::vector<Activity> found;
    for (const Activity& row : rows) {
      if (row.kind == kind) found.push_back(row);
    }
    return found;
  }
  std::vector<Activity> rows;
};

std::string record(std::string_view kind, std::int64_t pid, std::int64_t tid, std::int64_t ns,
                   std::string_view fields = {}) {
  return fmt::format(R"({{"record":"{}","pid":{},"tid":{},"ns":{}{}{}}})", kind, pid, tid, ns,
                     fields.empty() ? "" : ",", fields) +
         "\n";
}

// A primitive of 1 ms that ended at `ns`.
std::string executed(std::int64_t pid, std::int64_t tid, std::int64_t ns) {
  return record("verbose", pid, tid, ns,
                R"("text":"onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_inference,)"
                R"(data_f32::blocked:abcd:f0 diff_undef::undef::,,alg:eltwise_relu alpha:0 beta:0,)"
                R"(2x8x4x4,1")");
}

std::string samples(std::int64_t pid, std::int64_t thread, std::int64_t ns,
                    const std::vector<std::int64_t>& times) {
  std::string list;
  for (const std::int64_t time : times) {
    list += fmt::format("{}[{},0,4096,1]", list.empty() ? "" : ",", time);
  }
  return record(
      "samples", pid, thread, ns,
      fmt::format(R"("thread":{},"objects":["/lib/libmkl.so"],"samples":[{}])", thread, list));
}

constexpr std::int64_t kMs = 1'000'000;

KeptRows read(const std::string& text, SpoolOptions options = {}) {
  KeptRows first;
  const auto facts = read_spool(*text_source_for_test("spool", text), first, {});
  EXPECT_TRUE(facts.ok());
  options.facts = facts->facts;
  KeptRows kept;
  const auto report = read_spool(*text_source_for_test("spool", text), kept, options);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report->read.malformed + report->read.unknown, 0);
  return kept;
}

std::vector<std::string> spans_of(const KeptRows& kept) {
  std::vector<std::string> spans;
  for (const Activity& row : kept.of(ActivityKind::process)) {
    spans.push_back(fmt::format("{} {} {}+{}", row.track.pid, row.name, row.start.count(),
                                row.duration->count()));
  }
  return spans;
}

TEST(ProcessesOfASpool, TheFirstOneRanFromItsStartToItsEnd) {
  SpoolOptions options;
  options.program = ProgramTimes{Nanoseconds(100), Nanoseconds(900)};
  const KeptRows kept =
      read(record("process", 1, 1, 150, R"("program":"/bin/env")") +
               record("process", 1, 1, 200, R"("program":"/bin/python3")") +
               record("process", 2, 2, 300, R"("program":"/bin/child")") +
               record("process_end", 2, 2, 400) + record("process_end", 1, 1, 800),
           options);
  EXPECT_THAT(spans_of(kept), ElementsAre("1 python3 100+800", "2 child 300+100"));
  EXPECT_EQ(kept.of(ActivityKind::process)[0].attributes.integer(Attribute::loaded_ns), 50);
}

TEST(ProcessesOfASpool, ANumberThatIsUsedAgainIsAnotherProcess) {
  const KeptRows kept =
      read(record("process", 1, 1, 100, R"("program":"/a")") + record("process_end", 1, 1, 200) +
           record("process", 1, 1, 500, R"("program":"/b")") + record("process_end", 1, 1, 600));
  EXPECT_THAT(spans_of(kept), ElementsAre("1 a 100+100", "1 b 500+100"));
}

TEST(ProcessesOfASpool, AChildAfterForkHasTheProgramOfItsParent) {
  const KeptRows kept = read(record("process", 1, 1, 100, R"("program":"/a")") +
                             record("fork", 2, 2, 300, R"("parent":1,"parent_tid":1)") +
                             record("nvtx_push", 2, 2, 350, R"("text":"x")"));
  EXPECT_THAT(spans_of(kept), ElementsAre("1 a 100+0", "2 a 300+50"));
}

TEST(ProcessesOfASpool, WithAWindowEachTimeThatItWasOpenCounts) {
  SpoolOptions options;
  options.window = *parse_capture_window(std::vector<std::string>{"nvtx:step"});
  const KeptRows kept =
      read(record("process", 1, 1, 100, R"("program":"/a")") +
               record("nvtx_push", 1, 1, 200, R"("text":"step")") + record("nvtx_pop", 1, 1, 300) +
               record("nvtx_push", 1, 1, 400, R"("text":"step")") + record("nvtx_pop", 1, 1, 450) +
               record("process_end", 1, 1, 900, R"("cpu_ns":700,"lost":0)"),
           options);
  EXPECT_THAT(spans_of(kept), ElementsAre("1 a 200+100", "1 a 400+50"));
  // The CPU time of the process is not that of a window.
  for (const Activity& span : kept.of(ActivityKind::process)) {
    EXPECT_EQ(span.attributes.integer(Attribute::cpu_ns), std::nullopt);
  }
}

std::string describe(const Activity& sample) {
  return fmt::format("{} {} [{}] {}", sample.track.tid, sample.start.count() / kMs, sample.scope,
                     sample.attributes.text(Attribute::primitive));
}

TEST(SamplesOfASpool, BelongToThePrimitiveInWhichTheyWereTaken) {
  const std::string period = R"("period":5000000,"signal":62)";
  const KeptRows kept =
      read(record("process", 1, 1, 0) + record("sampling", 1, 1, 0, period) +
           record("nvtx_push", 1, 1, 10 * kMs, R"("text":"layer:a")") +
           // The worker 2 and the thread 3, which executes primitives as well.
           samples(1, 2, 20 * kMs, {19 * kMs}) + samples(1, 3, 20 * kMs, {19 * kMs}) +
           samples(1, 1, 20 * kMs, {15 * kMs, 19 * kMs}) + executed(1, 1, 19 * kMs + kMs / 2) +
           executed(1, 3, 30 * kMs) + record("nvtx_pop", 1, 1, 31 * kMs) +
           samples(1, 1, 40 * kMs, {35 * kMs}));
  std::vector<std::string> found;
  for (const Activity& sample : kept.of(ActivityKind::sample)) found.push_back(describe(sample));
  EXPECT_THAT(found, ElementsAre("1 15 [a] ", "2 19 [a] eltwise", "3 19 [] ", "1 19 [a] eltwise",
                                 "1 35 [] "));
  const Activity sample = kept.of(ActivityKind::sample).front();
  EXPECT_EQ(sample.attributes.text(Attribute::object), "libmkl.so");
  EXPECT_EQ(sample.name, "libmkl.so+0x1000");
  EXPECT_EQ(sample.attributes.integer(Attribute::cpu_ns), 5 * kMs);
}

TEST(SamplesOfASpool, AWorkerBelongsToTheLayerThatWasOpenInItsProcess) {
  const KeptRows kept = read(record("sampling", 1, 1, 0, R"("period":5000000)") +
                             record("nvtx_push", 1, 1, 10 * kMs, R"("text":"layer:a")") +
                             record("nvtx_push", 1, 1, 20 * kMs, R"("text":"layer:b")") +
                             record("nvtx_pop", 1, 1, 30 * kMs) +
                             samples(1, 2, 35 * kMs, {5 * kMs, 15 * kMs, 25 * kMs}) +
                             record("nvtx_pop", 1, 1, 40 * kMs));
  std::vector<std::string> found;
  for (const Activity& sample : kept.of(ActivityKind::sample)) found.push_back(describe(sample));
  EXPECT_THAT(found, ElementsAre("2 5 [] ", "2 15 [a] ", "2 25 [a:b] "));
}

TEST(SamplesOfASpool, TheSummaryDividesThemAndTheyAddUp) {
  const std::string period = R"("period":5000000,"signal":62)";
  const std::string text = record("process", 1, 1, 0) + record("sampling", 1, 1, 0, period) +
                           samples(1, 1, 20 * kMs, {5 * kMs, 10 * kMs, 15 * kMs, 19 * kMs}) +
                           executed(1, 1, 19 * kMs + kMs / 2) +
                           record("process_end", 1, 1, 25 * kMs, R"("cpu_ns":24000000,"lost":1)");
  Summary summary;
  const auto report = read_spool(*text_source_for_test("spool", text), summary, {});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->sampling.lost, 1);
  const std::vector<SampleRow> rows = summary.samples().objects();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "libmkl.so");
  EXPECT_EQ(rows[0].samples, 3);
  EXPECT_DOUBLE_EQ(rows[0].share, 0.75);
  EXPECT_EQ(rows[1].name, kInPrimitives);
  EXPECT_THAT(describe_samples(summary.samples()),
              HasSubstr("4 samples, one per 5.000 ms of CPU time, show 20.00 ms of the 24.00 ms "
                        "that the processes computed; they cost less than 1.0 % of it. Most was in "
                        "libmkl.so 75.0 %, (oneDNN primitives) 25.0 %."));
  EXPECT_THAT(format_summary(summary), HasSubstr("function outside primitives, sampled"));
}

TEST(SamplesOfASpool, GeneratedCodeAndUnloadedObjectsHaveNames) {
  const KeptRows kept =
      read(record("sampling", 1, 1, 0, R"("period":5000000)") +
           record("samples", 1, 1, 9, R"("objects":[],"samples":[[1,-1,77,1],[2,-2,78,3]])"));
  const std::vector<Activity> found = kept.of(ActivityKind::sample);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "[jit]");
  EXPECT_EQ(found[1].name, "(unloaded)");
  EXPECT_EQ(found[1].attributes.integer(Attribute::cpu_ns), 15 * kMs);
}

TEST(SamplesOfASpool, DamagedSamplesAreCounted) {
  KeptRows kept;
  const auto report =
      read_spool(*text_source_for_test(
                     "spool", record("samples", 1, 1, 9) +
                                  record("samples", 1, 1, 9, R"("objects":[],"samples":[[1,2]])") +
                                  record("sampling", 1, 1, 9, R"("error":"no timer")")),
                 kept, {});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->read.malformed, 2);
  EXPECT_THAT(report->read.notes.back(), HasSubstr("process 1 was not sampled: no timer"));
}

}  // namespace
}  // namespace bench
