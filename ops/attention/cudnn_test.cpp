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

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::draw;
using bench::ops::op_test::problem;
namespace op_test = bench::ops::op_test;
using bench::ops::op_test::Random;
using ::testing::HasSubstr;

constexpr Direction kAttentionGradient = Direction::backward_data;

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
    std::string tokens =
        fmt::format("{}b{}h{}g{}q{}k{}d{}", i % 3 == 0 ? "training-" : "", batch,
                    kv_heads * draw(random, 1, 3), kv_heads, queries, keys, 8 * draw(random, 1, 2));
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

TEST_F(AttentionGraphTest, DefinesTheGradients) {
  Random random(52);
  int groups = 0, windows = 0;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t kv_heads = draw(random, 1, 2), shared = draw(random, 1, 3);
    const std::int64_t queries = draw(random, 1, 6),
                       keys = draw(random, std::max<std::int64_t>(2, queries), 12);
    std::string tokens = fmt::format("b{}h{}g{}q{}k{}d{}", draw(random, 1, 2), kv_heads * shared,
                                     kv_heads, queries, keys, 8 * draw(random, 1, 2));
    groups += shared > 1 ? 1 : 0;
    if (draw(random, 0, 2) > 0) {
      if (draw(random, 0, 1) == 1) {
        tokens += fmt::format("w{}", draw(random, 1, 10));
        ++windows;
      }
      tokens += "+causal";
    }
    SCOPED_TRACE(tokens);
    const DataType dtype = i % 2 == 0 ? DataType::f16 : DataType::bf16;
    const Problem attention = problem("attention", tokens, dtype, Direction::backward_data);
    const auto kernel = create(attention);
    ASSERT_NE(kernel, nullptr);
    // Keys that are too old for every query.
    if (find_unmatched_attention(attention)) {
      ASSERT_EQ(kernel->implementation(), "bench:attention_block");
      continue;
    }
    ASSERT_EQ(kernel->implementation(), "cudnn:engine_0");
    // The sums of each query, and of its gradient.
    const std::int64_t rows = attention.tensors[4].elements();
    EXPECT_EQ(kernel->workspace(), (Bytes{4 * (rows + attention.tensors[0].elements())}));
    expect_reference(attention, *kernel);
  }
  EXPECT_GT(groups, 50);
  EXPECT_GT(windows, 30);
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
           Row{"h4q24d16", DataType::f32, kAttentionGradient, "f16 and bf16 only"},
           Row{"h4q24d264", DataType::f16, kAttentionGradient, "at most 256"},
           Row{"b2h4q3k20d16l20x9", DataType::f16, kAttentionGradient, "that no query attends to"},
           Row{"h4q1k1d16", DataType::f16, kAttentionGradient, "one query and one key"},
       }) {
    const Problem attention = problem("attention", row.tokens, row.dtype, row.direction);
    const auto kernel = create(attention);
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->implementation(), "bench:attention_block") << row.tokens;
    EXPECT_THAT(known_gap(attention).value_or(""), HasSubstr(row.reason)) << row.tokens;
  }
}

// A layer of attention is computed on plain tensors, also between images in nhwc.
TEST_F(AttentionGraphTest, IsALayerOfNetworks) {
  cudnn_.evaluate = nullptr;  // the ways of layers are measured, which needs no results
  const auto network_with = [](std::string_view first, std::string_view tokens) {
    return bench::ops::op_test::make(
        {.name = "small",
         .input = {4, 16, 16},
         .layers = {bench::ops::op_test::layer("a", first, tokens, {"input"}),
                    bench::ops::op_test::layer("attend", "attention", "h4q16d16+causal",
                                               {"a", "a", "a"})}},
        Fusion::separate, DataType::f16);
  };
  for (const auto& [first, tokens, has_images] :
       {std::tuple("pointwise", "relu", false), std::tuple("conv", "k4r1s1", true)}) {
    SCOPED_TRACE(first);
    const auto kernel = backend().create(network_with(first, tokens));
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    const auto steps = (*kernel)->steps();
    const auto attend = std::ranges::find(steps, "cudnn:engine_0", [](const KernelStep& step) {
      return step.node == "attend" ? step.implementation : std::string();
    });
    ASSERT_NE(attend, steps.end());
    EXPECT_EQ(attend->layouts, "plain -> plain");
    EXPECT_EQ(std::ranges::count(steps, "reorder", &KernelStep::kind) > 0, has_images);
  }
}

