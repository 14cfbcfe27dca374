// SPDX-License-Identifier: Apache-2.0
// Tests training and gradients of layer_norm and rms_norm. The forward pass is tested with each
// operator.
#include "ops/normalisation.hpp"

#include "ops/framework_operator.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;

Problem random_norm(Random& random) {
  const bool has_mean = draw(random, 0, 1) == 1;
  const Operator& op = *find_operator(has_mean ? "layer_norm" : "rms_norm");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 3)));
  for (std::int64_t& size : shape) size = draw(random, 1, 4);
  set.set("shape", shape);
  set.set("axis", draw(random, 0, static_cast<std::int64_t>(shape.size()) - 1));
  set.set("epsilon", 0.125);
  if (draw(random, 0, 1) == 1) set.set("scale", false);
  if (has_mean && draw(random, 0, 1) == 1) set.set("shift", false);
  if (draw(random, 0, 2) == 1) set.set("mode", std::string("training"));
  constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                       Direction::backward_weights};
  Result<Problem> made = make_problem({.op = &op,
                                       .direction = kDirections[draw(random, 0, 2)],
                                       .dtype = DataType::bf16,
                                       .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

struct Group {
  double mean = 0, root = 0;  // root: variance, or the mean square
};

// Evaluates the norm directly: the destination and each group's statistics.
struct Evaluation {
  std::vector<double> destination;
  std::vector<Group> groups;
};

struct NormValues {
  std::size_t size = 1;
  bool has_mean = true;
  double epsilon = 0;
  std::vector<double> source, scale, shift;  // empty: missing

  Evaluation evaluate() const {
    Evaluation result;
    for (std::size_t first = 0; first < source.size(); first += size) {
      Group group;
      double square = 0;
      for (std::size_t k = 0; k < size; ++k) {
        group.mean += source[first + k] / static_cast<double>(size);
        square += source[first + k] * source[first + k] / static_cast<double>(size);
      }
      if (!has_mean) group.mean = 0;
      group.root = square - group.mean * group.mean;
      for (std::size_t k = 0; k < size; ++k) {
        double value = (source[first + k] - group.mean) / std::sqrt(group.root + epsilon);
        if (!scale.empty()) value *= scale[k];
        if (!shift.empty()) value += shift[k];
        result.destination.push_back(value);
      }
      result.groups.push_back(group);
    }
    return result;
  }
  // The sum of the destination's elements, weighted with their gradients.
  double loss(const std::vector<double>& gradients) const {
    const std::vector<double> destination = evaluate().destination;
    double sum = 0;
    for (std::size_t i = 0; i < destination.size(); ++i) sum += destination[i] * gradients[i];
    return sum;
  }
};

std::string root_name(const Problem& problem) {
  return problem.op->name == "layer_norm" ? "variance" : "mean_square";
}

// Random inputs by name, with the statistics of the source.
struct Case {
  NormValues values;
  std::vector<std::vector<double>> inputs;
  std::map<std::string, std::size_t> numbers;  // of inputs

  Case(const Problem& problem, std::uint64_t seed) : inputs(op_test::random_inputs(problem, seed)) {
    for (std::size_t i = 0; i < inputs.size(); ++i) numbers[problem.tensors[i].name] = i;
    const auto value = [&](const char* name) {
      return numbers.contains(name) ? inputs[numbers[name]] : std::vector<double>();
    };
    values.has_mean = problem.op->name == "layer_norm";
    values.epsilon = problem.parameters.real("epsilon");
    const Dims& shape = problem.parameters.numbers("shape");
    const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
    for (std::size_t d = axis; d < shape.size(); ++d) {
      values.size *= static_cast<std::size_t>(shape[d]);
    }
    values.source = value("source");
    values.scale = value("scale");
    values.shift = value("shift");
    const std::vector<Group> groups = values.evaluate().groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (numbers.contains("mean")) inputs[numbers["mean"]][g] = groups[g].mean;
      if (numbers.contains(root_name(problem))) {
        inputs[numbers[root_name(problem)]][g] = groups[g].root;
      }
    }
  }
};

// Central differences of the loss by one element.
double difference(NormValues values, std::vector<double> NormValues::*tensor, std::size_t index,
                  const std::vector<double>& gradients) {
  constexpr double kStep = 1e-5;
  double& element = (values.*tensor)[index];
  const double old = element;
  element = old + kStep;
  const double above = values.loss(gradients);
  element = old - kStep;
  return (above - values.loss(gradients)) / (2 * kStep);
}

// Checks some elements of an output against differences.
void expect_gradient(const Problem& problem, Case& norm, std::size_t output, Random& random) {
  const Tensor& tensor = problem.tensors[problem.input_count() + output];
  const std::vector<double>& gradients = norm.inputs[norm.numbers["diff_destination"]];
  const std::vector<double> got = built_in_reference(problem, norm.inputs, output, {});
  NormValues values = norm.values;
  const std::map<std::string, std::vector<double> NormValues::*> by = {
      {"diff_source", &NormValues::source},
      {"diff_scale", &NormValues::scale},
      {"diff_shift", &NormValues::shift}};
  if (tensor.name == "diff_shift") values.shift.assign(values.size, 0.5);
  for (int i = 0; i < 2; ++i) {
    const auto index =
        static_cast<std::size_t>(draw(random, 0, static_cast<std::int64_t>(got.size()) - 1));
    EXPECT_NEAR(got[index], difference(values, by.at(tensor.name), index, gradients), 1e-7)
        << tensor.name;
  }
}

std::int64_t expected_flops(const Problem& problem) {
  const std::int64_t scale = problem.parameters.flag("scale") ? 1 : 0;
  const bool has_mean = problem.op->name == "layer_norm";
  const std::int64_t shift = has_mean && problem.parameters.flag("shift") ? 1 : 0;
  if (problem.direction == Direction::forward) return (has_mean ? 6 : 3) + scale + shift;
  const std::int64_t data = (has_mean ? 9 : 6) + scale;
  return problem.direction == Direction::backward_data ? data : data + 2 * scale + shift;
}

TEST(NormGradients, EqualDifferencesAndTheWorkIsThatOfEachElement) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_norm(random);
    Case norm(problem, random());
    const std::size_t outputs = problem.output_count();
    if (problem.direction != Direction::forward) {
      for (std::size_t output = 0; output < outputs; ++output) {
        expect_gradient(problem, norm, output, random);
      }
    } else {
      const Evaluation want = norm.values.evaluate();
      for (std::size_t output = 1; output < outputs; ++output) {
        const auto got = built_in_reference(problem, norm.inputs, output, {});
        const bool is_mean = problem.tensors[problem.input_count() + output].name == "mean";
        ASSERT_EQ(got.size(), want.groups.size());
        for (std::size_t g = 0; g < got.size(); ++g) {
          EXPECT_NEAR(got[g], is_mean ? want.groups[g].mean : want.groups[g].root, 1e-12);
        }
      }
    }
    const auto elements = static_cast<std::int64_t>(norm.values.source.size());
    ASSERT_EQ(problem.work.flops, expected_flops(problem) * elements) << problem_tokens(problem);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(NormGradients, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_norm, 2, 3000);
}

