// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots.hpp"

#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::add_timed_case;
using test::occurrences;
using test::sample_run_report;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(RooflinePlot, HasAMarkPerCaseAndSaysWhereTheRoofsAre) {
  const Report report = sample_run_report();
  const Plot plot = roofline_plot(report.cases);
  EXPECT_EQ(occurrences(plot.wide, "<g class=\"mark"), 8U);
  EXPECT_THAT(plot.wide, HasSubstr("gemm/forward/m16n8k8/f32/onednn/cpu/hot"));
  EXPECT_THAT(plot.caption, HasSubstr("n/a: no ceilings, run `bench peak`"));
}

TEST(RooflinePlot, DrawsTheMeasuredRoofsWithTheirValues) {
  Report report = sample_run_report();
  Roofline roofline;
  roofline.level = "dram";
  roofline.efficiency = 0.42;
  roofline.peak_flops_per_s = FlopsPerSecond{2e9};
  roofline.peak_bytes_per_s = BytesPerSecond{1e9};
  for (CaseRecord& record : report.cases) record.roofline = roofline;
  const Plot plot = roofline_plot(report.cases);
  EXPECT_EQ(occurrences(plot.wide, "class=\"roof"), 2U);
  EXPECT_THAT(plot.wide, HasSubstr(">dram 1.000 GB/s<"));
  EXPECT_THAT(plot.wide, HasSubstr("2.000 GFLOP/s<"));
  EXPECT_THAT(plot.wide, HasSubstr("42 % of the ceiling, bound by compute"));
  EXPECT_THAT(plot.caption, Not(HasSubstr("n/a")));
}

// A page of ResNet-50 had a diagonal per case, since each case with cold weights has its own
// mixture of two levels.
TEST(RooflinePlot, DrawsOneRoofPerLevelOfMemory) {
  Report report = sample_run_report();
  ASSERT_GE(report.cases.size(), 4U);
  const double bandwidths[] = {60e9, 50e9, 190e9, 150e9};
  for (std::size_t i = 0; i < 4; ++i) {
    Roofline& roofline = report.cases[i].roofline.emplace();
    roofline.level = i < 2 ? "dram" : "l3";
    roofline.peak_flops_per_s = FlopsPerSecond{200e9};
    roofline.peak_bytes_per_s = BytesPerSecond{bandwidths[i]};
  }
  const Plot plot = roofline_plot(report.cases);
  EXPECT_EQ(occurrences(plot.wide, "class=\"roof dashed"), 2U);
  EXPECT_THAT(plot.wide, HasSubstr(">dram 50.00 GB/s<"));
  EXPECT_THAT(plot.wide, HasSubstr(">l3 190.0 GB/s<"));
}

// Convolutions with padding were drawn above the roof, at 283 of 235 GFLOP/s.
TEST(RooflinePlot, ProductsWithPaddingDoNotCount) {
  Report report = sample_run_report();
  report.cases.resize(1);
  report.cases[0].work->flops = 200;
  report.cases[0].work->flops_valid = 150;
  report.cases[0].flops_per_s = FlopsPerSecond{200e9};
  EXPECT_THAT(roofline_plot(report.cases).wide, HasSubstr("150.0 GFLOP/s at "));
}

// Entries that did not fit in one row were dropped, although their marks were drawn.
TEST(RooflinePlot, TheLegendHasEachOperatorInTheNarrowPictureToo) {
  Report report;
  const std::vector<std::string> ops = {"batchnorm", "conv", "eltwise", "gemm",
                                        "layernorm", "pool", "softmax", "reduction"};
  for (const std::string& op : ops) add_timed_case(report, op + "/forward/8x8/f32/x/cpu/hot", 1000);
  const Plot plot = roofline_plot(report.cases);
  for (const std::string& op : ops) {
    EXPECT_THAT(plot.wide, HasSubstr(">" + op + "</text>"));
    EXPECT_THAT(plot.narrow, HasSubstr(">" + op + "</text>"));
  }
}

