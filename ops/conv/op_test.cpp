// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/conv.hpp"
#include "ops/conv/conv_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench::ops::op_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const Problem& problem) {
  std::vector<std::string> names;
  for (const Tensor& tensor : problem.tensors) names.push_back(tensor.name);
  return names;
}

TEST(Conv, TensorsOfEachDirection) {
  const char* tokens = "n2g2c4h8w6k6r3s3u2p1+bias";
  const Problem forward = problem("conv", tokens);
  EXPECT_THAT(names(forward), ElementsAre("source", "weights", "bias", "destination"));
  EXPECT_EQ(forward.tensors[0].dims, (Dims{2, 4, 8, 6}));
  EXPECT_EQ(forward.tensors[1].dims, (Dims{2, 3, 2, 3, 3}));
  EXPECT_EQ(forward.tensors[2].dims, (Dims{6}));
  EXPECT_EQ(forward.tensors[3].dims, (Dims{2, 6, 4, 3}));
  EXPECT_EQ(forward.input_count(), 3u);
  EXPECT_THAT(names(problem("conv", tokens, DataType::f32, Direction::backward_data)),
              ElementsAre("diff_destination", "weights", "diff_source"));
  EXPECT_THAT(names(problem("conv", tokens, DataType::f32, Direction::backward_weights)),
              ElementsAre("source", "diff_destination", "diff_weights", "diff_bias"));
}

TEST(Conv, WeightsHaveNoGroupDimensionWithoutGroups) {
  EXPECT_EQ(problem("conv", "c4d5h5w5k6t1r2s3").tensors[1].dims, (Dims{6, 4, 1, 2, 3}));
  EXPECT_EQ(problem("conv", "c4w5k6s3").tensors[1].dims, (Dims{6, 4, 3}));
}

TEST(Conv, TransposedHasOutputChannelsFirst) {
  const Problem conv = problem("conv", "c4h5w5k6r3s3u2o1+transposed");
  EXPECT_EQ(conv.tensors[1].dims, (Dims{6, 4, 3, 3}));
  EXPECT_EQ(conv.tensors.back().dims, (Dims{1, 6, 12, 12}));
}

TEST(Conv, DataTypesOfOperands) {
  const auto types_of = [](DataType dtype) {
    std::vector<DataType> types;
    for (const Tensor& tensor : problem("conv", "c1w1k1s1+bias", dtype).tensors) {
      types.push_back(tensor.dtype);
    }
    return types;
  };
  using enum DataType;
  EXPECT_THAT(types_of(f32), ElementsAre(f32, f32, f32, f32));
  EXPECT_THAT(types_of(f64), ElementsAre(f64, f64, f64, f64));
  EXPECT_THAT(types_of(bf16), ElementsAre(bf16, bf16, f32, bf16));
  EXPECT_THAT(types_of(s8), ElementsAre(s8, s8, f32, s32));
  EXPECT_THAT(types_of(u8), ElementsAre(u8, s8, f32, s32));
}

TEST(Conv, CompletesSizesByRank) {
  EXPECT_EQ(problem_tokens(problem("conv", "c64h56k64r3p1")), "c64h56w56k64r3s3p1");
  EXPECT_EQ(problem_tokens(problem("conv", "c64w56k64s3p1")), "c64w56k64s3p1");
  EXPECT_EQ(problem_tokens(problem("conv", "c2d4k2t3")), "c2d4h4w4k2t3r3s3");
}

TEST(Conv, CanonicalText) {
  const auto canonical = [](const char* text) { return problem_tokens(problem("conv", text)); };
  EXPECT_EQ(canonical("p1s3r3k64w56h56c64n1"), "c64h56w56k64r3s3p1");
  EXPECT_EQ(canonical("n32g1c64h56w56k64r3s3u1p1x1e1o0"), "n32c64h56w56k64r3s3p1");
  EXPECT_EQ(canonical("c64h56w56k64r3s3p0_1x0_1"), "c64h56w56k64r3s3p0_1");
  EXPECT_EQ(canonical("c64h56w56k64r3s3u2x1p0_1x1"), "c64h56w56k64r3s3u2x1p0_1x1");
  EXPECT_EQ(canonical("c64h5w5k64r3s3+add+transposed+relu+bias"),
            "c64h5w5k64r3s3+bias+transposed+add+relu");
}