std::vector<std::string> tensor_names(const char* op, const char* tokens, Direction direction) {
  std::vector<std::string> names;
  for (const Tensor& tensor : op_test::problem(op, tokens, DataType::f32, direction).tensors) {
    names.push_back(tensor.name);
  }
  return names;
}

TEST(NormGradients, TensorsOfEachDirection) {
  EXPECT_THAT(tensor_names("layer_norm", "training-4x8", Direction::forward),
              ElementsAre("source", "scale", "shift", "destination", "mean", "variance"));
  EXPECT_THAT(
      tensor_names("layer_norm", "4x8", Direction::backward_data),
      ElementsAre("source", "mean", "variance", "scale", "diff_destination", "diff_source"));
  EXPECT_THAT(tensor_names("layer_norm", "4x8", Direction::backward_weights),
              ElementsAre("source", "mean", "variance", "scale", "diff_destination", "diff_source",
                          "diff_scale", "diff_shift"));
  EXPECT_THAT(
      tensor_names("layer_norm", "4x8+noscale", Direction::backward_weights),
      ElementsAre("source", "mean", "variance", "diff_destination", "diff_source", "diff_shift"));
  EXPECT_THAT(tensor_names("rms_norm", "training-4x8", Direction::forward),
              ElementsAre("source", "scale", "destination", "mean_square"));
  EXPECT_THAT(tensor_names("rms_norm", "4x8", Direction::backward_weights),
              ElementsAre("source", "mean_square", "scale", "diff_destination", "diff_source",
                          "diff_scale"));
}

