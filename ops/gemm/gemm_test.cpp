// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm.hpp"

#include "ops/model.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::op_test {
namespace {

using ::testing::HasSubstr;

constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};

Problem random_gemm(Random& random, std::int64_t largest,
                    Direction direction = Direction::forward) {
  ParameterSet set(gemm_operator.parameters);
  const std::int64_t shared = draw(random, 1, 2);
  const std::int64_t batch = shared * draw(random, 1, 2);
  set.set("batch", batch);
  const char* const sharing[] = {"source_batch", "weights_batch"};
  if (draw(random, 0, 1) == 1) set.set(sharing[draw(random, 0, 1)], shared);
  for (const char* name : {"m", "n", "k"}) set.set(name, draw(random, 1, largest));
  for (const char* name : {"trans_a", "trans_b", "bias"}) set.set(name, draw(random, 0, 1) == 1);
  return make_problem({.op = &gemm_operator, .direction = direction, .parameters = set}).value();
}

// The loop nest of the forward product, from the parameters. Calls visit(source, weights,
// destination) with flat indexes for each multiply-accumulate.
template <class Visit>
void for_each_product(const Problem& problem, Visit visit) {
  const ParameterSet& p = problem.parameters;
  const std::int64_t batch = p.count("batch"), rows = p.count("m"), columns = p.count("n"),
                     depth = p.count("k");
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t source = b * p.count("source_batch") / batch * rows * depth;
    const std::int64_t weights = b * p.count("weights_batch") / batch * depth * columns;
    for (std::int64_t m = 0; m < rows; ++m) {
      for (std::int64_t n = 0; n < columns; ++n) {
        for (std::int64_t k = 0; k < depth; ++k) {
          const std::int64_t a = p.flag("trans_a") ? k * rows + m : m * depth + k;
          const std::int64_t w = p.flag("trans_b") ? n * depth + k : k * columns + n;
          visit(static_cast<std::size_t>(source + a), static_cast<std::size_t>(weights + w),
                static_cast<std::size_t>((b * rows + m) * columns + n));
        }
      }
    }
  }
}

TEST(GemmWork, EqualsALoopNest) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Problem gemm = random_gemm(random, 7, kDirections[i % 3]);
    const bool has_bias =
        gemm.parameters.flag("bias") && gemm.direction != Direction::backward_data;
    std::int64_t macs = 0;
    std::set<std::size_t> source, weights, destination;
    for_each_product(gemm, [&](std::size_t a, std::size_t b, std::size_t c) {
      ++macs;
      source.insert(a);
      weights.insert(b);
      destination.insert(c);
    });
    const auto outputs = static_cast<std::int64_t>(destination.size());
    const std::int64_t flops = 2 * macs + (has_bias ? outputs : 0);
    ASSERT_EQ(gemm.work.macs, macs) << problem_tokens(gemm);
    ASSERT_EQ(gemm.work.flops, flops);
    ASSERT_EQ(gemm.work.flops_valid, flops);
    const auto sizes = std::array{source.size(), weights.size(), destination.size()};
    const std::int64_t bias = has_bias ? gemm.parameters.count("n") : 0;
    const std::size_t output = std::array{2, 0, 1}[static_cast<std::size_t>(gemm.direction)];
    const auto written = static_cast<std::int64_t>(sizes[output]);
    const auto all = static_cast<std::int64_t>(sizes[0] + sizes[1] + sizes[2]);
    const bool writes_bias = gemm.direction == Direction::backward_weights;
    ASSERT_EQ(gemm.work.bytes_read, 4 * (all - written + (writes_bias ? 0 : bias)));
    ASSERT_EQ(gemm.work.bytes_written, 4 * (written + (writes_bias ? bias : 0)));
  }
}

TEST(GemmWork, PublishedValues) {
  const Problem linear = problem("gemm", "m1024n64k512", DataType::f16);
  EXPECT_EQ(linear.work.flops, 67'108'864);
  EXPECT_EQ(linear.work.traffic().count, 1'245'184);
  const Problem batched = problem("gemm", "b128m128n128k64", DataType::f16);
  EXPECT_EQ(batched.work.flops, 268'435'456);
  EXPECT_EQ(batched.work.traffic().count, 8'388'608);
}

