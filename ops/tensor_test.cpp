// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor.hpp"

#include <gtest/gtest.h>

namespace bench::ops {
namespace {

constexpr std::int64_t kTwoTo31 = std::int64_t{1} << 31;

TEST(MakeTensor, CountsAllElementsAsTouched) {
  const Result<Tensor> tensor =
      make_tensor("source", TensorRole::input, DataType::f32, {{"n", 2}, {"c", 3}});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->dims, (Dims{2, 3}));
  EXPECT_EQ(tensor->touched, 6);
}

TEST(MakeTensor, NamesTheParameterThatIsTooLarge) {
  const Result<Tensor> elements = make_tensor("source", TensorRole::input, DataType::s8,
                                              {{"n", kTwoTo31}, {"c", kTwoTo31}, {"h", 2}});
  ASSERT_FALSE(elements.ok());
  EXPECT_EQ(elements.error().where, "h");
  // 2^62 elements can be counted, but not their bytes.
  const Result<Tensor> bytes = make_tensor("source", TensorRole::input, DataType::f32,
                                           {{"n", kTwoTo31}, {"c", kTwoTo31}, {"h", 1}});
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().where, "c");
}

TEST(InRange, RemembersAnOverflow) {
  EXPECT_EQ(*in_range(Checked(7) * 6, "flops", "k"), 42);
  const Result<std::int64_t> overflow = in_range(Checked(kTwoTo31) * kTwoTo31 * 2, "flops", "k");
  ASSERT_FALSE(overflow.ok());
  EXPECT_EQ(overflow.error().message(), "k: the count of flops is beyond 2^63 - 1");
}

TEST(CountBytes, SplitsReadAndWritten) {
  const std::vector<Tensor> tensors = {{"source", TensorRole::input, DataType::f16, {10}, 4},
                                       {"bias", TensorRole::weights, DataType::f32, {2}, 2},
                                       {"destination", TensorRole::output, DataType::s8, {9}, 9}};
  Work work;
  ASSERT_TRUE(count_bytes(tensors, work).ok());
  EXPECT_EQ(work.bytes_read, 16);
  EXPECT_EQ(work.bytes_written, 9);
  const Formula formula = bytes_formula(tensors);
  EXPECT_EQ(formula.expression, "source*f16 + bias*f32 + destination*s8");
  EXPECT_EQ(formula.values, "4*2 + 2*4 + 9*1");
  EXPECT_EQ(formula.result, 25);
}

TEST(CountBytes, TheSumMayOverflowToo) {
  const Tensor half{
      "a", TensorRole::input, DataType::s8, {kTwoTo31, kTwoTo31}, kTwoTo31 * kTwoTo31};
  Work work;
  EXPECT_FALSE(count_bytes({half, half}, work).ok());
}

}  // namespace
}  // namespace bench::ops