// An older library would return wrong results.
TEST(AttentionGraph, NeedsAVersionWithoutKnownFaults) {
  BENCH_NEED_CUDNN(api);
  auto older = std::make_shared<CudnnApi>(*api);
  older->get_version = [] { return std::size_t{91001}; };
  const auto reason = [&](Direction direction) {
    const auto graph = operation_graph(CudnnTarget(older),
                                       problem("attention", "h4q24d16", DataType::f16, direction));
    if (graph.ok()) return std::string("accepted");
    EXPECT_EQ(graph.error().kind, BackendError::Kind::unsupported);
    return graph.error().reason;
  };
  EXPECT_EQ(reason(Direction::forward), "attention needs cuDNN 9.10.2 or newer, this is 9.10.1");
  EXPECT_EQ(reason(kAttentionGradient),
            "gradients of attention need cuDNN 9.16.0 or newer, this is 9.10.1");
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

// Results of gradients with and without roundings of what is between the products.
class RoundedGradients {
 public:
  explicit RoundedGradients(const Problem& problem)
      : problem_(problem), set_(problem.parameters), inputs_(op_test::random_inputs(problem, 9)) {
    for (const bool is_rounded : {false, true}) {
      for (std::size_t i = 0; i < 3; ++i) {
        results_[is_rounded ? 1 : 0][i].assign(
            static_cast<std::size_t>(problem.tensors[6 + i].elements()), 0);
      }
    }
    for (std::int64_t row = 0; row < problem.tensors[4].elements(); ++row) add_query(row);
  }
  // Returns the largest error as a share of the tolerance.
  double worst_share() const {
    const Tolerance allowed = attention_tolerance(problem_);
    double worst = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < results_[0][i].size(); ++j) {
        const double want = results_[0][i][j], got = round_to(problem_.dtype, results_[1][i][j]);
        worst = std::max(
            worst, std::abs(got - want) / (allowed.absolute + allowed.relative * std::abs(want)));
      }
    }
    return worst;
  }

 private:
  double round(double value, std::size_t is_rounded) const {
    return is_rounded != 0 ? round_to(problem_.dtype, value) : value;
  }
  double product(std::size_t a, std::size_t a_begin, std::size_t b, std::size_t b_begin) const {
    double sum = 0;
    for (std::size_t d = 0; d < size(); ++d) {
      sum += inputs_[a][a_begin + d] * inputs_[b][b_begin + d];
    }
    return sum;
  }
  std::size_t size() const { return static_cast<std::size_t>(set_.count("head_dim")); }
  void add_query(std::int64_t row) {
    const AttentionQuery at = find_attention_query(set_, row);
    const double scale = 1 / std::sqrt(static_cast<double>(size()));
    const double of_destination = product(5, at.query, 3, at.query);
    for (std::int64_t key = at.first_key; key < at.end_key; ++key) {
      const std::size_t begin = at.keys + static_cast<std::size_t>(key) * size();
      const double weight = std::exp(product(0, at.query, 1, begin) * scale -
                                     inputs_[4][static_cast<std::size_t>(row)]);
      const double score = weight * (product(5, at.query, 2, begin) - of_destination) * scale;
      for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t d = 0; d < size(); ++d) {
          results_[r][0][at.query + d] += round(score, r) * inputs_[1][begin + d];
          results_[r][1][begin + d] += round(score, r) * inputs_[0][at.query + d];
          results_[r][2][begin + d] += round(weight, r) * inputs_[5][at.query + d];
        }
      }
    }
  }

  const Problem& problem_;
  const ParameterSet& set_;
  std::vector<std::vector<double>> inputs_;
  std::vector<double> results_[2][3];
};

TEST(AttentionTolerance, CoversRoundedGradients) {
  for (const DataType dtype : {DataType::f16, DataType::bf16}) {
    for (const char* tokens : {"h4g2q128d64", "h4g2q128d64+causal", "h1q512d16+causal",
                               "h4g1q8k512d64", "h2q512k8d16", "h8g1q1k64d64"}) {
      const Problem attention = problem("attention", tokens, dtype, kAttentionGradient);
      const double share = RoundedGradients(attention).worst_share();
      EXPECT_LT(share, 0.7) << tokens;
      EXPECT_GT(share, 0.05) << tokens;
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