// Computes an output of the problem by the loop nest of the forward product.
std::vector<double> loop_nest(const Problem& gemm, const std::vector<std::vector<double>>& inputs,
                              std::size_t output) {
  const auto& tensor = gemm.tensors[gemm.input_count() + output];
  std::vector<double> want(static_cast<std::size_t>(tensor.elements()));
  const auto columns = static_cast<std::size_t>(gemm.parameters.count("n"));
  if (output == 1) {
    for (std::size_t j = 0; j < inputs[1].size(); ++j) want[j % columns] += inputs[1][j];
    return want;
  }
  for_each_product(gemm, [&](std::size_t a, std::size_t b, std::size_t c) {
    switch (gemm.direction) {
      case Direction::forward:
        want[c] += inputs[0][a] * inputs[1][b];
        break;
      case Direction::backward_data:
        want[a] += inputs[0][c] * inputs[1][b];
        break;
      case Direction::backward_weights:
        want[b] += inputs[0][a] * inputs[1][c];
        break;
    }
  });
  const bool adds_bias = gemm.direction == Direction::forward && gemm.parameters.flag("bias");
  for (std::size_t j = 0; j < want.size() && adds_bias; ++j) want[j] += inputs[2][j % columns];
  return want;
}

TEST(GemmReference, AgreesWithALoopNest) {
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    const Problem gemm = random_gemm(random, 13, kDirections[i % 3]);
    SCOPED_TRACE(problem_tokens(gemm));
    const auto inputs = random_inputs(gemm, random());
    for (std::size_t output = 0; gemm.input_count() + output < gemm.tensors.size(); ++output) {
      const std::vector<double> want = loop_nest(gemm, inputs, output);
      std::vector<std::int64_t> positions(want.size());
      std::iota(positions.begin(), positions.end(), std::int64_t{0});
      const std::vector<double> whole = reference_gemm(gemm, inputs, output, {});
      const std::vector<double> single = reference_gemm(gemm, inputs, output, positions);
      ASSERT_EQ(whole.size(), want.size());
      for (std::size_t j = 0; j < want.size(); ++j) {
        ASSERT_NEAR(whole[j], want[j], 1e-13) << j;
        ASSERT_NEAR(single[j], want[j], 1e-13) << j;
      }
    }
  }
}

// The sum of all products of the forward result with a given gradient.
double loss(const Problem& forward, const std::vector<std::vector<double>>& inputs,
            const std::vector<double>& gradient) {
  const std::vector<double> result = reference_gemm(forward, inputs, 0, {});
  return std::inner_product(result.begin(), result.end(), gradient.begin(), 0.0);
}

TEST(GemmReference, GradientsAreFiniteDifferences) {
  constexpr double kStep = 0.5;  // the product is linear in each operand, so any step is exact
  for (const char* tokens : {"m3n4k5+bias", "m3n4k5+ta+tb+bias", "b6wb2m3n2k4+tb", "b4sb1m2n3k2+ta",
                             "b4wb1m2n3k2+ta+bias", "b3m2n3k4+ta"}) {
    SCOPED_TRACE(tokens);
    const Problem forward = problem("gemm", tokens, DataType::f64);
    const Problem data = problem("gemm", tokens, DataType::f64, Direction::backward_data);
    const Problem weights = problem("gemm", tokens, DataType::f64, Direction::backward_weights);
    auto inputs = random_inputs(forward, 5);
    const std::vector<double> gradient = random_inputs(data, 6)[0];
    const std::vector<std::vector<double>> data_inputs = {gradient, inputs[1]};
    const std::vector<std::vector<double>> weights_inputs = {inputs[0], gradient};
    std::vector<std::vector<double>> gradients = {reference_gemm(data, data_inputs, 0, {}),
                                                  reference_gemm(weights, weights_inputs, 0, {})};
    if (inputs.size() > 2) gradients.push_back(reference_gemm(weights, weights_inputs, 1, {}));
    const double before = loss(forward, inputs, gradient);
    for (std::size_t tensor = 0; tensor < inputs.size(); ++tensor) {
      ASSERT_EQ(gradients[tensor].size(), inputs[tensor].size());
      for (std::size_t i = 0; i < inputs[tensor].size(); ++i) {
        inputs[tensor][i] += kStep;
        EXPECT_NEAR((loss(forward, inputs, gradient) - before) / kStep, gradients[tensor][i],
                    1e-12);
        inputs[tensor][i] -= kStep;
      }
    }
  }
}

