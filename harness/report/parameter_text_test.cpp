// SPDX-License-Identifier: Apache-2.0
#include "harness/report/parameter_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kId = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";

ParameterEffect effect(double ratio, double work_ratio = 1) {
  ParameterEffect result;
  result.compared.id = "gemm/forward/m8n8k8/bf16/onednn/cpu/hot";
  result.compared.base = 1000;
  result.compared.candidate = 1000 * ratio;
  result.compared.ratio = ratio;
  result.compared.low = ratio - 0.02;
  result.compared.high = ratio + 0.03;
  result.work_ratio = work_ratio;
  return result;
}

ParameterComparison pair_of_types() {
  ParameterComparison result;
  result.name = "a.jsonl";
  result.parameter = "dtype";
  result.against = "f32";
  result.values = {"bf16"};
  result.groups = {{kId, 1000, {effect(0.8)}}};
  result.means = {MeanSpeedUp{1.25, 1.2, 1.28}};
  return result;
}

TEST(ParameterText, APairIsASentenceAndARow) {
  EXPECT_EQ(format_parameter_comparison(pair_of_types(), {.width = 100}),
            "bf16 takes 0.80x the time of f32 (0.78 to 0.83).\n\n"
            "case with f32                                f32    bf16   time      interval\n"
            "gemm/forward/m8n8k8/f32/onednn/cpu/hot  1.000 us  800 ns  0.80x  0.78 to 0.83\n");
}

TEST(ParameterText, SeveralPairsAreAnsweredByTheirMean) {
  ParameterComparison two = pair_of_types();
  two.groups.push_back(two.groups.front());
  two.unpaired = 2;
  const std::string text = format_parameter_comparison(two, {.width = 80});
  EXPECT_THAT(text, StartsWith("bf16 takes 0.80x the time of f32 (geometric mean of 2 pairs).\n"));
  EXPECT_THAT(text,
              testing::EndsWith("\n2 cases have no partner that differs in `dtype` alone.\n"));
}

TEST(ParameterText, PairsWithDifferentWorkAreToldByTheWorkPerTime) {
  ParameterComparison sizes = pair_of_types();
  sizes.parameter = "n";
  sizes.against = "1";
  sizes.values = {"8"};
  sizes.is_work_equal = false;
  sizes.groups[0].effects = {effect(4, 8)};
  sizes.means = {MeanSpeedUp{2, 1.99, 2.01}};
  EXPECT_THAT(format_parameter_comparison(sizes, {.width = 80}),
              StartsWith("n=8 does 2.00x the work per time of n=1 (1.99 to 2.01).\n"));
}

TEST(ParameterText, MoreValuesAreATableOfSpeedUps) {
  ParameterComparison sweep = pair_of_types();
  sweep.parameter = "threads";
  sweep.against = "1";
  sweep.values = {"2", "all"};
  sweep.groups[0].effects = {effect(0.5), std::nullopt};
  sweep.means = {MeanSpeedUp{2, 1.9, 2.1}, std::nullopt};
  EXPECT_EQ(format_parameter_comparison(sweep, {.width = 80}),
            "Speed-up against threads=1: threads=2 2.00x, threads=all n/a.\n\n"
            "case with threads=1                         time  threads=2  threads=all\n"
            "gemm/forward/m8n8k8/f32/onednn/cpu/hot  1.000 us      2.00x          n/a\n");
}

TEST(ParameterText, AnEffectThatMayHaveEitherSignIsNotCertain) {
  ParameterComparison open = pair_of_types();
  open.groups[0].effects = {effect(1.01)};
  EXPECT_THAT(format_parameter_comparison(open, {.width = 100}),
              StartsWith("Whether bf16 or f32 takes longer is not certain: 1.01x the time (0.99 to "
                         "1.04).\n"));
  open.groups.push_back(open.groups.front());
  open.means = {MeanSpeedUp{1.01, 0.95, 1.1}};
  EXPECT_THAT(format_parameter_comparison(open, {.width = kUnlimitedWidth}),
              StartsWith("Whether bf16 or f32 takes longer is not certain: 0.99x the time (0.91 to "
                         "1.05; geometric mean of 2 pairs).\n"));
  ParameterEffect& only = *open.groups[0].effects[0];
  open.groups.pop_back();
  only.compared.low = only.compared.high = std::nullopt;
  EXPECT_THAT(format_parameter_comparison(open, {.width = 100}),
              StartsWith("Whether bf16 or f32 takes longer is not certain: 1.01x the time, without "
                         "an interval.\n"));
  only.compared.ratio = 4;
  EXPECT_THAT(format_parameter_comparison(open, {.width = 100}),
              StartsWith("bf16 takes 4.00x the time of f32, without an interval.\n"));
  open.values = {"bf16", "f16"};
  open.groups[0].effects.push_back(effect(0.5));
  open.means.emplace_back(MeanSpeedUp{2, 1.9, 2.1});
  EXPECT_THAT(format_parameter_comparison(open, {.width = 100}),
              StartsWith("Speed-up against f32: bf16 1.01x, f16 2.00x. Not certain: bf16.\n"));
}