TEST(Conv, TextOfRandomProblemsRoundTrips) {
  Random random(4);
  const char* post_ops[] = {"relu", "add", "leaky_relu0.1", "clip-1_1", "swish", "elu1e-05"};
  for (int i = 0; i < 10'000; ++i) {
    Problem conv = random_conv(
        random, {.images = 64, .groups = 8, .channels = 512, .size = 500, .kernel = 11});
    for (std::int64_t j = draw(random, 0, 2); j > 0; --j) {
      if (conv.direction != Direction::forward) break;
      conv.post_ops.push_back(*parse_post_op(post_ops[draw(random, 0, 5)]));
    }
    expect_round_trip(conv);
    if (HasFatalFailure()) return;
  }
}

struct Refused {
  const char* tokens;
  const char* where;
  const char* what;
};

TEST(Conv, ImpossibleShapesNameTheParameter) {
  const Refused rows[] = {
      {"h5w5k4r3s3", "c", "`c` is missing"},
      {"c4h5w5r3s3", "k", "`k` is missing"},
      {"c4k4s3", "h", "no spatial size"},
      {"c4h5k4", "r", "`r` is missing"},
      {"c4w5k4r3", "r", "does not belong"},
      {"c4h5k4t3r3", "t", "does not belong"},
      {"g3c4h5k6r3", "g", "does not divide `c`"},
      {"g2c4h5k5r3", "g", "does not divide `k`"},
      {"c4h5k4r7", "h", "empty"},
      {"c4h5w7k4r7s1", "h", "empty"},
      {"c4h9k4r3p1x1x1", "pad", "3 entries, expected 1 or 2"},
      {"c4h9k4r3u2x2x2", "stride", "3 entries"},
      {"c4h9k4r3o1", "output_pad", "transposed"},
      {"c4h9k4r3u2o2+transposed", "output_pad", "less than stride"},
      {"c4h1k4r1p1+transposed", "h", "empty"},
      {"c4h2k1r3e9000000000000000000p1", "h", "2^63"},
  };
  for (const Refused& row : rows) {
    const Result<Problem> result = try_problem("conv", row.tokens);
    ASSERT_FALSE(result.ok()) << row.tokens;
    EXPECT_EQ(result.error().where, row.where) << row.tokens;
    EXPECT_THAT(result.error().what, HasSubstr(row.what)) << row.tokens;
  }
}

TEST(Conv, FormulasShowTheirValues) {
  const Problem conv = problem("conv", "n32c64h56w56k64r3s3p1+bias");
  const auto find = [&](std::string_view name) {
    const auto row = std::ranges::find(conv.formulas, name, &Formula::name);
    EXPECT_NE(row, conv.formulas.end()) << name;
    return *row;
  };
  EXPECT_EQ(find("P").expression, "floor((H + pt + pb - e*(R-1) - 1)/u) + 1");
  EXPECT_EQ(find("P").values, "floor((56 + 1 + 1 - 1*(3-1) - 1)/1) + 1");
  EXPECT_EQ(find("P").result, 56);
  EXPECT_EQ(find("Q").expression, "floor((W + pl + pr - e*(S-1) - 1)/u) + 1");
  EXPECT_EQ(find("flops").expression, "2*N*K*(C/g)*P*Q*R*S + N*K*P*Q");
  EXPECT_EQ(find("flops").values, "2*32*64*(64/1)*56*56*3*3 + 32*64*56*56");
  EXPECT_EQ(find("flops").result, conv.work.flops);
  EXPECT_EQ(find("Vh").values, "#{i < 56, j < 3: 0 <= i*1 - 1 + j*1 < 56}");
  EXPECT_EQ(find("Vh").result, 166);
  EXPECT_EQ(find("flops_valid").values, "2*32*64*(64/1)*166*166 + 32*64*56*56");
  EXPECT_EQ(find("bytes").result, conv.work.traffic().count);
}

TEST(Conv, FormulasOfATransposedOne) {
  const Problem conv = problem("conv", "c8d3h4w5k4t2r3s3u2p1x1x0o1+transposed");
  const auto find = [&](std::string_view name) {
    return *std::ranges::find(conv.formulas, name, &Formula::name);
  };
  EXPECT_EQ(find("O").values, "(3-1)*2 - 1 - 1 + 1*(2-1) + 1 + 1");
  EXPECT_EQ(find("O").result, 5);
  EXPECT_EQ(find("flops").expression, "2*N*K*(C/g)*D*H*W*T*R*S");
  EXPECT_EQ(find("flops").result, 2 * 4 * 8 * 3 * 4 * 5 * 2 * 3 * 3);
}

}  // namespace
}  // namespace bench::ops::op_test
