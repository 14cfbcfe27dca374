// SPDX-License-Identifier: Apache-2.0
#include "ops/network/test_support.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace bench::ops {
namespace {

using op_test::layer;
using ::testing::HasSubstr;

void expect_equal(const Problem& made, const Problem& given) {
  EXPECT_EQ(made.op, given.op);
  EXPECT_EQ(made.direction, given.direction);
  EXPECT_EQ(made.dtype, given.dtype);
  EXPECT_EQ(made.layout, given.layout);
  EXPECT_EQ(made.math, given.math);
  EXPECT_TRUE(made.parameters == given.parameters);
  EXPECT_EQ(made.post_ops, given.post_ops);
  EXPECT_EQ(made.work, given.work);
}

TEST(ReadProblemTest, MakesTheSameProblemAgain) {
  Problem given =
      op_test::problem("conv", "n2c8h6w5k16r3s3p0_1+bias+leaky_relu0.1+add", DataType::f32);
  given.post_ops[0].alpha = 0.1 + 1e-13;  // more digits than ids contain
  given.layout = Layout::nhwc;
  given.math = Math::tf32;
  const auto made = read_problem(*CProblem(given).get());
  ASSERT_TRUE(made.ok()) << made.error().message();
  expect_equal(*made, given);
  const Problem gradient =
      op_test::problem("pool", "max-n2c4h7w7r3u2p1", DataType::f16, Direction::backward_data);
  const auto again = read_problem(*CProblem(gradient).get());
  ASSERT_TRUE(again.ok());
  expect_equal(*again, gradient);
}

TEST(ReadProblemTest, RefusesWhatItDoesNotKnow) {
  const Problem given = op_test::problem("conv", "n2c8h6w5k16r3s3");
  const CProblem view(given);
  bench_problem other = *view.get();
  other.op = "scale_shift";
  EXPECT_THAT(read_problem(other).error().what, HasSubstr("no built-in operator `scale_shift`"));
  other = *view.get();
  other.dtype = 99;
  EXPECT_THAT(read_problem(other).error().what, HasSubstr("out of range"));
  other = *view.get();
  other.tokens = "n2c8h6w5";
  EXPECT_FALSE(read_problem(other).ok());
  other.tokens = "n3c8h6w5k16r3s3";
  EXPECT_THAT(read_problem(other).error().what, HasSubstr("different tensors"));
}

Network network() {
  return op_test::make({.name = "small",
                        .input = {8, 6, 6},
                        .layers = {layer("conv", "conv", "k16r3s3p1+bias", {"input"}),
                                   layer("norm", "batch_norm", "", {"conv"}),
                                   layer("relu", "pointwise", "relu", {"norm"}),
                                   layer("sum", "pointwise", "add", {"relu", "conv"})}},
                       Fusion::separate, DataType::f32, 2);
}

TEST(ReadProblemTest, MakesTheSameNetworkAgain) {
  Network given = network();
  given.input_layout = Layout::nhwc;
  const auto made = read_network(*CNetwork(given).get());
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->name, given.name);
  EXPECT_EQ(made->batch, 2);
  EXPECT_EQ(made->dtype, given.dtype);
  EXPECT_EQ(made->fusion, given.fusion);
  EXPECT_EQ(made->input_layout, Layout::nhwc);
  EXPECT_EQ(made->mode, given.mode);
  EXPECT_EQ(made->work, given.work);
  ASSERT_EQ(made->nodes.size(), given.nodes.size());
  for (std::size_t i = 0; i < given.nodes.size(); ++i) {
    EXPECT_EQ(made->nodes[i].name, given.nodes[i].name);
    EXPECT_EQ(made->nodes[i].sources, given.nodes[i].sources);
    expect_equal(made->nodes[i].problem, given.nodes[i].problem);
  }
  ASSERT_EQ(made->tensors.size(), given.tensors.size());
  for (std::size_t i = 0; i < given.tensors.size(); ++i) {
    EXPECT_EQ(made->tensors[i].name, given.tensors[i].name);
    EXPECT_EQ(made->tensors[i].dims, given.tensors[i].dims);
    EXPECT_EQ(made->tensors[i].role, given.tensors[i].role);
  }
  ASSERT_EQ(made->parameter_places.size(), given.parameter_places.size());
  EXPECT_EQ(made->parameter_places.back().node, given.parameter_places.back().node);
}

TEST(ReadProblemTest, KeepsInputsAndOutputsOfAGraph) {
  const Network given =
      op_test::make(op_test::attention_network(), Fusion::fused, DataType::f32, 2);
  const CNetwork view(given);
  const auto made = read_network(*view.get());
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->outputs, given.outputs);
  EXPECT_EQ(made->input_count(), 2u);
  for (std::size_t i = 0; i < given.nodes.size(); ++i) {
    EXPECT_EQ(made->nodes[i].sources, given.nodes[i].sources);
  }
  Network wrong = given;
  wrong.nodes[0].sources[0] = from_input(2);  // there are two
  EXPECT_THAT(read_network(*CNetwork(wrong).get()).error().what, HasSubstr("`query`"));
  wrong = given;
  wrong.outputs[1] = from_node(99);
  EXPECT_THAT(read_network(*CNetwork(wrong).get()).error().what, HasSubstr("with other tensors"));
  // Hosts of earlier versions have one output, that of the last node.
  const Network single = network();
  const CNetwork single_view(single);
  bench_network older = *single_view.get();
  older.size = offsetof(bench_network, outputs);
  EXPECT_EQ(read_network(older)->outputs, single.outputs);
}

TEST(ReadProblemTest, RefusesNetworksThatContradictThemselves) {
  Network wrong = network();
  wrong.nodes[1].sources[0] = from_node(3);  // a later node
  EXPECT_THAT(read_network(*CNetwork(wrong).get()).error().what, HasSubstr("`norm`"));
  wrong = network();
  wrong.nodes[0].sources.pop_back();
  EXPECT_THAT(read_network(*CNetwork(wrong).get()).error().what, HasSubstr("`conv`"));
  wrong = network();
  wrong.parameter_places[0].node = 9;
  EXPECT_THAT(read_network(*CNetwork(wrong).get()).error().what, HasSubstr("belongs to no node"));
  wrong = network();
  wrong.tensors.pop_back();
  EXPECT_THAT(read_network(*CNetwork(wrong).get()).error().what, HasSubstr("with other tensors"));
}

}  // namespace
}  // namespace bench::ops
