// SPDX-License-Identifier: Apache-2.0
// Tests training and gradients: the reference against a direct evaluation and its differences, the
// work against a walk over the elements, and the functions of other programs.
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/framework_operator.hpp"
#include "ops/model.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Direction kAllDirections[] = {Direction::forward, Direction::backward_data,
                                        Direction::backward_weights};

// Training in any direction, or gradients with given statistics.
Problem random_batch_norm(Random& random) {
  const Operator& op = *find_operator("batch_norm");
  const Direction direction = kAllDirections[draw(random, 0, 2)];
  const bool is_training = direction == Direction::forward || draw(random, 0, 2) != 0;
  ParameterSet set(op.parameters);
  set.set("mode", std::string(is_training ? "training" : "inference"));
  set.set("n", draw(random, 1, 3));
  set.set("c", draw(random, 1, 4));
  constexpr std::string_view kSizes[] = {"d", "h", "w"};
  for (auto i = static_cast<std::size_t>(draw(random, 0, 2)); i < 3; ++i) {
    set.set(kSizes[i], draw(random, 1, 3));
  }
  set.set("epsilon", 0.125);
  for (const char* name : {"scale", "shift"}) {
    if (draw(random, 0, 2) == 0) set.set(name, false);
  }
  Result<Problem> made =
      make_problem({.op = &op, .direction = direction, .dtype = DataType::bf16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// A batch norm that is evaluated directly, over coordinates.
struct DirectNorm {
  std::size_t images = 1, channels = 1, plane = 1;
  double epsilon = 0;
  bool computes_statistics = true;
  std::vector<double> source, mean, variance, scale, shift;  // scale and shift: empty if missing

  std::size_t at(std::size_t n, std::size_t c, std::size_t s) const {
    return (n * channels + c) * plane + s;
  }
  // The statistics by the mean of squares, as no kernel computes them.
  void compute_statistics() {
    const auto size = static_cast<double>(images * plane);
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0, squares = 0;
      for (std::size_t n = 0; n < images; ++n) {
        for (std::size_t s = 0; s < plane; ++s) {
          sum += source[at(n, c, s)];
          squares += source[at(n, c, s)] * source[at(n, c, s)];
        }
      }
      mean[c] = sum / size;
      variance[c] = squares / size - mean[c] * mean[c];
    }
  }
  std::vector<double> destination() {
    if (computes_statistics) compute_statistics();
    std::vector<double> result(source.size());
    for (std::size_t n = 0; n < images; ++n) {
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t s = 0; s < plane; ++s) {
          double value = (source[at(n, c, s)] - mean[c]) / std::sqrt(variance[c] + epsilon);
          if (!scale.empty()) value *= scale[c];
          if (!shift.empty()) value += shift[c];
          result[at(n, c, s)] = value;
        }
      }
    }
    return result;
  }
  // The sum of the destination's elements, weighted with their gradients.
  double loss(const std::vector<double>& gradients) {
    const std::vector<double> values = destination();
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * gradients[i];
    return sum;
  }
};

// Random inputs of a problem, whose statistics are those of the source in training, and the same
// norm as values.
struct DirectCase {
  std::vector<std::vector<double>> inputs;
  std::map<std::string, std::size_t> numbers;  // of inputs
  DirectNorm norm;
  Random random;

  DirectCase(const Problem& problem, std::uint64_t seed)
      : inputs(op_test::random_inputs(problem, seed)), random(seed) {
    const Dims& image = problem.tensors[0].dims;
    norm.images = static_cast<std::size_t>(image[0]);
    norm.channels = static_cast<std::size_t>(image[1]);
    for (std::size_t i = 2; i < image.size(); ++i) norm.plane *= static_cast<std::size_t>(image[i]);
    norm.epsilon = problem.parameters.real("epsilon");
    norm.computes_statistics = problem.parameters.word("mode") == "training";
    for (std::size_t i = 0; i < inputs.size(); ++i) numbers[problem.tensors[i].name] = i;
    norm.source = value("source", norm.images * norm.channels * norm.plane);
    norm.mean = value("mean", norm.channels);
    norm.variance = value("variance", norm.channels);
    if (numbers.contains("scale")) norm.scale = inputs[numbers["scale"]];
    if (numbers.contains("shift")) norm.shift = inputs[numbers["shift"]];
    if (!norm.computes_statistics) return;
    norm.compute_statistics();
    if (numbers.contains("mean")) inputs[numbers["mean"]] = norm.mean;
    if (numbers.contains("variance")) inputs[numbers["variance"]] = norm.variance;
  }
  // The input, or random values in the place of one on which the results do not depend.
  std::vector<double> value(const char* name, std::size_t elements) {
    if (numbers.contains(name)) return inputs[numbers[name]];
    std::vector<double> values(elements);
    for (double& element : values) element = std::uniform_real_distribution(0.5, 1.5)(random);
    return values;
  }
};

