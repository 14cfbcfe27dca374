// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_operator.hpp"
#include "ops/test_support.hpp"
#include "ops/verbose.hpp"
#include "profiler/onednn/verbose_activity.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("layer_norm");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 6);
  set.set("shape", shape);
  if (draw(random, 0, 1) == 1) {
    set.set("axis", draw(random, 0, static_cast<std::int64_t>(shape.size()) - 1));
  }
  if (draw(random, 0, 1) == 1) set.set("epsilon", 0.125);
  for (const char* name : {"scale", "shift"}) {
    if (draw(random, 0, 1) == 1) set.set(name, draw(random, 0, 1) == 1);
  }
  Result<Problem> made =
      make_problem({.op = &op, .dtype = DataType::bf16, .parameters = set, .post_ops = {}});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Walks over the dimensions, not over flattened groups, and counts what it does.
TEST(LayerNorm, WorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const Dims& shape = problem.parameters.numbers("shape");
    const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
    std::size_t groups = 1, size = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      (d < axis ? groups : size) *= static_cast<std::size_t>(shape[d]);
    }
    const bool scale = problem.parameters.flag("scale");
    const bool shift = problem.parameters.flag("shift");
    std::int64_t flops = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      double sum = 0, squares = 0;
      for (std::size_t k = 0; k < size; ++k) {
        sum += inputs[0][g * size + k];
        squares += inputs[0][g * size + k] * inputs[0][g * size + k];
        flops += 4;  // sum; difference, square, sum: the variance by differences
      }
      const double mean = sum / static_cast<double>(size);
      const double variance = squares / static_cast<double>(size) - mean * mean;
      for (std::size_t k = 0; k < size; ++k) {
        double want = (inputs[0][g * size + k] - mean) /
                      std::sqrt(variance + problem.parameters.real("epsilon"));
        flops += 2;  // difference, quotient
        if (scale) want *= inputs[1][k], ++flops;
        if (shift) want += inputs[scale ? 2 : 1][k], ++flops;
        EXPECT_NEAR(result[g * size + k], want, 1e-9);
      }
    }
    const auto count = static_cast<std::int64_t>(groups * size);
    const auto parameters = static_cast<std::int64_t>(size) * ((scale ? 1 : 0) + (shift ? 1 : 0));
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_read, 2 * count + 4 * parameters) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_written, 2 * count);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(LayerNorm, TokensComeBack) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    op_test::expect_round_trip(random_problem(random));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(LayerNorm, PositionsAgreeWithTheWhole) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    op_test::expect_positions_agree(random_problem(random), random);
    ASSERT_FALSE(HasFailure());
  }
}

// In a difference of squares, the square of the mean would hide the variance.
TEST(LayerNorm, ALargeMeanDoesNotHideTheVariance) {
  const Problem problem = op_test::problem("layer_norm", "1x2-eps1e-30+noscale+noshift");
  const std::vector<std::vector<double>> inputs = {{1e9, 1e9 + 2}};
  EXPECT_THAT(built_in_reference(problem, inputs, 0, {}), ::testing::ElementsAre(-1, 1));
}

TEST(LayerNorm, ExactWork) {
  const Problem problem = op_test::problem("layer_norm", "16x768");
  EXPECT_EQ(problem_tokens(problem), "16x768");
  EXPECT_EQ(problem.work.flops, 8 * 16 * 768);
  op_test::expect_bytes(problem, 4 * (2 * 16 * 768 + 2 * 768));
  const Problem images = op_test::problem("layer_norm", "2x3x4x5-a1+noscale");
  EXPECT_EQ(problem_tokens(images), "2x3x4x5-a1+noscale");
  EXPECT_EQ(images.work.flops, 7 * 120);
  EXPECT_THAT(images.tensors[1].dims, ::testing::ElementsAre(3, 4, 5));
}

