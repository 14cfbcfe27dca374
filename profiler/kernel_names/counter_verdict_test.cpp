// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/counter_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CounterReadings readings(std::initializer_list<std::pair<LogicalCounter, double>> values) {
  CounterReadings result;
  for (const auto& [counter, value] : values) {
    result[std::string(counter_row(counter).name)] = {value, "metric"};
  }
  return result;
}

std::string verdict(std::optional<double> instructions, std::optional<double> share,
                    std::optional<std::int64_t> flops = std::nullopt) {
  CounterReadings counters;
  counters["tensor_instructions"] = {instructions, "metric"};
  counters["tensor_active_share"] = {share, "metric"};
  return format_verdict(tensor_core_verdict(counters, flops));
}

TEST(CounterVerdict, TensorCoresAreUsedFromOnePercentOfActiveCyclesOn) {
  EXPECT_EQ(verdict(1e6, 0.75), "used (counter)");
  EXPECT_EQ(verdict(1, 0.01), "used (counter)");
  EXPECT_EQ(verdict(1e6, 0.0099), "unknown");
  EXPECT_EQ(verdict(0, 0), "not used (counter)");
}

// An H100 counts wgmma instructions separately. A product that only uses them has 0 in the other
// counter.
TEST(CounterVerdict, NotUsedOnlyIfAllCountersSaySo) {
  const auto format_for = [](std::initializer_list<std::pair<LogicalCounter, double>> values) {
    return format_verdict(tensor_core_verdict(readings(values), std::nullopt));
  };
  EXPECT_EQ(format_for({{LogicalCounter::tensor_instructions, 0},
                        {LogicalCounter::tensor_group_instructions, 5e5},
                        {LogicalCounter::tensor_active_share, 0.8}}),
            "used (counter)");
  EXPECT_EQ(format_for({{LogicalCounter::tensor_instructions, 0},
                        {LogicalCounter::tensor_active_share, 0.8},
                        {LogicalCounter::tensor_operations_bf16, 1e9}}),
            "used (counter)");
  EXPECT_EQ(format_for({{LogicalCounter::tensor_instructions, 0},
                        {LogicalCounter::tensor_active_share, 0.8}}),
            "unknown");
  EXPECT_EQ(format_for({{LogicalCounter::tensor_instructions, 0},
                        {LogicalCounter::tensor_group_instructions, 0},
                        {LogicalCounter::tensor_active_share, 0.001},
                        {LogicalCounter::tensor_operations_bf16, 0}}),
            "not used (counter)");
}

TEST(CounterVerdict, OneCounterAloneDecidesAgainst) {
  EXPECT_EQ(verdict(0, std::nullopt), "not used (counter)");
  EXPECT_EQ(verdict(std::nullopt, 0.002), "not used (counter)");
  EXPECT_EQ(verdict(5, std::nullopt), "unknown");
  EXPECT_EQ(verdict(std::nullopt, 0.5), "unknown");
  EXPECT_EQ(tensor_core_verdict({}, 1000), TensorCoreVerdict{});
}

// On an H100, a product of 1024^3 in f32 executes 512 instructions in the tensor pipe, one per
// warp, although it uses CUDA cores only.
TEST(CounterVerdict, AFewInstructionsAreNoProduct) {
  const std::int64_t flops = std::int64_t{2} << 30;
  EXPECT_EQ(verdict(512, 0, flops), "not used (counter)");
  EXPECT_EQ(verdict(65536, 0.4, flops), "used (counter)");
  EXPECT_EQ(verdict(65536, 0.0001, flops), "unknown");
}

