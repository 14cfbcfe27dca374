// SPDX-License-Identifier: Apache-2.0
// Tests named *Golden* compare a golden file: ci/approve reruns them.
#include "harness/report/console.hpp"

#include "base/text.hpp"
#include "tests/support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

constexpr const char* kFolder = "harness/report/testdata/";

CaseRecord measured(const std::string& id, std::int64_t median, double spread) {
  CaseRecord record;
  record.id = id;
  record.implementation = "brgconv:avx512_core";
  TimeSummary& time = record.time.emplace();
  time.median = Nanoseconds(median);
  time.low = Nanoseconds(static_cast<std::int64_t>(static_cast<double>(median) * (1 - spread)));
  time.high =
      Nanoseconds(static_cast<std::int64_t>(static_cast<double>(median) * (1 + 2 * spread)));
  time.confidence = 0.9375;
  record.flops_per_s = FlopsPerSecond{231211008e9 / static_cast<double>(median)};
  record.bytes_per_s = BytesPerSecond{1753088e9 / static_cast<double>(median)};
  return record;
}

CaseRecord refused(const std::string& id, Outcome outcome, const std::string& reason) {
  CaseRecord record;
  record.id = id;
  record.outcome = outcome;
  record.reason = reason;
  return record;
}

CaseRecord layer(CaseRecord record, std::vector<std::string> layers) {
  record.network = "resnet50_v1_5";
  record.multiplicity = static_cast<int>(layers.size());
  record.layers = std::move(layers);
  return record;
}