// Results are of order 1; a tolerance of that order would accept anything.
TEST(LayerNorm, ToleranceIsFarBelowTheResults) {
  const auto tolerance = [](const char* tokens, DataType dtype) {
    const Problem problem = op_test::problem("layer_norm", tokens, dtype);
    return problem.op->tolerance(problem).absolute;
  };
  EXPECT_LT(tolerance("16x768", DataType::f32), 1e-4);
  EXPECT_LT(tolerance("16x768", DataType::bf16), 0.01);
  EXPECT_LT(tolerance("16x8", DataType::f32), 1e-2);
}

TEST(LayerNorm, UndefinedCombinationsAreNamed) {
  const auto where = [](const char* tokens, DataType dtype = DataType::f32,
                        Direction direction = Direction::forward) {
    return op_test::try_problem("layer_norm", tokens, dtype, direction).error().where;
  };
  EXPECT_EQ(where("2x3-a2"), "axis");
  EXPECT_THAT(op_test::try_problem("layer_norm", "2x3-eps0").error().what,
              ::testing::HasSubstr("`epsilon` is 0, expected a number above 0"));
  EXPECT_EQ(where("2x3", DataType::s8), "dtype");
  EXPECT_EQ(where("2x3", DataType::s8, Direction::backward_data), "dtype");
}

// "layer_norm/16x768/f32 98304 FLOP 104448 B": an execution in oneDNN's log.
std::string logged_work(std::string_view fields) {
  VerboseDecoder decoder;
  Activity activity;
  EXPECT_TRUE(fill_activity(
      decoder.decode(fmt::format("onednn_verbose,exec,cpu,layer_normalization,{},1", fields)),
      activity));
  const auto work = compute_work(activity);
  if (!work) return "n/a";
  return fmt::format("{}/{}/{} {} FLOP {} B", work->op, work->parameters, work->dtype, work->flops,
                     work->bytes.value_or(-1));
}

// Lines of oneDNN 3.2.
TEST(LayerNorm, LinesOfALogHaveWork) {
  const std::string tensors = "src_f32::blocked:ab::f0 dst_f32::blocked:ab::f0 ";
  EXPECT_EQ(logged_work("jit:uni,forward_inference," + tensors +
                        "stats_undef::undef:::,,flags:CH,"
                        "16x768"),
            "layer_norm/16x768/f32 98304 FLOP 104448 B");
  EXPECT_EQ(logged_work("jit:uni,forward_inference," + tensors +
                        "stats_undef::undef:::,,flags:,"
                        "2x8x64"),
            "layer_norm/2x8x64+noscale+noshift/f32 6144 FLOP 8192 B");
  // Given statistics are read, those of training are written: one mean and variance per group.
  EXPECT_EQ(logged_work("jit:uni,forward_inference," + tensors +
                        "stats_f32::blocked:a::f0,,"
                        "flags:GC,2x8x64"),
            "layer_norm//f32 3072 FLOP 8576 B");
  EXPECT_EQ(logged_work("jit:uni,forward_training," + tensors +
                        "stats_f32::blocked:a::f0,,"
                        "flags:CH,16x768"),
            "layer_norm/training-16x768/f32 98304 FLOP 104576 B");
  const std::string gradient = tensors + "stats_f32::blocked:a::f0 diff_src_f32::blocked:ab::f0,,";
  EXPECT_EQ(logged_work("jit:uni,backward," + gradient + "flags:CH,16x768"),
            "layer_norm/16x768/f32 159744 FLOP 156800 B");
  EXPECT_EQ(logged_work("jit:uni,backward_data," + gradient + "flags:,16x768"),
            "layer_norm/16x768+noscale+noshift/f32 110592 FLOP 147584 B");
  // With given statistics, the gradient is another function. The operator has no fused function.
  EXPECT_EQ(logged_work("jit:uni,backward," + gradient + "flags:GCH,16x768"), "n/a");
  EXPECT_EQ(logged_work("jit:uni,forward_inference," + tensors + ",,flags:CHR,16x768"), "n/a");
  EXPECT_EQ(logged_work("jit:uni,forward_inference," + tensors + ",,,16x768"), "n/a");
}