// Central differences of the loss by one element.
double difference(DirectNorm norm, std::vector<double> DirectNorm::*tensor, std::size_t index,
                  const std::vector<double>& gradients) {
  constexpr double kStep = 1e-5;
  const double old = (norm.*tensor)[index];
  (norm.*tensor)[index] = old + kStep;
  const double above = norm.loss(gradients);
  (norm.*tensor)[index] = old - kStep;
  return (above - norm.loss(gradients)) / (2 * kStep);
}

// Checks some elements of a gradient against differences.
void expect_difference(const Problem& problem, DirectCase& direct, std::size_t output,
                       Random& random) {
  static const std::map<std::string, std::vector<double> DirectNorm::*> kTensors = {
      {"diff_source", &DirectNorm::source},
      {"diff_scale", &DirectNorm::scale},
      {"diff_shift", &DirectNorm::shift}};
  const std::string& name = problem.tensors[problem.input_count() + output].name;
  const std::vector<double>& gradients = direct.inputs[direct.numbers["diff_destination"]];
  const std::vector<double> got = built_in_reference(problem, direct.inputs, output, {});
  DirectNorm norm = direct.norm;
  if (name == "diff_shift") norm.shift.assign(norm.channels, 0.5);
  ASSERT_EQ(got.size(), (norm.*kTensors.at(name)).size());
  for (int i = 0; i < 2; ++i) {
    const auto index =
        static_cast<std::size_t>(draw(random, 0, static_cast<std::int64_t>(got.size()) - 1));
    EXPECT_NEAR(got[index], difference(norm, kTensors.at(name), index, gradients), 1e-7) << name;
  }
}

// What a walk over the elements does: FLOPs per element, and tensors of images and channels.
struct DirectWork {
  std::int64_t flops = 0, images = 0, channels = 0;
};

DirectWork walk(const Problem& problem) {
  const bool has_scale = problem.parameters.flag("scale");
  const bool has_shift = problem.parameters.flag("shift");
  const std::int64_t scale = has_scale ? 1 : 0, shift = has_shift ? 1 : 0;
  const bool is_training = problem.parameters.word("mode") == "training";
  if (problem.direction == Direction::forward) {
    // sum; difference, square, sum; difference, quotient. Source and destination; coefficients and
    // two statistics.
    return {1 + 3 + 2 + scale + shift, 2, scale + shift + 2};
  }
  const bool gives_all = problem.direction == Direction::backward_weights;
  const std::int64_t given = gives_all ? scale + shift : 0;
  if (is_training) {
    // x; product and sum, sum; product, two differences, quotient; scale. Source, gradient, result.
    return {2 + 3 + 4 + scale, 3, 2 + scale + given};
  }
  if (gives_all && has_scale) return {1 + 1 + 2 + 2 + shift, 3, 3 + given};
  return {1 + scale + given, 2, 1 + scale + given};
}

TEST(BatchNormTraining, EqualsADirectEvaluationAndItsDifferences) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_batch_norm(random);
    DirectCase direct(problem, random());
    const std::size_t outputs = problem.output_count();
    if (problem.direction != Direction::forward) {
      for (std::size_t output = 0; output < outputs; ++output) {
        expect_difference(problem, direct, output, random);
      }
    } else {
      const std::vector<double> want[] = {direct.norm.destination(), direct.norm.mean,
                                          direct.norm.variance};
      ASSERT_EQ(outputs, std::size(want));
      for (std::size_t output = 0; output < outputs; ++output) {
        const auto got = built_in_reference(problem, direct.inputs, output, {});
        ASSERT_EQ(got.size(), want[output].size());
        for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[output][k], 1e-9);
      }
    }
    const DirectWork work = walk(problem);
    const auto elements =
        static_cast<std::int64_t>(direct.norm.images * direct.norm.channels * direct.norm.plane);
    ASSERT_EQ(problem.work.flops, work.flops * elements) << problem_tokens(problem);
    op_test::expect_bytes(problem,
                          2 * work.images * elements +
                              4 * work.channels * static_cast<std::int64_t>(direct.norm.channels));
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(BatchNormTraining, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_batch_norm, 2, 3000);
}

