// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/c_problem.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/operator.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace bench::ops {
namespace {

TEST(PluginCodesTest, AreTheEnumeratorsOfThisProgram) {
  EXPECT_EQ(BENCH_FORWARD, static_cast<int>(Direction::forward));
  EXPECT_EQ(BENCH_BACKWARD_DATA, static_cast<int>(Direction::backward_data));
  EXPECT_EQ(BENCH_BACKWARD_WEIGHTS, static_cast<int>(Direction::backward_weights));
  EXPECT_EQ(BENCH_LAYOUT_NHWC, static_cast<int>(Layout::nhwc));
  EXPECT_EQ(BENCH_MATH_TF32, static_cast<int>(Math::tf32));
  EXPECT_EQ(BENCH_MATH_FAST_ACCUMULATION, static_cast<int>(Math::fast_accumulation));
  EXPECT_EQ(BENCH_F64, static_cast<int>(DataType::f64));
  EXPECT_EQ(BENCH_F32, static_cast<int>(DataType::f32));
  EXPECT_EQ(BENCH_F16, static_cast<int>(DataType::f16));
  EXPECT_EQ(BENCH_BF16, static_cast<int>(DataType::bf16));
  EXPECT_EQ(BENCH_S32, static_cast<int>(DataType::s32));
  EXPECT_EQ(BENCH_S8, static_cast<int>(DataType::s8));
  EXPECT_EQ(BENCH_U8, static_cast<int>(DataType::u8));
  EXPECT_EQ(BENCH_F8_E4M3, static_cast<int>(DataType::f8_e4m3));
  EXPECT_EQ(BENCH_F8_E5M2, static_cast<int>(DataType::f8_e5m2));
  EXPECT_EQ(BENCH_ROLE_OUTPUT, static_cast<int>(TensorRole::output));
  EXPECT_EQ(BENCH_ROLE_WEIGHTS, static_cast<int>(BufferRole::weights));
  EXPECT_EQ(BENCH_ROLE_OUTPUT, static_cast<int>(BufferRole::output));
  EXPECT_EQ(BENCH_CACHES_COLD_WEIGHTS, static_cast<int>(CacheState::cold_weights));
  EXPECT_EQ(BENCH_SAMPLE_ANY, static_cast<int>(SampleMethod::any));
  EXPECT_EQ(BENCH_SAMPLE_STREAM, static_cast<int>(SampleMethod::stream));
  EXPECT_EQ(BENCH_SAMPLE_GRAPH, static_cast<int>(SampleMethod::graph));
  EXPECT_EQ(BENCH_COUNT, static_cast<int>(ParameterKind::count));
  EXPECT_EQ(BENCH_FLAG, static_cast<int>(ParameterKind::flag));
  EXPECT_EQ(BENCH_WORD, static_cast<int>(ParameterKind::word));
  EXPECT_EQ(BENCH_REAL, static_cast<int>(ParameterKind::real));
  EXPECT_EQ(BENCH_SPATIAL, static_cast<int>(ParameterKind::spatial));
  EXPECT_EQ(BENCH_PADDING, static_cast<int>(ParameterKind::padding));
  EXPECT_EQ(BENCH_SHAPE, static_cast<int>(ParameterKind::shape));
}

Problem conv() {
  const Operator& op = *find_operator("conv");
  const auto tokens = parse_problem_tokens(op, "n2c4h8w8k6r3s3p0_1+bias+relu");
  return make_problem({.op = &op, .parameters = tokens->parameters, .post_ops = tokens->post_ops})
      .value();
}

const bench_value& value(const bench_problem& problem, std::string_view name) {
  for (std::size_t i = 0; i < problem.value_count; ++i) {
    if (problem.values[i]->name == name) return *problem.values[i];
  }
  ADD_FAILURE() << name;
  return *problem.values[0];
}

TEST(CProblemTest, SaysEverythingOfAProblem) {
  const Problem problem = conv();
  const CProblem view(problem);
  const bench_problem& raw = *view.get();
  EXPECT_EQ(std::string_view(raw.op), "conv");
  EXPECT_EQ(std::string_view(raw.tokens), problem_tokens(problem));
  EXPECT_EQ(value(raw, "c").integer, 4);
  EXPECT_EQ(value(raw, "bias").integer, 1);
  EXPECT_EQ(value(raw, "d").present, 0);
  const bench_value& pad = value(raw, "pad");
  EXPECT_EQ(std::vector<std::int64_t>(pad.numbers, pad.numbers + pad.number_count),
            (std::vector<std::int64_t>{0, 1, 0, 1}));
  ASSERT_EQ(raw.tensor_count, problem.tensors.size());
  EXPECT_EQ(raw.input_count, problem.input_count());
  EXPECT_EQ(std::string_view(raw.tensors[1]->name), "weights");
  EXPECT_EQ(raw.tensors[1]->role, BENCH_ROLE_WEIGHTS);
  EXPECT_EQ(raw.tensors[1]->rank, 4U);
  ASSERT_EQ(raw.post_op_count, 1U);
  EXPECT_EQ(std::string_view(raw.post_ops[0]->function), "relu");
  EXPECT_EQ(raw.work->flops, problem.work.flops);
  EXPECT_EQ(raw.work->has_macs, 1);
}

bench_request request(const char* op, const char* tokens) {
  return {sizeof(bench_request), op,    BENCH_BACKWARD_DATA, BENCH_F32, BENCH_LAYOUT_NHWC,
          BENCH_MATH_TF32,       tokens};
}

TEST(ReadProblemTest, MakesTheProblemThatIsRequested) {
  const auto made = read_problem(request("pool", "max-n2c4h7w7r3u2p1"));
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->op, find_operator("pool"));
  EXPECT_EQ(made->direction, Direction::backward_data);
  EXPECT_EQ(made->dtype, DataType::f32);
  EXPECT_EQ(made->layout, Layout::nhwc);
  EXPECT_EQ(made->math, Math::tf32);
  EXPECT_EQ(problem_tokens(*made), "max-n2c4h7w7r3u2p1");
  bench_request with_post_op = request("conv", "n2c8h6w5k16r3s3+bias+relu");
  with_post_op.direction = BENCH_FORWARD;
  EXPECT_EQ(read_problem(with_post_op)->post_ops.size(), 1U);
}

TEST(ReadProblemTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(read_problem(request("scale_shift", "")).error().what,
            "no built-in operator `scale_shift`");
  bench_request other = request("pool", "max-n2c4h7w7r3u2p1");
  other.dtype = 99;
  EXPECT_EQ(read_problem(other).error().what, "a request for `pool` with a code out of range");
  EXPECT_FALSE(read_problem(request("conv", "n2c8h6w5")).ok());
}

}  // namespace
}  // namespace bench::ops