// A matrix that several products share is read once.
TEST(GemmWork, CountsASharedMatrixOnce) {
  const Problem shared = problem("gemm", "b8wb2m3n4k5");
  EXPECT_EQ(shared.tensors[1].dims, (Dims{2, 5, 4}));
  EXPECT_EQ(shared.work.macs, 8 * 3 * 4 * 5);
  expect_bytes(shared, 4 * (8 * 3 * 5 + 2 * 5 * 4 + 8 * 3 * 4));
  EXPECT_EQ(problem("gemm", "b8sb1m3n4k5").tensors[0].dims, (Dims{1, 3, 5}));
  EXPECT_EQ(problem_tokens(problem("gemm", "b8sb8wb8m3n4k5")), "b8m3n4k5");
}

TEST(Gemm, TensorsFollowStorageAndBatch) {
  const Problem plain = problem("gemm", "m2n3k4+bias");
  EXPECT_EQ(plain.tensors[0].dims, (Dims{2, 4}));
  EXPECT_EQ(plain.tensors[1].dims, (Dims{4, 3}));
  EXPECT_EQ(plain.tensors[1].role, TensorRole::weights);
  EXPECT_EQ(plain.tensors[2].dims, (Dims{3}));
  EXPECT_EQ(plain.tensors[3].dims, (Dims{2, 3}));
  const Problem stored = problem("gemm", "b5m2n3k4+ta+tb");
  EXPECT_EQ(stored.tensors[0].dims, (Dims{5, 4, 2}));
  EXPECT_EQ(stored.tensors[1].dims, (Dims{5, 3, 4}));
  EXPECT_EQ(stored.tensors[2].dims, (Dims{5, 2, 3}));
  EXPECT_EQ(problem("gemm", "m2n3k4", DataType::u8).tensors[2].dtype, DataType::s32);
}

TEST(Gemm, GradientsHaveTheTensorsOfTheForwardProduct) {
  const auto names = [](Direction direction) {
    std::string text;
    for (const Tensor& tensor :
         problem("gemm", "m2n3k4+ta+tb+bias", DataType::bf16, direction).tensors) {
      text += fmt::format("{} {} {}, ", tensor.name, fmt::join(tensor.dims, "x"),
                          info(tensor.dtype).name);
    }
    return text;
  };
  EXPECT_EQ(names(Direction::backward_data),
            "diff_destination 2x3 bf16, weights 3x4 bf16, diff_source 4x2 bf16, ");
  EXPECT_EQ(names(Direction::backward_weights),
            "source 4x2 bf16, diff_destination 2x3 bf16, diff_weights 3x4 bf16, diff_bias 3 f32, ");
}

TEST(Gemm, TextRoundTrips) {
  EXPECT_EQ(problem_tokens(problem("inner_product", "k4n3m2b1+bias+tb+relu")),
            "m2n3k4+tb+bias+relu");
  Random random(3);
  for (int i = 0; i < 10'000; ++i) {
    expect_round_trip(random_gemm(random, 1'000'000, kDirections[i % 3]));
    if (HasFatalFailure()) return;
  }
}

TEST(Gemm, ErrorsNameTheParameter) {
  const auto where = [](const char* tokens) {
    const Result<Problem> result = try_problem("gemm", tokens);
    return result.ok() ? "accepted" : result.error().where;
  };
  EXPECT_EQ(where("n2k2"), "m");
  EXPECT_EQ(where("m2k2"), "n");
  EXPECT_EQ(where("m2n2"), "k");
  EXPECT_EQ(where("m4000000000n2k4000000000"), "k");
  EXPECT_EQ(where("b6sb4m2n2k2"), "source_batch");
  EXPECT_EQ(where("b6wb4m2n2k2"), "weights_batch");
  EXPECT_EQ(where("b6sb2wb3m2n2k2"), "weights_batch");
  EXPECT_EQ(where("m2000000000n2000000000k2"), "n");
  EXPECT_EQ(where("m100000000n100000000k2000000"), "k");
  EXPECT_EQ(where("m100000000n100000000k2000"), "k");
}