std::vector<std::string> names_of(const char* tokens, Direction direction) {
  std::vector<std::string> names;
  for (const Tensor& tensor :
       op_test::problem("batch_norm", tokens, DataType::f16, direction).tensors) {
    names.push_back(tensor.name);
  }
  return names;
}

TEST(BatchNormTraining, TensorsOfEachDirection) {
  EXPECT_THAT(names_of("training-c8h4", Direction::forward),
              ElementsAre("source", "scale", "shift", "destination", "mean", "variance"));
  EXPECT_THAT(
      names_of("training-c8h4", Direction::backward_data),
      ElementsAre("source", "diff_destination", "mean", "variance", "scale", "diff_source"));
  EXPECT_THAT(names_of("training-c8h4", Direction::backward_weights),
              ElementsAre("source", "diff_destination", "mean", "variance", "scale", "diff_source",
                          "diff_scale", "diff_shift"));
  EXPECT_THAT(
      names_of("training-c8h4+noscale", Direction::backward_weights),
      ElementsAre("source", "diff_destination", "mean", "variance", "diff_source", "diff_shift"));
  EXPECT_THAT(names_of("c8h4", Direction::backward_data),
              ElementsAre("diff_destination", "variance", "scale", "diff_source"));
  EXPECT_THAT(names_of("c8h4", Direction::backward_weights),
              ElementsAre("source", "diff_destination", "mean", "variance", "scale", "diff_source",
                          "diff_scale", "diff_shift"));
  EXPECT_THAT(names_of("c8h4+noscale", Direction::backward_weights),
              ElementsAre("diff_destination", "variance", "diff_source", "diff_shift"));
  // Those of the batch are not parameters. They are f32, as all statistics.
  const Problem gradient =
      op_test::problem("batch_norm", "training-c8h4", DataType::f16, Direction::backward_weights);
  EXPECT_EQ(gradient.tensors[2].role, TensorRole::input);
  EXPECT_EQ(gradient.tensors[3].dtype, DataType::f32);
  EXPECT_EQ(gradient.tensors[4].role, TensorRole::weights);
}

// x = (1, -1) of two images: mean 0, variance 1 without epsilon's share.
TEST(BatchNormTraining, GoldenValues) {
  const Problem forward = op_test::problem("batch_norm", "training-n2c1w1eps1e-30");
  const std::vector<std::vector<double>> inputs = {{5, 3}, {2}, {10}};
  EXPECT_THAT(built_in_reference(forward, inputs, 0, {}), ElementsAre(12, 8));
  EXPECT_THAT(built_in_reference(forward, inputs, 1, {}), ElementsAre(4));
  EXPECT_THAT(built_in_reference(forward, inputs, 2, {}), ElementsAre(1));
  // Three elements: x = (1, 0, -1)*sqrt(3/2), of mean 0. dy = (6, 0, 0): mean 2, mean(x*dy) =
  // 2*sqrt(3/2). diff_source = 2/sqrt(2/3)*(6 - 2 - 3, -2, -2 + 3).
  const Problem gradient = op_test::problem("batch_norm", "training-n3c1w1eps1e-30", DataType::f32,
                                            Direction::backward_weights);
  const std::vector<std::vector<double>> values = {{1, 0, -1}, {6, 0, 0}, {0}, {2.0 / 3}, {2}};
  const double factor = 2 / std::sqrt(2.0 / 3);
  EXPECT_THAT(
      built_in_reference(gradient, values, 0, {}),
      ElementsAre(::testing::DoubleNear(factor, 1e-12), ::testing::DoubleNear(-2 * factor, 1e-12),
                  ::testing::DoubleNear(factor, 1e-12)));
  EXPECT_THAT(built_in_reference(gradient, values, 1, {}),
              ElementsAre(::testing::DoubleNear(6 * std::sqrt(1.5), 1e-12)));
  EXPECT_THAT(built_in_reference(gradient, values, 2, {}), ElementsAre(6));
  // With given statistics, only the factor remains.
  const Problem given =
      op_test::problem("batch_norm", "n3c1w1eps1e-30", DataType::f32, Direction::backward_data);
  const std::vector<std::vector<double>> factors = {{6, 0, 1}, {4}, {2}};
  EXPECT_THAT(built_in_reference(given, factors, 0, {}), ElementsAre(6, 0, 1));
}

