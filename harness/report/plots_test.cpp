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

TEST(RooflinePlot, SaysWhyThereIsNone) {
  EXPECT_THAT(roofline_plot({}).absent, Not(IsEmpty()));
  EXPECT_THAT(roofline_plot({}).wide, IsEmpty());
}

TEST(SweepPlots, CasesThatDifferInOneParameterAreALine) {
  const std::vector<Plot> plots = sweep_plots(sample_run_report().cases);
  ASSERT_THAT(plots, SizeIs(2));
  EXPECT_EQ(plots[0].name, "sweep-gemm-m-time");
  EXPECT_EQ(plots[1].name, "sweep-gemm-m-rate");
  EXPECT_EQ(occurrences(plots[0].wide, "<polyline class=\"curve"), 2U);  // one per data type
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

TEST(LayersPlot, ShowsIdealTimesWhereThereIsARoofline) {
  NetworkSummary network;
  network.network = "net";
  network.cache = "hot";
  Report report = sample_run_report();
  report.cases[0].roofline.emplace();
  report.cases[0].roofline->ideal = Nanoseconds(16000);
  network.top = {{report.cases[0].id, {"conv1", "conv2"}, 2, Nanoseconds(64000), 1.0}};
  const Plot plot = layers_plot(network, report.cases);
  EXPECT_THAT(plot.wide, HasSubstr(">conv1 +1<"));
  EXPECT_THAT(plot.wide, HasSubstr("ideal 32 us"));
  report.cases[0].roofline.reset();
  EXPECT_THAT(layers_plot(network, report.cases).caption,
              HasSubstr("n/a: no ceilings, run `bench peak`"));
}

TEST(GatePlots, TheForestHasAMarkPerEffectAndBothSidesOfEachDuet) {
  const std::vector<Plot> plots = gate_plots(test::sample_gate());
  ASSERT_THAT(plots, SizeIs(2));
  EXPECT_EQ(occurrences(plots[0].wide, "<g class=\"mark"), 3U);
  EXPECT_THAT(plots[0].wide, HasSubstr("REGRESSION: +20.0 %, interval +19.5 % to +20.5 %"));
  EXPECT_EQ(occurrences(plots[1].wide, "<g class=\"mark"), 2U);
  EXPECT_THAT(plots[1].wide, HasSubstr("after: median 1.2 us of 3 medians of duets"));
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
  const Plot plot = history_plot({history});
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