// x = (1, -1), of mean 0 and variance 1 without epsilon's share: dx = g - mean(g) - x*mean(g*x).
TEST(NormGradients, GoldenValues) {
  const Problem layer =
      op_test::problem("layer_norm", "1x2-eps1e-30", DataType::f32, Direction::backward_weights);
  const std::vector<std::vector<double>> inputs = {{1, -1}, {0}, {1}, {2, 3}, {5, 7}};
  // g = (10, 21): 10 - 15.5 + 5.5 = 0, as two elements always give.
  EXPECT_THAT(built_in_reference(layer, inputs, 0, {}), ElementsAre(0, 0));
  EXPECT_THAT(built_in_reference(layer, inputs, 1, {}), ElementsAre(5, -7));
  EXPECT_THAT(built_in_reference(layer, inputs, 2, {}), ElementsAre(5, 7));
  const Problem rms =
      op_test::problem("rms_norm", "1x2-eps1e-30", DataType::f32, Direction::backward_weights);
  const std::vector<std::vector<double>> squares = {{1, -1}, {1}, {2, 3}, {5, 7}};
  // g*x = (10, -21), of mean -5.5: 10 + 5.5, 21 - 5.5.
  EXPECT_THAT(built_in_reference(rms, squares, 0, {}), ElementsAre(15.5, 15.5));
  EXPECT_THAT(built_in_reference(rms, squares, 1, {}), ElementsAre(5, -7));
}

TEST(NormGradients, ExactWork) {
  const Problem problem =
      op_test::problem("layer_norm", "16x768", DataType::f32, Direction::backward_weights);
  EXPECT_EQ(problem.work.flops, 13 * 16 * 768);
  // source, gradient, statistics, scale -> gradients
  op_test::expect_bytes(problem, 4 * (3 * 16 * 768 + 2 * 16 + 3 * 768));
}

TEST(NormGradients, CallsOfPyTorchHaveWork) {
  const auto work = [](const char* name, const std::vector<FrameworkRange::Shape>& inputs) {
    return compute_framework_work({.name = name, .inputs = &inputs}, std::nullopt);
  };
  // (grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
  const char* layer = "aten::native_layer_norm_backward";
  EXPECT_EQ(work(layer, {{16, 768}, {16, 768}, {}, {16, 1}, {16, 1}, {768}, {768}, {}})->flops,
            13 * 16 * 768);
  EXPECT_EQ(work(layer, {{16, 768}, {16, 768}, {}, {16, 1}, {16, 1}, {}, {}, {}})->flops,
            9 * 16 * 768);
  EXPECT_FALSE(work(layer, {{16, 768}, {16, 7}, {}, {16, 1}, {16, 1}, {768}, {768}, {}}));
  EXPECT_EQ(
      work("aten::_fused_rms_norm_backward", {{16, 768}, {16, 768}, {}, {16, 1}, {768}, {}})->flops,
      9 * 16 * 768);
  EXPECT_EQ(work("aten::_fused_rms_norm", {{16, 768}, {}, {768}, {}})->flops, 4 * 16 * 768);
  EXPECT_EQ(work("aten::_softmax_backward_data", {{16, 768}, {16, 768}, {}, {}})->flops,
            4 * 16 * 768);
  EXPECT_EQ(work("aten::_log_softmax_backward_data", {{16, 768}, {16, 768}, {}, {}})->flops,
            3 * 16 * 768);
}

}  // namespace
}  // namespace bench::ops