// In a difference of squares, the square of the mean would hide the variance.
TEST(BatchNormTraining, ALargeMeanDoesNotHideTheVariance) {
  const Problem problem = op_test::problem("batch_norm", "training-n2c1w1eps1e-30+noscale+noshift");
  const std::vector<std::vector<double>> inputs = {{1e9, 1e9 + 2}};
  EXPECT_THAT(built_in_reference(problem, inputs, 0, {}), ElementsAre(-1, 1));
}

std::vector<std::string> formulas_of(const Problem& problem) {
  std::vector<std::string> texts;
  for (const Formula& formula : problem.formulas) {
    texts.push_back(fmt::format("{} = {} = {} = {}", formula.name, formula.expression,
                                formula.values, formula.result));
  }
  return texts;
}

// The golden values of PyProf's example: compulsory bytes are two passes and the parameters, the
// kernels need three passes.
TEST(BatchNormTraining, ExactWorkOfPyProfsExample) {
  const Problem forward = op_test::problem("batch_norm", "training-n32c64h112", DataType::f16);
  EXPECT_EQ(forward.work.flops, 205'520'896);
  op_test::expect_bytes(forward, 102'760'448 + 4 * 64 * 4);
  EXPECT_THAT(formulas_of(forward),
              ::testing::Contains("minimum_traffic_bytes = 3*elements*2 = 3*25690112*2 = "
                                  "154140672"));
  EXPECT_THAT(formulas_of(forward),
              ::testing::Contains("flops = 8*elements = 8*25690112 = 205520896"));
  const Problem backward = op_test::problem("batch_norm", "training-n32c64h112", DataType::f16,
                                            Direction::backward_weights);
  EXPECT_EQ(backward.work.flops, 10 * 25'690'112);
  op_test::expect_bytes(backward, 3 * 51'380'224 + 5 * 64 * 4);
  EXPECT_THAT(formulas_of(backward), ::testing::Contains(HasSubstr("= 5*25690112*2 = ")));
  EXPECT_THAT(formulas_of(op_test::problem("batch_norm", "n32c64h112", DataType::f16)),
              ::testing::Not(::testing::Contains(HasSubstr("minimum_traffic"))));
}

// Results are of order 1; a tolerance of that order would accept anything. The gradients of scale
// and shift are sums, of the order of the root of their terms.
TEST(BatchNormTraining, ToleranceIsFarBelowTheResults) {
  const auto tolerance = [](const char* tokens, DataType dtype, Direction direction) {
    const Problem problem = op_test::problem("batch_norm", tokens, dtype, direction);
    return problem.op->tolerance(problem).absolute;
  };
  EXPECT_LT(tolerance("training-n32c64h56", DataType::f32, Direction::forward), 1e-3);
  EXPECT_LT(tolerance("training-n32c64h56", DataType::bf16, Direction::forward), 0.02);
  EXPECT_LT(tolerance("training-n32c64h56", DataType::f32, Direction::backward_data), 1e-3);
  const double root = std::sqrt(32.0 * 56 * 56);
  EXPECT_LT(tolerance("training-n32c64h56", DataType::f32, Direction::backward_weights),
            1e-3 * root);
  EXPECT_LT(tolerance("training-n2c64h9", DataType::f32, Direction::backward_weights), 1e-3);
  EXPECT_LT(tolerance("training-n2c64h4", DataType::f32, Direction::forward), 1e-2);
}