// Contains every kind of row.
Report sample_report() {
  Report report;
  report.cases = {
      layer(measured("conv/forward/n1c64h56w56k64r3s3p1+bias+relu/f32/onednn/cpu/hot", 501'800,
                     0.004),
            {"layer1.0.conv2", "layer1.1.conv2", "layer1.2.conv2"}),
      layer(measured("conv/forward/n1c512h14w14k512r3s3u2p1+bias+relu/f32/onednn/cpu/cold_weights",
                     1'234'567, 0.00012),
            {"layer4.0.conv2"}),
      layer(measured("gemm/forward/m1n1000k2048+bias/f32/onednn/cpu/cold_weights", 98'765, 0.05),
            {"fc"}),
      measured("network/forward/resnet50_v1_5/f32/onednn/cpu/hot", 28'210'000, 0.011),
      measured("softmax/forward/1x1000-a1/f32/onednn/cpu/hot", 987, 0.01),
      refused("conv/forward/n1c64h56w56k64r3s3p1/f32/cudnn/cuda/hot", Outcome::skipped,
              "no CUDA device: libcuda.so.1 was not found; install the driver or run on another "
              "machine"),
      refused("gemm/forward/m128n128k128/f16/onednn/cpu/hot", Outcome::unsupported,
              "oneDNN 3.2.0 has no f16 gemm for this CPU (needs AVX512-FP16)"),
      refused("pool/forward/max-n1c8h8w8r3/f32/onednn/cpu/hot", Outcome::crashed,
              "worker killed by signal 11 (SIGSEGV)"),
  };
  report.cases[2].flags = {Flag::noisy, Flag::interrupted};
  report.cases[3].implementation = "58 primitives";
  report.cases[3].preparation.create = Nanoseconds(1'200'000'000);
  report.cases[3].preparation.reorder = Nanoseconds(34'000'000);
  report.cases[3].preparation.first_run = Nanoseconds(45'600'000);
  report.cases[4].flops_per_s.reset();
  report.cases[4].time->low.reset();
  report.cases[4].time->high.reset();
  return report;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

class ConsoleGolden : public testing::TestWithParam<std::size_t> {};

TEST_P(ConsoleGolden, TableAndNetworksOfAWidth) {
  ConsoleOptions options;
  options.width = GetParam();
  const Report report = sample_report();
  const std::string text = console_report(report, options);
  EXPECT_LE(widest_line(text), options.width);
  test::expect_golden(kFolder + std::string("console_") + std::to_string(options.width) + ".txt",
                      text);
}

INSTANTIATE_TEST_SUITE_P(Widths, ConsoleGolden,
                         testing::Values<std::size_t>(60, 80, 100, 160, 240));

// The layers of a network in two data types, with ceilings. One is noisy, one has no ceiling.
Report report_with_ceilings() {
  Report report;
  report.runs.resize(1);
  report.runs[0].run_id = "4be0a1";
  const auto add = [&](const std::string& id, std::int64_t median, std::int64_t ideal,
                       Bound bound) {
    CaseRecord record = measured(id, median, 0.006);
    record.run_id = "4be0a1";
    Roofline& roofline = record.roofline.emplace();
    roofline.bound = bound;
    roofline.ideal = Nanoseconds(ideal);
    roofline.efficiency = static_cast<double>(ideal) / static_cast<double>(median);
    report.cases.push_back(std::move(record));
  };
  for (const std::string dtype : {"f32", "bf16"}) {
    const std::string end = "/" + dtype + "/onednn/cpu/hot";
    add("conv/forward/c64h56w56k64r3s3p1+bias+relu" + end, 1'000'000, 700'000, Bound::compute);
    add("conv/forward/c64h56w56k256r1s1+bias+add+relu" + end, 400'000, 100'000, Bound::memory);
    add("pool/forward/max-c64h112w112r3u2p1" + end, 73'560, 73'560, Bound::cache);
  }
  report.cases[0].multiplicity = 3;
  report.cases[0].network = "resnet50_v1_5";
  report.cases[0].layers = {"layer1.0.conv2", "layer1.1.conv2", "layer1.2.conv2"};
  report.cases[4].flags = {Flag::noisy};
  report.cases[4].time->low = Nanoseconds(372'000);
  report.cases[4].time->high = Nanoseconds(428'000);
  for (int number = 0; number < 5; ++number) {
    ProcessRecord& process = report.processes.emplace_back();
    process.run_id = report.cases[4].run_id;
    process.id = report.cases[4].id;
    process.process = number;
    process.samples = {Nanoseconds(400'000)};
  }
  report.cases[5].roofline.reset();
  report.ends.resize(1);
  report.ends[0].accounting.wall = Nanoseconds(4'230'000'000);
  report.ends[0].run_id = "4be0a1";
  return report;
}

class CeilingsGolden : public testing::TestWithParam<std::size_t> {};

TEST_P(CeilingsGolden, TableAndAnswerOfAWidth) {
  ConsoleOptions options;
  options.width = GetParam();
  const std::string text = console_report(report_with_ceilings(), options);
  EXPECT_LE(widest_line(text), options.width);
  test::expect_golden(kFolder + std::string("ceilings_") + std::to_string(options.width) + ".txt",
                      text);
}

INSTANTIATE_TEST_SUITE_P(Widths, CeilingsGolden, testing::Values<std::size_t>(80, 120, 200));

TEST(ConsoleTable, CeilingsAreColumnsOnlyIfACaseHasOne) {
  EXPECT_EQ(console_table(sample_report(), {}).find("% peak"), std::string::npos);
  EXPECT_NE(console_table(report_with_ceilings(), {}).find("% peak"), std::string::npos);
}

TEST(ConsoleTable, RunsUnderAToolAreNamedBelowTheTable) {
  Report report = sample_report();
  report.runs.resize(2);
  report.runs[0].run_id = "4be0a1";
  report.runs[1].run_id = "99ff00";
  const ConsoleOptions wide{.width = 1000};
  const std::string plain = console_table(report, wide);
  EXPECT_EQ(plain.find("used `"), std::string::npos);
  report.runs[1].under = "perf record -g";
  const std::string marked = console_table(report, wide);
  EXPECT_EQ(marked.substr(0, plain.size()), plain);
  EXPECT_NE(marked.find("99ff00 used `perf record -g`", plain.size()), std::string::npos);
  EXPECT_EQ(marked.find("4be0a1"), std::string::npos);
}

TEST(ConsoleColourGolden, OnlyWhereAskedFor) {
  ConsoleOptions options;
  options.colour = Colour::on;
  const Report report = sample_report();
  test::expect_golden(
      kFolder + std::string("console_colour.txt"),
      console_table(report, options) + console_networks(summarise_networks(report), options));
  options.colour = Colour::off;
  EXPECT_EQ(console_table(report, options).find('\x1b'), std::string::npos);
  EXPECT_EQ(console_networks(summarise_networks(report), options).find('\x1b'), std::string::npos);
}

TEST(ConsoleTable, NothingToShow) { EXPECT_EQ(console_table({}, {}), "no cases\n"); }

TEST(ConsoleTable, NoLineIsWiderThanTheWidth) {
  const Report report = sample_report();
  const auto networks = summarise_networks(report);
  for (std::size_t width = 60; width <= 260; ++width) {
    ConsoleOptions options;
    options.width = width;
    EXPECT_LE(widest_line(console_table(report, options)), width);
    EXPECT_LE(widest_line(console_networks(networks, options)), width);
  }
}

TEST(ConsoleNetworks, TopLayersAreLimited) {
  ConsoleOptions options;
  options.top_layers = 1;
  const std::string text = console_networks(summarise_networks(sample_report()), options);
  EXPECT_NE(text.find("layer4.0.conv2"), std::string::npos);
  EXPECT_EQ(text.find("\nfc "), std::string::npos);
  EXPECT_NE(text.find("and 1 distinct layer more\n"), std::string::npos);
}

TEST(ConsoleNetworks, MissingLayersAreNamed) {
  Report report = sample_report();
  report.cases[1].time.reset();
  ConsoleOptions options;
  const std::string text = console_networks(summarise_networks(report), options);
  EXPECT_NE(text.find("1 of 2 distinct layers"), std::string::npos);
  EXPECT_NE(text.find("no time: conv/forward/n1c512"), std::string::npos);
}

TEST(ConsoleNetworks, NothingWithoutNetworks) { EXPECT_EQ(console_networks({}, {}), ""); }

TEST(ConsoleTest, TheColumnVsBaselineIsThereWhenAskedFor) {
  Report report;
  report.cases = {measured("a/b", 1000, 0.01), measured("c/d", 1000, 0.01)};
  ConsoleOptions options;
  EXPECT_EQ(console_table(report, options).find("vs baseline"), std::string::npos);
  options.versus_baseline = {{"a/b", "+3.0% [+2.0%, +4.0%]"}};
  std::istringstream lines(console_table(report, options));
  std::string heading, first, second;
  std::getline(lines, heading);  // the sentence
  std::getline(lines, heading);  // an empty line
  std::getline(lines, heading);
  std::getline(lines, first);
  std::getline(lines, second);
  const std::size_t place = heading.find("vs baseline");
  ASSERT_NE(place, std::string::npos);
  EXPECT_LT(heading.find("+-"), place);
  EXPECT_EQ(first.substr(place, 20), "+3.0% [+2.0%, +4.0%]");
  EXPECT_EQ(second.substr(place, 3), "n/a");
}

// Regression test: an interval and a flag used to make a line of 83 characters on a terminal of 80.
TEST(ConsoleTable, NoLineWithAColumnVsBaselineIsWiderThanTheWidth) {
  Report report = sample_report();
  report.cases[0].flags = {Flag::unsteady};
  report.cases[1].flags = {Flag::interrupted};
  report.cases[7].outcome = Outcome::wrong_result;
  ConsoleOptions options;
  for (const CaseRecord& record : report.cases)
    options.versus_baseline[record.id] = "+12.6% [+10.1%, +14.9%]";
  options.versus_baseline[report.cases[3].id] = "incomparable";
  for (std::size_t width = 60; width <= 120; ++width) {
    options.width = width;
    EXPECT_LE(widest_line(console_table(report, options)), width) << console_table(report, options);
  }
  // Below 80 columns the table omits intervals, and the narrowest one folds flags.
  options.width = 70;
  EXPECT_THAT(console_table(report, options), testing::HasSubstr("  +12.6%        ok unsteady\n"));
  options.width = 60;
  EXPECT_THAT(console_table(report, options),
              testing::AllOf(testing::HasSubstr("  +12.6%        ok +1\n"),
                             testing::HasSubstr("    outcome: ok interrupted\n")));
}

// A less important column is omitted instead.
TEST(ConsoleTable, IntervalAndFlagBesideABaselineStayOnTerminalsOf80Columns) {
  Report report;
  report.cases = {
      measured("conv/forward/c64h56w56k64r3s3p1+bias+relu/f32/onednn/cpu/hot", 983'000, 0.01)};
  report.cases[0].flags = {Flag::unsteady};
  ConsoleOptions options{.width = 80};
  options.versus_baseline = {{report.cases[0].id, "+12.6% [+10.1%, +14.9%]"}};
  EXPECT_THAT(console_table(report, options),
              testing::HasSubstr("  +12.6% [+10.1%, +14.9%]  ok unsteady\n"));
}

TEST(ConsoleTable, LaunchesHaveAColumnWhereADeviceTookTheTime) {
  Report report = sample_report();
  EXPECT_EQ(console_table(report, {}).find("launch"), std::string::npos);
  CaseRecord record = measured("gemm/forward/m4n4k4/f32/cublaslt/cuda/hot", 12'340, 0.01);
  record.host_launch = Nanoseconds(2'170);
  record.voided = SampleRemarks{3, {{"hot", 1}, {"another compute process", 2}}};
  report.cases.push_back(record);
  ConsoleOptions options;
  options.width = 240;
  const std::string table = console_table(report, options);
  EXPECT_NE(table.find("launch"), std::string::npos);
  EXPECT_NE(table.find("2.170 us"), std::string::npos) << table;
  EXPECT_NE(table.find("3 discarded samples, most often: another compute process"),
            std::string::npos);
}

// A graph of 57 kernels showed 2.96 us, its share of one replay, as the time of a launch.
TEST(ConsoleTable, AGraphHasNoLaunchTime) {
  Report report = sample_report();
  CaseRecord record = measured("gemm/forward/m4n4k4/f32/cublaslt/cuda/hot", 12'340, 0.01);
  record.host_launch = Nanoseconds(68);
  record.sample_method = "graph";
  report.cases.push_back(record);
  EXPECT_EQ(console_table(report, {.width = 240}).find("launch"), std::string::npos);
  record.id = "gemm/forward/m8n8k8/f32/cublaslt/cuda/hot";
  record.sample_method = "stream";
  report.cases.push_back(record);
  const std::string table = console_table(report, {.width = 240});
  EXPECT_NE(table.find("launch"), std::string::npos);
  EXPECT_EQ(table.find("68 ns", table.find("68 ns") + 1), std::string::npos) << table;
}

TEST(ConsoleTable, TooFewProcessesForAnIntervalShowTheirRange) {
  Report report = sample_report();
  CaseRecord record = measured("gemm/forward/m4n4k4/f32/cublaslt/cuda/hot", 12'340, 0.01);
  record.time->low.reset();
  record.time->high.reset();
  report.cases = {record};
  ConsoleOptions options;
  options.width = 240;
  EXPECT_EQ(console_table(report, options).find('('), std::string::npos);
  for (const Nanoseconds time : {Nanoseconds(99'000), Nanoseconds(101'000)}) {
    ProcessRecord& process = report.processes.emplace_back();
    process.id = record.id;
    process.samples = {time, time, time};
    process.iterations_per_sample = 8;
  }
  EXPECT_NE(console_table(report, options).find("(1.0%)"), std::string::npos)
      << console_table(report, options);
}

TEST(ConsoleTable, EnergiesHaveColumnsWhereACaseHasOne) {
  Report report = sample_report();
  EXPECT_EQ(console_table(report, {}).find("mJ"), std::string::npos);
  CaseRecord record = measured("gemm/forward/m4n4k4/f32/onednn/cpu/hot", 12'340, 0.01);
  record.energy = Energy{0.0125, 4.5e9, "rapl:package-0"};
  report.cases.push_back(record);
  record.energy->flops_per_joule.reset();
  record.id = "pool/forward/c4h4w4r2/f32/onednn/cpu/hot";
  report.cases.push_back(record);
  ConsoleOptions options;
  options.width = 240;
  const std::string table = console_table(report, options);
  EXPECT_THAT(table, testing::ContainsRegex("mJ +GFLOP/J"));
  EXPECT_THAT(table, testing::ContainsRegex("12.50 +4.500")) << table;
  EXPECT_THAT(table, testing::ContainsRegex("12.50 +n/a")) << table;
}

TEST(ConsoleNetworks, ATrainingStepSaysWhatItsSumLacks) {
  NetworkSummary step = summarise_networks(sample_report()).at(0);
  step.lacks = {"gradients of gemm (fc)", "the loss", "the optimizer"};
  EXPECT_THAT(console_networks({step}, {}),
              testing::AllOf(testing::HasSubstr("not included"),
                             testing::HasSubstr("gradients of gemm (fc); the loss;")));
}

}  // namespace
}  // namespace bench