// The reference of quantised products against integers and long double, with the rounding and the
// saturation of the result.
TEST(GemmReference, OfQuantisedProductsAgreesWithIntegers) {
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const char* const flags[] = {"", "+ss_tensor", "+ws_tensor", "+ws_channel",
                                 "+ss_tensor+ws_channel"};
    const char* const types[] = {"", "+dst_s8", "+dst_u8", "+dst_f32", "+dst_bf16"};
    const std::string tokens =
        fmt::format("m{}n{}k{}{}{}{}{}{}", draw(random, 1, 9), draw(random, 1, 9),
                    draw(random, 1, 40), draw(random, 0, 1) == 1 ? "+tb" : "",
                    draw(random, 0, 1) == 1 ? "+bias" : "", flags[draw(random, 0, 4)],
                    draw(random, 0, 1) == 1 ? "+szp" : "", types[draw(random, 0, 4)]);
    SCOPED_TRACE(tokens);
    const Problem gemm =
        problem("gemm", tokens, draw(random, 0, 1) == 1 ? DataType::s8 : DataType::u8);
    expect_round_trip(gemm);
    const auto inputs = random_inputs(gemm, random());
    const auto values = [&](std::string_view name) -> std::vector<double> {
      const auto found = std::ranges::find(gemm.tensors, name, &Tensor::name);
      return found == gemm.tensors.end()
                 ? std::vector<double>{}
                 : inputs[static_cast<std::size_t>(found - gemm.tensors.begin())];
    };
    const auto at = [](const std::vector<double>& list, std::size_t column, double otherwise) {
      return list.empty() ? otherwise : list[list.size() == 1 ? 0 : column];
    };
    const auto zero_point = static_cast<std::int64_t>(at(values("src_zero_point"), 0, 0));
    const std::size_t size = static_cast<std::size_t>(gemm.tensors.back().elements());
    std::vector<std::int64_t> sums(size);
    for_each_product(gemm, [&](std::size_t a, std::size_t b, std::size_t c) {
      sums[c] += (static_cast<std::int64_t>(inputs[0][a]) - zero_point) *
                 static_cast<std::int64_t>(inputs[1][b]);
    });
    const DataType dtype = gemm.tensors.back().dtype;
    const std::vector<double> got = built_in_reference(gemm, inputs, 0, {});
    for (std::size_t j = 0; j < size; ++j) {
      const std::size_t column = j % static_cast<std::size_t>(gemm.parameters.count("n"));
      const double scaled = static_cast<double>(sums[j]) * (at(values("src_scale"), column, 1) *
                                                            at(values("weights_scale"), column, 1));
      const double want = scaled + at(values("bias"), column, 0);
      if (info(dtype).is_integer) {
        const double low = dtype == DataType::s8 ? -128 : dtype == DataType::u8 ? 0 : -0x1p31;
        const double high = dtype == DataType::s8 ? 127 : dtype == DataType::u8 ? 255 : 0x1p31 - 1;
        ASSERT_EQ(got[j], std::clamp(std::nearbyint(want), low, high)) << j;
      } else {
        ASSERT_EQ(got[j], want) << j;
      }
    }
  }
}

TEST(Gemm, QuantisationIsOfForwardProductsOfIntegers) {
  for (const char* flag : {"+ss_tensor", "+ws_channel", "+szp", "+dst_u8"}) {
    const std::string tokens = std::string("m2n3k4") + flag;
    EXPECT_TRUE(try_problem("gemm", tokens, DataType::s8).ok()) << flag;
    EXPECT_FALSE(try_problem("gemm", tokens, DataType::f32).ok()) << flag;
    EXPECT_FALSE(try_problem("gemm", tokens, DataType::s8, Direction::backward_data).ok()) << flag;
  }
  EXPECT_EQ(try_problem("gemm", "m2n3k4+ss_tensor").error().where, "src_scale");
  const Problem scaled = problem("gemm", "m2n3k4+bias+ss_tensor+ws_channel+dst_u8", DataType::u8);
  EXPECT_EQ(scaled.work.flops, 2 * 2 * 3 * 4 + 2 * 2 * 3);
  expect_bytes(scaled, 2 * 4 + 4 * 3 + 4 * 3 + 4 + 4 * 3 + 2 * 3);
}