// The label of the steepest diagonal was on the next diagonal, which is close to its right.
TEST(RooflinePlot, TheLabelOfTheSteepestDiagonalIsLeftOfIt) {
  Report report = sample_run_report();
  const double bandwidths[] = {53e9, 197e9, 234e9};
  const char* levels[] = {"dram", "l3", "l2"};
  for (std::size_t i = 0; i < 3; ++i) {
    Roofline& roofline = report.cases[i].roofline.emplace();
    roofline.level = levels[i];
    roofline.peak_flops_per_s = FlopsPerSecond{235e9};
    roofline.peak_bytes_per_s = BytesPerSecond{bandwidths[i]};
  }
  const Plot plot = roofline_plot(report.cases);
  for (const std::string& svg : {plot.wide, plot.narrow}) {
    EXPECT_THAT(svg, HasSubstr(" text-anchor=\"end\">l2 234.0 GB/s<"));
    EXPECT_THAT(svg, Not(HasSubstr(" text-anchor=\"end\">l3 197.0 GB/s<")));
    EXPECT_EQ(occurrences(svg, "<text class=\"strong halo\""), 4U);
  }
}

TEST(RooflinePlot, SaysWhyThereIsNone) {
  EXPECT_THAT(roofline_plot({}).absent, Not(IsEmpty()));
  EXPECT_THAT(roofline_plot({}).wide, IsEmpty());
}

TEST(SweepPlots, CasesThatDifferInOneParameterAreALine) {
  const std::vector<Plot> plots = sweep_plots(sample_run_report().cases);
  ASSERT_THAT(plots, SizeIs(2));
  EXPECT_EQ(plots[0].name, "sweep-gemm-m-time");
  EXPECT_EQ(plots[1].name, "sweep-gemm-m-rate");
  EXPECT_EQ(occurrences(plots[0].wide, "<polyline class=\"curve"), 4U);  // 2 lines, 2 in the legend
  EXPECT_EQ(occurrences(plots[0].wide, "<g class=\"mark"), 8U);
  EXPECT_THAT(plots[0].wide, HasSubstr(">bf16</text>"));
}

TEST(SweepPlots, AParameterAtItsDefaultIsMissingInTheId) {
  Report report;
  for (const char* parameters : {"c8", "n2c8", "n4c8"}) {
    add_timed_case(report, std::string("conv/forward/") + parameters + "/f32/onednn/cpu/hot", 1000);
  }
  const std::vector<Plot> plots = sweep_plots(report.cases);
  EXPECT_EQ(plots[0].name, "sweep-conv-n-time");
  EXPECT_EQ(occurrences(plots[0].wide, "<g class=\"mark"), 3U);
}

TEST(SweepPlots, ParametersThatChangeTogetherAreOneSweep) {
  Report report;
  for (const int size : {128, 256, 512}) {
    add_timed_case(report, fmt::format("gemm/forward/m{0}n{0}k{0}/f32/onednn/cpu/hot", size), size);
  }
  const std::vector<Plot> plots = sweep_plots(report.cases);
  ASSERT_THAT(plots, SizeIs(2));
  EXPECT_EQ(occurrences(plots[0].wide, "<g class=\"mark"), 3U);
}

// The search for parameters once never ended at a number that no double can hold.
TEST(SweepPlots, AnIdWithAHugeNumberEnds) {
  Report report;
  add_timed_case(report, "gemm/forward/m" + std::string(400, '9') + "/f32/onednn/cpu/hot", 1000);
  EXPECT_THAT(sweep_plots(report.cases), SizeIs(1));
}

// The legend was sorted as text: n1024 before n256.
TEST(SweepPlots, TheLegendIsInTheOrderOfNumbers) {
  Report report;
  for (const int n : {1024, 256}) {
    for (const int m : {1, 2, 4}) {
      add_timed_case(report, fmt::format("gemm/forward/m{}n{}k8/f32/onednn/cpu/hot", m, n), m * n);
    }
  }
  const std::string picture = sweep_plots(report.cases)[0].wide;
  ASSERT_THAT(picture, HasSubstr(">n1024k8</text>"));
  EXPECT_LT(picture.find(">n256k8</text>"), picture.find(">n1024k8</text>"));
}

