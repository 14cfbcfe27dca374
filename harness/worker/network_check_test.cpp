// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/network_check.hpp"

#include "ops/network/test_support.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bench {
namespace {

using ops::op_test::layer;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Values = std::vector<std::vector<double>>;

// A deep network of steep layers is chaotic: each layer makes a difference of its inputs a few
// times larger, and so a rounding changes the results and gradients a lot.
ops::NetworkDefinition sensitive_network() {
  ops::NetworkDefinition definition{.name = "sensitive", .input = {32}, .layers = {}};
  std::string source = "input";
  for (int i = 0; i < 15; ++i) {
    const std::string number = std::to_string(i);
    definition.layers.push_back(layer("fc" + number, "gemm", "n32", {source}));
    definition.layers.push_back(
        layer("steep" + number, "pointwise", "scale-alpha10", {"fc" + number}));
    source = "tanh" + number;
    definition.layers.push_back(layer(source, "pointwise", "tanh", {"steep" + number}));
  }
  return definition;
}

class NetworkCheckTest : public testing::Test {
 protected:
  explicit NetworkCheckTest(ops::Mode mode = ops::Mode::training) {
    const auto network =
        ops::make_network(sensitive_network(), 6, DataType::f32, mode, ops::Fusion::separate);
    EXPECT_TRUE(network.ok()) << network.error().message();
    pair_ = {*network, *network, *network};
  }

  // Returns the outputs for the inputs of the check, each moved to a neighbouring f32 or not.
  Values compute(double rounding) {
    Values inputs = input_values(pair_, kSeed);
    std::size_t count = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (info(pair_.network.tensors[i].dtype).is_integer) continue;
      for (double& value : inputs[i])
        value = round_to(DataType::f32, value * (1 + (++count % 3 == 0 ? rounding : -rounding)));
    }
    return test::compute_network(pair_.network)(inputs);
  }

  Result<NetworkCheck, ErrorReply> check(const Values& values) {
    std::vector<std::vector<float>> stored;
    std::vector<PlainOutput> outputs;
    for (const std::vector<double>& output : values)
      stored.emplace_back(output.begin(), output.end());
    for (const ops::Tensor& tensor : pair_.network.tensors) {
      if (tensor.role != ops::TensorRole::output) continue;
      outputs.push_back(
          {&tensor, reinterpret_cast<const std::byte*>(stored[outputs.size()].data())});
    }
    test::FakeBackend backend([](Nanoseconds) {},
                              [](const std::string&) { return test::FakeScript(); });
    test::FakeClock clock;
    CheckRequest request;
    request.seed = kSeed;
    auto result = check_against_twin(backend, pair_, outputs, request, clock);
    creations_ = backend.creations();
    return result;
  }

  static constexpr std::uint64_t kSeed = 7;
  NetworkPair pair_;
  std::int64_t creations_ = 0;
};

class InferenceCheckTest : public NetworkCheckTest {
 protected:
  InferenceCheckTest() : NetworkCheckTest(ops::Mode::inference) {}
};

// A step of ResNet-50 counted as a wrong result: another order of its sums changed the gradient of
// the first weights by 1 %.
TEST_F(NetworkCheckTest, AStepMayDifferByWhatARoundingOfItsInputsChanges) {
  const Values exact = compute(0), moved = compute(info(DataType::f32).epsilon);
  double excess = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double usual = network_tolerance(pair_.network, exact[i]).absolute;
    for (std::size_t j = 0; j < exact[i].size(); ++j)
      excess = std::max(excess, std::abs(moved[i][j] - exact[i][j]) / usual);
  }
  EXPECT_GT(excess, 2) << "the network is not sensitive, so this test shows nothing";

  const auto accepted = check(moved);
  ASSERT_TRUE(accepted.ok()) << accepted.error().reason;
  EXPECT_THAT(accepted->text, StartsWith("against the step in plain layouts, "));
  EXPECT_EQ(accepted->tolerances.size(), exact.size());
}

TEST_F(NetworkCheckTest, AWrongGradientIsAWrongResult) {
  Values values = compute(0);
  ASSERT_TRUE(check(values).ok());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Values wrong = values;
    for (double& value : wrong[i]) value = value * 0.5;
    const auto refused = check(wrong);
    ASSERT_FALSE(refused.ok()) << i;
    EXPECT_EQ(refused.error().outcome, Outcome::wrong_result);
    EXPECT_THAT(refused.error().reason, HasSubstr("compared elements are wrong"));
  }
}

TEST_F(NetworkCheckTest, AFewElementsOfAStepMayBeBeyondTheTolerance) {
  Values values = compute(0);
  values.back().front() += 100;
  const auto accepted = check(values);
  ASSERT_TRUE(accepted.ok()) << accepted.error().reason;
  EXPECT_THAT(accepted->text, HasSubstr("; 1 beyond it"));
  EXPECT_EQ(permitted_beyond(pair_.network, 10), 1);
  EXPECT_EQ(permitted_beyond(pair_.network, 1000), 20);
}

TEST_F(InferenceCheckTest, TheTwinRunsOnceAndNoElementMayBeBeyondTheTolerance) {
  Values values = compute(0);
  const auto accepted = check(values);
  ASSERT_TRUE(accepted.ok()) << accepted.error().reason;
  EXPECT_THAT(accepted->tolerances, IsEmpty());
  EXPECT_EQ(creations_, 2) << "PreparedKernel creates each kernel twice";
  values.back().front() += 1;
  EXPECT_FALSE(check(values).ok());
  EXPECT_EQ(permitted_beyond(pair_.network, 1000), 0);
}

}  // namespace
}  // namespace bench