TEST(Gemm, ExplainsWhichMatricesCanBeShared) {
  EXPECT_EQ(try_problem("gemm", "b6wb4m2n2k2").error().what,
            "`weights_batch` is 4, which does not divide the `batch` 6");
  EXPECT_EQ(try_problem("gemm", "b6sb2wb3m2n2k2").error().what,
            "`source_batch` is 2 and `weights_batch` is 3, but one of them must be the `batch`, 6");
}

TEST(Gemm, FormulasShowTheirValues) {
  const Problem gemm = problem("gemm", "b2m3n4k5+bias");
  const auto flops = std::ranges::find(gemm.formulas, "flops", &Formula::name);
  ASSERT_NE(flops, gemm.formulas.end());
  EXPECT_EQ(flops->expression, "2*B*M*N*K + B*M*N");
  EXPECT_EQ(flops->values, "2*2*3*4*5 + 2*3*4");
  EXPECT_EQ(flops->result, 264);
}

// Single precision is within the tolerance; a missing product is not.
TEST(GemmTolerance, HoldsForSinglePrecision) {
  const Problem gemm = problem("gemm", "m16n16k4096");
  const auto inputs = random_inputs(gemm, 4);
  const std::vector<double> want = reference_gemm(gemm, inputs, 0, {});
  std::vector<float> got(want.size());
  for_each_product(gemm, [&](std::size_t a, std::size_t b, std::size_t c) {
    got[c] += static_cast<float>(inputs[0][a]) * static_cast<float>(inputs[1][b]);
  });
  const Tolerance tolerance = gemm_tolerance(gemm);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<double>(got[i]) - want[i]),
              tolerance.absolute + tolerance.relative * std::abs(want[i]));
  }
  EXPECT_GT(0.25 / std::sqrt(4096.0), 10 * tolerance.absolute);
}

// Simulates a tensor core that keeps 13 bits after the leading one. It aligns the products of one
// instruction and the sum to the largest of them, truncates what is below, and adds.
double tensor_core_step(double sum, std::span<const double> products) {
  double largest = std::abs(sum);
  for (const double product : products) largest = std::max(largest, std::abs(product));
  if (largest == 0) return 0;
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 13);
  double units = std::trunc(sum / unit);
  for (const double product : products) units += std::trunc(product / unit);
  return units * unit;
}

// The error of fast accumulation of fp8 is within the tolerance for fast accumulation, and exceeds
// the tolerance for sums in f32.
TEST(GemmTolerance, HoldsForFastAccumulationOfFp8) {
  constexpr std::int64_t kDepth = 4096;
  constexpr std::size_t kInstruction = 32;  // products that one instruction adds per output
  Problem gemm = problem("gemm", "m16n16k4096+tb", DataType::f8_e4m3);
  const auto inputs = random_inputs(gemm, 4);
  const std::vector<double> want = reference_gemm(gemm, inputs, 0, {});
  // The tolerance for sums in f32. The subtracted part is the error of storing the output as fp8.
  const double tolerance_f32_sums =
      gemm_tolerance(gemm).absolute - smallest_positive(DataType::f8_e4m3);
  gemm.math = Math::fast_accumulation;
  const double tolerance_fast_sums = gemm_tolerance(gemm).absolute;
  std::vector<std::vector<double>> products(want.size());
  for_each_product(gemm, [&](std::size_t a, std::size_t b, std::size_t c) {
    products[c].push_back(inputs[0][a] * inputs[1][b]);
  });
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(products[i].size(), static_cast<std::size_t>(kDepth));
    double sum = 0;
    for (std::size_t first = 0; first < products[i].size(); first += kInstruction) {
      sum = tensor_core_step(sum, std::span(products[i]).subspan(first, kInstruction));
    }
    worst = std::max(worst, std::abs(sum - want[i]));
  }
  EXPECT_LT(worst, tolerance_fast_sums);
  EXPECT_GT(worst, tolerance_f32_sums);
}

}  // namespace
}  // namespace bench::ops::op_test
