// SPDX-License-Identifier: Apache-2.0
#include "ops/instance_norm/instance_norm.hpp"

#include "ops/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops {
namespace {

// The tensors of both have the same sizes and random values, so the results must be equal.
TEST(InstanceNorm, IsAGroupNormOfSingleChannels) {
  for (const Direction direction :
       {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
    for (const char* rest : {"n2c6h3w2", "c4w5+noscale", "n3c2d2h3w4+noshift"}) {
      const std::string tokens = rest;
      const std::size_t end =
          tokens.find('+') == std::string::npos ? tokens.size() : tokens.find('+');
      const std::string groups = "g" + tokens.substr(tokens.find('c') + 1, 1);
      const std::string grouped = tokens.substr(0, end) + groups + tokens.substr(end);
      const Problem instance = op_test::problem("instance_norm", tokens, DataType::f64, direction);
      const Problem group = op_test::problem("group_norm", grouped, DataType::f64, direction);
      EXPECT_EQ(instance.work, group.work) << tokens;
      const auto inputs = op_test::random_inputs(instance, 3);
      for (std::size_t output = 0; output < instance.output_count(); ++output) {
        EXPECT_EQ(built_in_reference(instance, inputs, output, {}),
                  built_in_reference(group, inputs, output, {}))
            << tokens << " " << output;
      }
    }
  }
}

TEST(InstanceNorm, WorkIsExact) {
  const Problem problem = op_test::problem("instance_norm", "n2c32h56");
  EXPECT_EQ(problem.work.flops, 8 * 2 * 32 * 56 * 56);
  op_test::expect_bytes(problem, 4 * (2 * 2 * 32 * 56 * 56 + 2 * 32));
}

}  // namespace
}  // namespace bench::ops