// Colours repeat after six lines, and the legend did not show which lines are dashed.
TEST(SweepPlots, TheLegendShowsTheStyleOfEachLine) {
  Report report;
  for (int n = 1; n <= 8; ++n) {
    for (const int m : {1, 2, 4}) {
      add_timed_case(report, fmt::format("gemm/forward/m{}n{}k8/f32/onednn/cpu/hot", m, n), m * n);
    }
  }
  const std::string picture = sweep_plots(report.cases)[0].wide;
  for (const char* style : {"curve s0", "curve s0 dashed", "curve s1 dashed", "curve s1"}) {
    EXPECT_EQ(occurrences(picture, fmt::format("<polyline class=\"{}\"", style)), 2U) << style;
  }
}

TEST(SweepPlots, TwoValuesAreNoSweep) {
  Report report;
  for (const char* m : {"m1", "m2"}) {
    add_timed_case(report, std::string("gemm/forward/") + m + "n8k8/f32/onednn/cpu/hot", 1000);
  }
  const std::vector<Plot> plots = sweep_plots(report.cases);
  ASSERT_THAT(plots, SizeIs(1));
  EXPECT_THAT(plots[0].absent, HasSubstr("there is no sweep"));
}

TEST(SamplesPlot, HasALinePerProcess) {
  const Plot plot = samples_plot(sample_run_report());
  EXPECT_EQ(occurrences(plot.wide, "<g class=\"mark"), 40U);
  EXPECT_THAT(samples_plot({}).absent, Not(IsEmpty()));
}

// The caption said "all samples" although the plot draws at most twelve processes.
TEST(SamplesPlot, SaysThatFurtherProcessesAreNotDrawn) {
  Report report = sample_run_report();
  EXPECT_THAT(samples_plot(report).caption, Not(HasSubstr("Only the first")));
  const ProcessRecord process = report.processes.front();
  for (int i = 0; i < 20; ++i) report.processes.push_back(process);
  EXPECT_THAT(samples_plot(report).caption, HasSubstr("Only the first 12 processes of a case"));
}

// The plot showed samples as measured, and the table the time at a level of speed. Most processes
// seemed to be 60 % slower than the median of their case.
TEST(SamplesPlot, ShowsTheSamplesAtTheSpeedOfTheReportedTime) {
  Report report;
  add_timed_case(report, "gemm/forward/m8n8k8/f32/onednn/cpu/hot", 1000);
  report.cases[0].time->at = SpeedLevel{Nanoseconds(100), LevelSource::run};
  for (std::size_t i = 0; i < report.processes.size(); ++i) {
    ProcessRecord& process = report.processes[i];
    process.canaries.threads = 1;
    process.samples.assign(10, Nanoseconds(1000));
    process.canaries.times.assign(10, Nanoseconds(100));
    // During half of the samples of each process, the machine was slower.
    for (std::size_t j = 5; j < 10; ++j) {
      process.samples[j] = Nanoseconds(5000);
      process.canaries.times[j] = Nanoseconds(900);
    }
  }
  const Plot plot = samples_plot(report);
  EXPECT_THAT(plot.wide, HasSubstr("process 0: median "));
  EXPECT_EQ(occurrences(plot.wide, "10 samples"), report.processes.size());
  EXPECT_THAT(plot.caption, Not(HasSubstr("The axis ends at")));
}

// Each row was as high as that of the case with the most processes.
TEST(SamplesPlot, ARowIsAsHighAsItsProcessesNeed) {
  const auto height = [](const Report& report) {
    const std::string svg = samples_plot(report).wide;
    const std::size_t at = svg.find("viewBox=\"0 0 880 ") + 17;
    return std::stod(svg.substr(at));
  };
  Report report = sample_run_report();
  const double before = height(report);
  const ProcessRecord process = report.processes.front();
  for (int i = 0; i < 5; ++i) report.processes.push_back(process);
  EXPECT_EQ(height(report), before + 5 * 5);
}