TEST(BatchNormTraining, UndefinedCombinationsAreNamed) {
  const auto refusal = [](const char* tokens, DataType dtype, Direction direction) {
    return op_test::try_problem("batch_norm", tokens, dtype, direction).error();
  };
  for (const Direction direction : kAllDirections) {
    const Error error = refusal("training-c8h4", DataType::s8, direction);
    EXPECT_EQ(error.where, "dtype");
    EXPECT_THAT(error.what, HasSubstr("not defined for integers"));
  }
  EXPECT_EQ(refusal("c8h4", DataType::s8, Direction::backward_data).where, "dtype");
  EXPECT_TRUE(op_test::try_problem("batch_norm", "c8h4", DataType::s8).ok());
}

TEST(BatchNormTraining, DoesNotJoinAConvolution) {
  const Operator& op = *find_operator("batch_norm");
  EXPECT_TRUE(op.joining.join(op_test::problem("batch_norm", "c8h4")));
  EXPECT_FALSE(op.joining.join(op_test::problem("batch_norm", "training-c8h4")));
  EXPECT_FALSE(op.joining.join(
      op_test::problem("batch_norm", "c8h4", DataType::f32, Direction::backward_data)));
  // Without scale and shift, the factor is that of the variance alone.
  const Problem plain = op_test::problem("batch_norm", "c2h1eps1e-30+noscale+noshift");
  const std::vector<std::vector<double>> values = {{}, {3, 5}, {4, 16}};
  const auto affine = op.joining.affine(plain, values);
  ASSERT_EQ(affine.size(), 2u);
  EXPECT_EQ(affine[1].centre, 5);
  EXPECT_EQ(affine[1].factor, 0.25);
  EXPECT_EQ(affine[1].shift, 0);
}

std::string call_work(const char* name, const std::vector<FrameworkRange::Shape>& inputs) {
  const auto work = compute_framework_work({.name = name, .inputs = &inputs}, std::nullopt);
  return work ? fmt::format("{} {}", work->op, work->flops) : "n/a";
}

TEST(BatchNormTraining, CallsOfPyTorchHaveWork) {
  const std::vector<std::int64_t> image = {2, 8, 4, 4};  // 256 elements
  // (input, weight, bias, running_mean, running_var, training, momentum, eps): without running
  // statistics, it trains.
  for (const char* name : {"aten::batch_norm", "aten::native_batch_norm", "aten::cudnn_batch_norm",
                           "aten::_batch_norm_impl_index", "aten::_native_batch_norm_legit"}) {
    EXPECT_EQ(call_work(name, {image, {8}, {8}, {}, {}, {}, {}, {}}), "batch_norm 2048") << name;
    EXPECT_EQ(call_work(name, {image, {}, {}, {}, {}, {}, {}, {}}), "batch_norm 1536");
    EXPECT_EQ(call_work(name, {image, {8}, {8}, {8}, {8}, {}, {}, {}}), "n/a");
    EXPECT_EQ(call_work(name, {image, {7}, {7}, {}, {}, {}, {}, {}}), "n/a");
  }
  EXPECT_EQ(call_work("aten::_batch_norm_with_update", {image, {8}, {8}, {8}, {8}, {}, {}}),
            "batch_norm 2048");
  EXPECT_EQ(call_work("aten::native_batch_norm", {{16, 8}, {8}, {8}, {}, {}, {}, {}, {}}),
            "batch_norm 1024");
  // (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask)
  const char* backward = "aten::native_batch_norm_backward";
  EXPECT_EQ(call_work(backward, {image, image, {8}, {8}, {8}, {8}, {8}, {}, {}, {}}),
            "batch_norm 2560");
  EXPECT_EQ(call_work(backward, {image, image, {}, {8}, {8}, {8}, {8}, {}, {}, {}}),
            "batch_norm 2304");
  // Without saved statistics, it does not train.
  EXPECT_EQ(call_work(backward, {image, image, {8}, {8}, {8}, {}, {}, {}, {}, {}}), "n/a");
  EXPECT_EQ(call_work(backward, {{2, 8, 4, 5}, image, {8}, {8}, {8}, {8}, {8}, {}, {}, {}}), "n/a");
  // (input, grad_output, weight, running_mean, running_var, save_mean, save_var, eps, reserve)
  EXPECT_EQ(
      call_work("aten::cudnn_batch_norm_backward", {image, image, {8}, {8}, {8}, {8}, {8}, {}, {}}),
      "batch_norm 2560");
}

}  // namespace
}  // namespace bench::ops