// Lines of oneDNN 3.9 and later, whose flag M is the root mean square.
TEST(LayerNorm, LinesOfRootMeanSquareNormsAreThoseOfRmsNorm) {
  const std::string tensors = "src:f32::blocked:ab::f0 dst:f32::blocked:ab::f0 ";
  const std::string scale = " scale:f32::blocked:a::f0";
  const auto work = [](const std::string& fields) {
    VerboseDecoder decoder;
    Activity activity;
    EXPECT_TRUE(fill_activity(
        decoder.decode("onednn_verbose,v1,primitive,exec,cpu,layer_normalization," + fields + ",1"),
        activity));
    const auto found = compute_work(activity);
    if (!found) return std::string("n/a");
    return fmt::format("{}/{}/{} {} FLOP {} B", found->op, found->parameters, found->dtype,
                       found->flops, found->bytes.value_or(-1));
  };
  EXPECT_EQ(work("jit:uni,forward_inference," + tensors + "stats:undef::undef:::" + scale +
                 ",,flags:CM,16x768"),
            "rms_norm/16x768/f32 49152 FLOP 101376 B");
  EXPECT_EQ(work("jit:uni,forward_training," + tensors + "stats:f32::blocked:a::f0" + scale +
                 ",,flags:CM,16x768"),
            "rms_norm/training-16x768/f32 49152 FLOP 101440 B");
  EXPECT_EQ(work("simple:any,forward_inference," + tensors +
                 "stats:undef::undef:::" + ",attr-scratchpad:user,flags:M,2x8x64"),
            "rms_norm/2x8x64+noscale/f32 3072 FLOP 8192 B");
  EXPECT_EQ(work("jit:uni,backward," + tensors + "stats:f32::blocked:a::f0" + scale +
                 " diff_src:f32::blocked:ab::f0 diff_scale:f32::blocked:a::f0,,flags:CM,16x768"),
            "rms_norm/16x768/f32 110592 FLOP 153664 B");
  // The operator has no shift: its tensor and its sums are added.
  EXPECT_EQ(work("jit:uni,forward_inference," + tensors + "stats:undef::undef:::" + scale +
                 " shift:f32::blocked:a::f0,,flags:CHM,16x768"),
            "rms_norm//f32 61440 FLOP 104448 B");
}

std::string called_work(std::string_view name, const std::vector<FrameworkRange::Shape>& inputs) {
  const auto work = compute_framework_work({name, &inputs, nullptr});
  return work ? fmt::format("{} {} {}", work->op, work->parameters, work->flops) : "n/a";
}

TEST(LayerNorm, CallsOfPyTorchHaveWork) {
  EXPECT_EQ(called_work("aten::layer_norm", {{8, 128, 768}, {}, {768}, {768}, {}, {}}),
            "layer_norm  6291456");
  EXPECT_EQ(called_work("aten::native_layer_norm", {{8, 3, 4}, {}, {3, 4}, {}, {}}),
            "layer_norm  672");
  EXPECT_EQ(called_work("layer_norm", {{8, 3, 4}, {}, {}, {}, {}}), "layer_norm  576");
  // These shapes do not fit together.
  EXPECT_EQ(called_work("aten::layer_norm", {{8, 128, 768}, {}, {767}, {767}, {}, {}}), "n/a");
  EXPECT_EQ(called_work("aten::layer_norm", {{8, 3, 4}, {}, {3, 4}, {4}, {}, {}}), "n/a");
  EXPECT_EQ(called_work("aten::layer_norm", {{4}, {}, {3, 4}, {}, {}, {}}), "n/a");
  EXPECT_EQ(called_work("aten::layer_norm", {{}, {}, {}, {}, {}, {}}), "n/a");
}

}  // namespace
}  // namespace bench::ops