TEST(LayersPlot, ShowsIdealTimesWhereThereIsARoofline) {
  NetworkSummary network;
  network.network = "net";
  network.cache = "hot";
  network.top = {
      {"conv/1", {"conv1", "conv2"}, 2, Nanoseconds(64000), 1.0, Nanoseconds(16000), 0.5}};
  const Plot plot = layers_plot(network);
  EXPECT_THAT(plot.wide, HasSubstr(">conv1 +1<"));
  EXPECT_THAT(plot.wide, HasSubstr("ideal 32 us"));
  network.top[0].ideal.reset();
  EXPECT_THAT(layers_plot(network).caption, HasSubstr("n/a: no ceilings, run `bench peak`"));
}

// Before, a step of training had three bars with the same name.
TEST(LayersPlot, NamesTheDirectionOfAGradient) {
  NetworkSummary network;
  network.network = "net";
  network.cache = "hot";
  network.top = {{"conv/1", {"conv1"}, 1, Nanoseconds(3000), 0.5},
                 {"conv/2", {"conv1", "conv2"}, 2, Nanoseconds(2000), 0.4},
                 {"conv/3", {"conv1"}, 1, Nanoseconds(1000), 0.1}};
  network.top[0].direction = "forward";
  network.top[1].direction = "backward_data";
  network.top[2].direction = "backward_weights";
  const std::string plot = layers_plot(network).wide;
  EXPECT_THAT(plot, HasSubstr(">conv1<"));
  EXPECT_THAT(plot, HasSubstr(">conv1 backward_data +1<"));
  EXPECT_THAT(plot, HasSubstr(">conv1 backward_weights<"));
}

TEST(ProfilePlot, ShowsTheTimeOfAnIterationAndItsShareOfTheCase) {
  const LayerRow row{"net/hot", "net:conv1", Nanoseconds(4'530'000), 0.052, nullptr};
  const Plot plot = profile_plot("p", "Time by layer", {row}, "layer");
  EXPECT_THAT(plot.caption, HasSubstr("Time of each layer in one iteration: the median"));
  EXPECT_THAT(plot.wide, HasSubstr("4.530 ms, 5.2 % of an iteration&#10;net/hot"));
  EXPECT_THAT(plot.wide, Not(HasSubstr("net:conv1, net/hot")));
  LayerRow other = row;
  other.case_id = "net/cold";
  EXPECT_THAT(profile_plot("p", "t", {row, other}, "layer").wide, HasSubstr("net:conv1, net/cold"));
}

TEST(GatePlots, TheForestHasAMarkPerEffectAndBothSidesOfEachDuet) {
  const std::vector<Plot> plots = gate_plots(test::sample_gate());
  ASSERT_THAT(plots, SizeIs(2));
  EXPECT_EQ(occurrences(plots[0].wide, "<g class=\"mark"), 3U);
  EXPECT_THAT(plots[0].wide, HasSubstr("REGRESSION: +20.0 %, interval +19.5 % to +20.5 %"));
  EXPECT_EQ(occurrences(plots[1].wide, "<g class=\"mark"), 2U);
  EXPECT_THAT(plots[1].wide, HasSubstr("candidate: median 1.2 us of 3 medians of duets"));
}

// Three regressions of +100 % were drawn at +60 %, and so were the ticks of their medians.
TEST(SidesPlot, TheAxisContainsEachMedian) {
  const SidesRow slower{"slower", {1000, 1000, 1000}, {2000, 2000, 2000}};
  const SidesRow faster{"faster", {1000, 1000, 1000}, {190, 190, 190}};
  const Plot plot = sides_plot({slower, faster}, "times");
  EXPECT_THAT(plot.caption, Not(HasSubstr("beyond")));
  EXPECT_THAT(plot.wide, HasSubstr(">+100 %</text>"));
  EXPECT_THAT(plot.wide, HasSubstr(">-50 %</text>"));
  SidesRow outlier = slower;
  outlier.candidate = {2000, 2000, 9000};
  EXPECT_THAT(sides_plot({outlier, faster}, "times").caption,
              HasSubstr("The axis ends at -89.1 % and +110 %; 1 of the times reaches beyond it and "
                        "is drawn at its end."));
}

