// SPDX-License-Identifier: Apache-2.0
// Tests the graph of attention on a scripted device: what the graph defines is what the operator
// defines. ops/cuda/cudnn/stub/attention_engines_test.cpp asks cuDNN whether it recognises it.
#include "ops/attention/attention.hpp"
#include "ops/cuda/cudnn/backend_fixture.hpp"
#include "ops/cuda/cudnn/graph_evaluation.hpp"
#include "ops/cuda/cudnn/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::draw;
using bench::ops::op_test::problem;
using bench::ops::op_test::Random;
using ::testing::HasSubstr;

class AttentionGraphTest : public cudnn_test::CudnnBackendTest {
 protected:
  void SetUp() override {
    cudnn_.evaluate = [](cudnnBackendDescriptor_t graph,
                         const cudnn_test::FakeCudnn::Addresses& addresses) {
      cudnn_test::GraphEvaluation(addresses).run(graph);
    };
  }
};

TEST_F(AttentionGraphTest, DefinesWhatTheOperatorDefines) {
  Random random(51);
  int windows = 0, lengths = 0;
  for (int i = 0; i < 300; ++i) {
    const std::int64_t batch = draw(random, 1, 3), kv_heads = draw(random, 1, 2);
    const std::int64_t queries = draw(random, 1, 6), keys = draw(random, queries, 9);
    std::string tokens = fmt::format("b{}h{}g{}q{}k{}d{}", batch, kv_heads * draw(random, 1, 3),
                                     kv_heads, queries, keys, 8 * draw(random, 1, 2));
    const bool is_causal = draw(random, 0, 2) > 0;
    if (is_causal && draw(random, 0, 1) == 1) {
      tokens += fmt::format("w{}", draw(random, 1, 10));
      ++windows;
    }
    if (draw(random, 0, 1) == 1) {
      ++lengths;
      for (std::int64_t b = 0; b < batch; ++b) {
        tokens += fmt::format("{}{}", b == 0 ? "l" : "x", draw(random, queries, keys));
      }
    }
    if (is_causal) tokens += "+causal";
    SCOPED_TRACE(tokens);
    const DataType dtype = i % 2 == 0 ? DataType::f16 : DataType::bf16;
    const Problem attention = problem("attention", tokens, dtype);
    const auto kernel = create(attention);
    ASSERT_NE(kernel, nullptr);
    ASSERT_EQ(kernel->implementation(), "cudnn:engine_0");
    expect_reference(attention, *kernel);
  }
  EXPECT_GT(windows, 50);
  EXPECT_GT(lengths, 100);
}

// The numbers of the graph are read at each execution, those of sequences from the device.
TEST_F(AttentionGraphTest, KeepsItsConstantsForEachExecution) {
  const Problem attention = problem("attention", "b3h2q2k9d64l9x4x2+causal", DataType::f16);
  const auto kernel = create(attention);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->workspace(), (Bytes{2 * 3 * sizeof(std::int32_t)}));
  EXPECT_EQ(kernel->buffers().size(), 4U);
  EXPECT_EQ(kernel->buffers()[1].layout, "plain");
  expect_reference(attention, *kernel);
  expect_reference(attention, *kernel);
  ASSERT_GE(cudnn_.executions.size(), 2U);
  const auto& at = cudnn_.executions.back();
  const auto* queries = static_cast<const std::int32_t*>(at.at(kFirstConstant));
  const auto* keys = static_cast<const std::int32_t*>(at.at(kFirstConstant + 1));
  const auto* scale = static_cast<const float*>(at.at(kFirstConstant + 2));
  EXPECT_EQ(std::vector(queries, queries + 3), (std::vector<std::int32_t>{2, 2, 2}));
  EXPECT_EQ(std::vector(keys, keys + 3), (std::vector<std::int32_t>{9, 4, 2}));
  EXPECT_EQ(*scale, 0.125F);
}

TEST_F(AttentionGraphTest, TheRestIsComputedByTheNativeKernel) {
  struct Row {
    const char* tokens;
    DataType dtype;
    Direction direction;
    const char* reason;
  };
  for (const Row& row : {
           Row{"h4q24d16", DataType::f32, Direction::forward, "f16 and bf16 only"},
           Row{"h4q24d20", DataType::f16, Direction::forward, "multiple of 8"},
           Row{"h4q24k20d16+causal", DataType::f16, Direction::forward, "without keys"},
           Row{"b2h4q3k20d16l20x2+causal", DataType::f16, Direction::forward, "without keys"},
           Row{"h4q24d16", DataType::f16, Direction::backward_data, "gradients"},
       }) {
    const Problem attention = problem("attention", row.tokens, row.dtype, row.direction);
    const auto kernel = create(attention);
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->implementation(), "bench:attention_block") << row.tokens;
    EXPECT_THAT(known_gap(attention).value_or(""), HasSubstr(row.reason)) << row.tokens;
  }
}

// An older library would return wrong results.
TEST(AttentionGraph, NeedsAVersionWithoutKnownFaults) {
  BENCH_NEED_CUDNN(api);
  auto older = std::make_shared<CudnnApi>(*api);
  older->get_version = [] { return std::size_t{91001}; };
  const auto graph =
      operation_graph(CudnnTarget(older), problem("attention", "h4q24d16", DataType::f16));
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(graph.error().reason, HasSubstr("needs cuDNN 9.10.2 or newer, this is 9.10.1"));
}

// The weights are rounded to 16 bits, and results may cancel. Among 10^6 of them none is further
// from the exact result than the tolerance, and the tolerance is not loose: some come near it.
TEST(AttentionTolerance, CoversRoundedWeights) {
  Random random(7);
  for (const DataType dtype : {DataType::f16, DataType::bf16}) {
    for (const std::int64_t keys : {2, 16, 128, 1024}) {
      const Problem attention = problem("attention", fmt::format("h1q1k{}d64", keys), dtype);
      const Tolerance allowed = attention_tolerance(attention);
      double worst = 0;
      for (std::int64_t i = 0; i < (1 << 20) / keys; ++i) {
        double total = 0, exact = 0, rounded = 0;
        for (std::int64_t key = 0; key < keys; ++key) {
          const double score = static_cast<double>(draw(random, -1000, 0)) / 1000;
          const double value =
              round_to(dtype, static_cast<double>(draw(random, -1000, 1000)) / 1000);
          total += std::exp(score);
          exact += std::exp(score) * value;
          rounded += round_to(dtype, std::exp(score)) * value;
        }
        const double want = exact / total, got = round_to(dtype, rounded / total);
        const double error = std::abs(got - want);
        EXPECT_LE(error, allowed.absolute + allowed.relative * std::abs(want)) << keys;
        worst = std::max(worst, error / (allowed.absolute + allowed.relative * std::abs(want)));
      }
      EXPECT_GT(worst, 0.1) << keys;
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