TEST(CounterVerdict, CountedOperationsDecideOverInstructions) {
  const auto format_for = [](double operations, double share) {
    return format_verdict(
        tensor_core_verdict(readings({{LogicalCounter::tensor_instructions, 1e6},
                                      {LogicalCounter::tensor_operations_f16, operations},
                                      {LogicalCounter::tensor_active_share, share}}),
                            1'000'000));
  };
  EXPECT_EQ(format_for(0, 0.003), "not used (counter)");
  EXPECT_EQ(format_for(0, 0.5), "unknown");
  EXPECT_EQ(format_for(1'000'000, 0.5), "used (counter)");
  EXPECT_EQ(format_for(500'000, 0.003), "used (counter)");  // it waited for memory
  EXPECT_EQ(format_for(1'000, 0.003), "unknown");           // setup only
}

TEST(CounterVerdict, ACounterOutranksANoteAndANoteAName) {
  const TensorCoreVerdict name = {TensorCoreUse::used, TensorCoreEvidence::name, "nvjet"};
  const TensorCoreVerdict counter = {TensorCoreUse::not_used, TensorCoreEvidence::counter, {}};
  EXPECT_EQ(stronger_verdict(name, counter), counter);
  EXPECT_EQ(stronger_verdict(counter, name), counter);
  const TensorCoreVerdict note =
      engine_verdict("engine 45: tensor core; workspace 4 KiB", DataType::f16);
  EXPECT_EQ(stronger_verdict(counter, note), counter);
  EXPECT_EQ(stronger_verdict(name, note), note);
  EXPECT_EQ(stronger_verdict(name, {}), name);
  EXPECT_EQ(stronger_verdict({}, name), name);
}

TEST(CounterVerdict, OperationsOfAllTypesAreAdded) {
  const auto counters = readings({{LogicalCounter::tensor_operations_tf32, 32.0},
                                  {LogicalCounter::tensor_operations_f16, 8.0},
                                  {LogicalCounter::tensor_operations_f64, 0.0}});
  EXPECT_EQ(tensor_operations(counters), 40.0);
  EXPECT_THAT(tensor_types(counters), ElementsAre("f16", "tf32"));
  EXPECT_EQ(tensor_operations({}), std::nullopt);
  EXPECT_THAT(tensor_types({}), IsEmpty());
}

TEST(CounterVerdict, BytesNeedBothDirections) {
  EXPECT_EQ(dram_bytes(readings({{LogicalCounter::dram_read_bytes, 96.0},
                                 {LogicalCounter::dram_write_bytes, 32.0}})),
            128.0);
  EXPECT_EQ(dram_bytes(readings({{LogicalCounter::dram_read_bytes, 96.0}})), std::nullopt);
}

ModelFit operations(double measured, std::int64_t flops) {
  return check_operations(measured, flops).value().fit;
}

TEST(ModelCheck, Operations) {
  const std::int64_t flops = 2LL * 4096 * 4096 * 4096;  // 2MNK
  const double exact = static_cast<double>(flops);
  EXPECT_EQ(operations(exact, flops), ModelFit::equal);
  EXPECT_EQ(operations(exact * 1.015, flops), ModelFit::equal);
  EXPECT_EQ(operations(exact * 1.25, flops), ModelFit::more);
  EXPECT_EQ(operations(exact * 3, flops), ModelFit::multiple);  // bf16x3
  EXPECT_EQ(operations(exact * 0.44, flops), ModelFit::less);   // Winograd
  EXPECT_EQ(operations(0, flops), ModelFit::none);
  EXPECT_DOUBLE_EQ(check_operations(exact * 1.25, flops)->ratio, 1.25);
}

TEST(ModelCheck, Bytes) {
  const Bytes compulsory{1000};
  EXPECT_EQ(check_bytes(1050.0, compulsory)->fit, ModelFit::equal);
  EXPECT_EQ(check_bytes(500.0, compulsory)->fit, ModelFit::less);
  EXPECT_EQ(check_bytes(1500.0, compulsory)->fit, ModelFit::more);
  EXPECT_EQ(check_bytes(2000.0, compulsory)->fit, ModelFit::multiple);
  EXPECT_EQ(check_bytes(0.0, compulsory)->fit, ModelFit::none);
}

TEST(ModelCheck, WhatIsUnknownOrNothingIsNotChecked) {
  EXPECT_EQ(check_operations(std::nullopt, 10), std::nullopt);
  EXPECT_EQ(check_operations(10, std::nullopt), std::nullopt);
  EXPECT_EQ(check_operations(0, 0), std::nullopt);
  EXPECT_EQ(check_bytes(1.0, std::nullopt), std::nullopt);
}

TEST(ModelCheck, Words) {
  EXPECT_EQ(format_operation_check({1.002, ModelFit::equal}), "1.002 of the model, as computed");
  EXPECT_EQ(format_operation_check({1.25, ModelFit::more}),
            "1.250 of the model, more: tiles are padded");
  EXPECT_EQ(format_byte_check({0.5, ModelFit::less}),
            "0.500 of the model, less: caches held part of it");
}

}  // namespace
}  // namespace bench