TEST(ParameterText, WhatCannotBeComparedGivesItsReason) {
  ParameterComparison failed = pair_of_types();
  ParameterEffect& only = *failed.groups[0].effects[0];
  only.compared.ratio = only.compared.low = only.compared.high = std::nullopt;
  only.compared.reason = "crashed: signal 11";
  failed.means = {std::nullopt};
  const std::string text = format_parameter_comparison(failed, {.width = 80});
  EXPECT_THAT(text, StartsWith("bf16 and f32 cannot be compared; the reasons are below.\n"));
  EXPECT_THAT(text, HasSubstr("\n    crashed: signal 11\n"));
}

ParameterComparison three_backends() {
  ParameterComparison result = pair_of_types();
  result.parameter = "backend";
  result.against = "onednn";
  result.values = {"openblas", "mkl"};
  result.groups[0].effects = {effect(1.2), effect(0.8)};
  result.groups.push_back(result.groups[0]);
  result.means = {MeanSpeedUp{0.83, 0.8, 0.85}, MeanSpeedUp{1.25, 1.2, 1.28}};
  ValueRanking ranking;
  ranking.places = {{"mkl", 1, 1}, {"onednn", 1.25, 0}, {"openblas", 1.5, 0}};
  ranking.cases = 2;
  ranking.ties = 1;
  ranking.lead = {1.25, 1.2, 1.28};
  result.ranking = ranking;
  result.unmeasured = {{"blis", "skipped: no BLIS"}};
  return result;
}

TEST(ParameterText, BackendsAreAnsweredByTheFastest) {
  EXPECT_EQ(format_parameter_comparison(three_backends(), {.width = 100}),
            "mkl is the fastest by geometric mean over 2 cases: 1.25x the speed of onednn (1.20 to "
            "1.28). Fastest\n"
            "in: mkl 1; 1 is too close to call.\n\n"
            "case with onednn                            time  openblas    mkl\n"
            "gemm/forward/m8n8k8/f32/onednn/cpu/hot  1.000 us     0.83x  1.25x\n"
            "gemm/forward/m8n8k8/f32/onednn/cpu/hot  1.000 us     0.83x  1.25x\n\n"
            "blis has no times: skipped: no BLIS\n");
  const auto document = nlohmann::json::parse(parameter_json(three_backends()));
  EXPECT_EQ(document.at("ranking").at(0).at("value"), "mkl");
  EXPECT_EQ(document.at("ranking").at(0).at("wins"), 1);
  EXPECT_EQ(document.at("unmeasured").at(0).at("reason"), "skipped: no BLIS");
  EXPECT_THAT(parameter_markdown(three_backends()), HasSubstr("\nblis has no times: "));
}

TEST(ParameterText, ALeadWithinItsIntervalIsNotCalledTheFastest) {
  ParameterComparison close = three_backends();
  close.ranking->lead = {1.01, 0.98, 1.04};
  EXPECT_THAT(format_parameter_comparison(close, {.width = kUnlimitedWidth}),
              StartsWith("Whether mkl or onednn is the fastest is not certain by geometric mean "
                         "over 2 cases: 1.01x the speed (0.98 to 1.04). Fastest in: mkl 1;"));
  close.ranking->cases = 1;
  EXPECT_THAT(format_parameter_comparison(close, {.width = kUnlimitedWidth}),
              StartsWith("Whether mkl or onednn is the fastest is not certain in the only case: "
                         "1.01x the speed (0.98 to 1.04).\n"));
}

TEST(ParameterText, MachinesGetAllNumbers) {
  const auto document = nlohmann::json::parse(parameter_json(pair_of_types()));
  const auto& row = document.at("rows").at(0);
  EXPECT_EQ(row.at("value"), "bf16");
  EXPECT_NEAR(row.at("speed_up").get<double>(), 1.25, 1e-9);
  EXPECT_NEAR(row.at("speed_up_low").get<double>(), 1 / 0.83, 1e-9);
  EXPECT_THAT(parameter_markdown(pair_of_types()),
              HasSubstr("| 1.000 us | 1.25x (1.20 to 1.28) |"));
}

}  // namespace
}  // namespace bench