// On a phone, the first tick "-60 %" was cut to "60 %", and lines crossed the values.
TEST(RowChart, TicksAndValuesAreWholeInTheNarrowPicture) {
  const SidesRow row{"case", {1000, 1000, 1000}, {100, 100, 1000, 1000, 1000}};
  const std::string svg = sides_plot({row}, "times").narrow;
  const auto x_of = [&](const std::string& text) {
    const std::size_t end = svg.find(">" + text + "</text>");
    EXPECT_NE(end, std::string::npos) << text;
    return std::stod(svg.substr(svg.rfind(" x=\"", end) + 4));
  };
  EXPECT_GE(x_of("-60 %"), 17);
  EXPECT_EQ(x_of("+0.0 %"), 332);
  double last_line = 0;
  for (std::size_t at = svg.find("x2=\""); at != std::string::npos;
       at = svg.find("x2=\"", at + 1)) {
    last_line = std::max(last_line, std::stod(svg.substr(at + 4)));
  }
  EXPECT_LE(last_line, 272);
}

// The words began at the left end of the axis, far from zero.
TEST(ForestPlot, TheWordsFasterAndSlowerAreOnBothSidesOfZero) {
  const Plot plot = forest_plot({{"near", "REGRESSION", 1, 1.0, 0.9, 1.1}}, 0.03);
  for (const std::string& svg : {plot.wide, plot.narrow}) {
    const auto x_of = [&](const std::string& text) {
      return std::stod(svg.substr(svg.rfind(" x=\"", svg.find(">" + text + "<")) + 4));
    };
    EXPECT_NEAR(x_of("faster"), x_of("|") - 6, 0.11);
    EXPECT_NEAR(x_of("slower"), x_of("|") + 6, 0.11);
    EXPECT_NEAR(x_of("0 %"), x_of("|"), 0.11);
    EXPECT_GT(x_of("faster"), 45);  // the whole word is in the picture
  }
}

// A mark of +421 % was drawn at +300 %, the end of the axis, and no text said so.
TEST(ForestPlot, SaysThatAnEffectLiesBeyondItsAxis) {
  const ForestRow inside{"near", "REGRESSION", 1, 0.2, 0.1, 0.3};
  EXPECT_THAT(forest_plot({inside}, 0.03).caption, Not(HasSubstr("The axis ends")));
  const ForestRow beyond{"far", "REGRESSION", 1, 4.21, std::nullopt, std::nullopt};
  EXPECT_THAT(forest_plot({inside, beyond}, 0.03).caption,
              HasSubstr("The axis ends at +300 %; 1 effect or interval reaches beyond it"));
  const ForestRow wide{"wide", "UNCLEAR", 3, 0.2, -0.1, 5.0};
  const Plot plot = forest_plot({wide, beyond}, 0.03);
  EXPECT_THAT(plot.caption, HasSubstr("2 effects or intervals reach beyond it and are drawn"));
  EXPECT_THAT(plot.wide, HasSubstr("+421.0 %"));
}

TEST(HistoryPlot, HasAMarkPerRunAndADiamondWhereAnEpochOpens) {
  BaselineHistory history;
  history.records = {test::baseline(1, 0, Nanoseconds(1000)),
                     test::baseline(2, 0, Nanoseconds(1010)),
                     test::baseline(3, 1, Nanoseconds(800))};
  const Plot plot = history_plot({&history});
  EXPECT_EQ(occurrences(plot.wide, "<g class=\"mark"), 3U);
  EXPECT_EQ(occurrences(plot.wide, "<polygon class=\"s3\""), 1U);
  EXPECT_EQ(occurrences(plot.wide, "class=\"band\""), 1U);
  EXPECT_THAT(history_plot({}).absent, HasSubstr("bench baseline save"));
}

TEST(Plots, NamesOfCasesStayTextInEachPlot) {
  Report report = sample_run_report();
  for (CaseRecord& record : report.cases) record.id += "<script>";
  for (ProcessRecord& process : report.processes) process.id += "<script>";
  for (const Plot& plot : run_plots({report})) {
    EXPECT_THAT(plot.wide + plot.narrow, Not(HasSubstr("<script"))) << plot.name;
  }
  for (const Plot& plot : gate_plots(test::hostile_gate())) {
    EXPECT_THAT(plot.wide + plot.narrow, Not(HasSubstr("<b>"))) << plot.name;
  }
}

}  // namespace
}  // namespace bench
