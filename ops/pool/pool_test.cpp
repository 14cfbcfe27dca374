// SPDX-License-Identifier: Apache-2.0
#include "ops/pool/pool.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Operator& pool() { return *find_operator("pool"); }

constexpr std::array<std::string_view, 3> kSizeNames = {"d", "h", "w"};
constexpr std::array<std::string_view, 3> kFunctions = {"max", "avg_include_pad",
                                                        "avg_exclude_pad"};

// Always valid: the output is never empty because a window is at most the padded size.
ParameterSet random_parameters(Random& random) {
  ParameterSet set(pool().parameters);
  set.set("function", std::string(kFunctions[static_cast<std::size_t>(draw(random, 0, 2))]));
  set.set("n", draw(random, 1, 3));
  set.set("c", draw(random, 1, 3));
  const std::int64_t rank = draw(random, 1, 3);
  std::vector<std::int64_t> windows;
  std::vector<std::int64_t> strides;
  std::vector<PadPair> pads;
  for (std::int64_t i = 3 - rank; i < 3; ++i) {
    const std::int64_t size = draw(random, 1, rank == 3 ? 5 : 9);
    set.set(kSizeNames[static_cast<std::size_t>(i)], size);
    windows.push_back(draw(random, 1, size));
    strides.push_back(draw(random, 1, 5));  // often larger than the window
    pads.push_back({draw(random, 0, windows.back() - 1), draw(random, 0, windows.back() - 1)});
  }
  if (draw(random, 0, 7) == 0) {
    set.set("global", true);
    return set;
  }
  set.set("window", windows);
  if (draw(random, 0, 2) != 0) set.set("stride", strides);
  if (draw(random, 0, 2) != 0) set.set("pad", pads);
  return set;
}

Problem random_problem(Random& random, Direction direction) {
  Result<Problem> made = make_problem({.op = &pool(),
                                       .direction = direction,
                                       .dtype = DataType::f32,
                                       .parameters = random_parameters(random),
                                       .post_ops = {}});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// What a plain loop nest does, counted individually.
struct Counted {
  std::int64_t outputs = 0;
  std::int64_t taps = 0;        // taps of the window, including padding
  std::int64_t valid_taps = 0;  // on the input
  std::set<std::array<std::int64_t, 4>> touched;
};

// Returns a problem's axes as three, from its written parameters (not from pool_axes).
std::array<SpatialAxis, 3> three_axes(const Problem& problem) {
  const ParameterSet& set = problem.parameters;
  std::array<SpatialAxis, 3> axes;
  std::size_t entry = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!set.has(kSizeNames[i])) continue;
    axes[i].input = set.count(kSizeNames[i]);
    const bool global = set.flag("global");
    axes[i].kernel = global ? axes[i].input : set.numbers("window")[entry];
    axes[i].stride = global ? 1 : set.numbers("stride")[entry];
    axes[i].pad = global ? PadPair{} : set.padding("pad")[entry];
    ++entry;
  }
  return axes;
}

// Returns every start of a window that fits into the padded axis.
std::vector<std::int64_t> starts(const SpatialAxis& axis) {
  std::vector<std::int64_t> result;
  for (std::int64_t start = -axis.pad.begin; start + axis.kernel <= axis.input + axis.pad.end;
       start += axis.stride) {
    result.push_back(start);
  }
  return result;
}

void count_window(const std::array<SpatialAxis, 3>& axes, const std::array<std::int64_t, 3>& start,
                  std::int64_t image, Counted& counted) {
  ++counted.outputs;
  for (std::int64_t d = start[0]; d < start[0] + axes[0].kernel; ++d) {
    for (std::int64_t h = start[1]; h < start[1] + axes[1].kernel; ++h) {
      for (std::int64_t w = start[2]; w < start[2] + axes[2].kernel; ++w) {
        ++counted.taps;
        const bool inside = d >= 0 && d < axes[0].input && h >= 0 && h < axes[1].input && w >= 0 &&
                            w < axes[2].input;
        if (!inside) continue;
        ++counted.valid_taps;
        counted.touched.insert({image, d, h, w});
      }
    }
  }
}

Counted count(const Problem& problem) {
  const std::array<SpatialAxis, 3> axes = three_axes(problem);
  Counted counted;
  const std::int64_t images = problem.parameters.count("n") * problem.parameters.count("c");
  for (std::int64_t image = 0; image < images; ++image) {
    for (const std::int64_t d : starts(axes[0])) {
      for (const std::int64_t h : starts(axes[1])) {
        for (const std::int64_t w : starts(axes[2])) count_window(axes, {d, h, w}, image, counted);
      }
    }
  }
  return counted;
}

TEST(Pool, ForwardWorkEqualsALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random, Direction::forward);
    const Counted counted = count(problem);
    const bool max = problem.parameters.word("function") == "max";
    ASSERT_EQ(problem.tensors[1].elements(), counted.outputs) << problem_tokens(problem);
    ASSERT_EQ(problem.work.flops, max ? counted.taps - counted.outputs : counted.taps)
        << problem_tokens(problem);
    ASSERT_EQ(problem.work.flops_valid,
              max ? counted.valid_taps - counted.outputs : counted.valid_taps)
        << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_read, 4 * static_cast<std::int64_t>(counted.touched.size()))
        << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_written, 4 * counted.outputs) << problem_tokens(problem);
    ASSERT_EQ(problem.work.macs, std::nullopt);
    ASSERT_EQ(problem.work.sfu_ops, 0);
  }
}

TEST(Pool, BackwardWorkEqualsALoopNest) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random, Direction::backward_data);
    const Counted counted = count(problem);
    const bool max = problem.parameters.word("function") == "max";
    ASSERT_EQ(problem.work.flops, max ? counted.outputs : counted.outputs + counted.taps)
        << problem_tokens(problem);
    ASSERT_EQ(problem.work.flops_valid,
              max ? counted.outputs : counted.outputs + counted.valid_taps)
        << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_read, 4 * counted.outputs) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_written, 4 * problem.tensors.back().elements())
        << problem_tokens(problem);
  }
}

TEST(Pool, TokensComeBack) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    op_test::expect_round_trip(
        random_problem(random, i % 2 == 0 ? Direction::forward : Direction::backward_data));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Pool, PositionsAgreeWithTheWhole) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    op_test::expect_positions_agree(
        random_problem(random, i % 2 == 0 ? Direction::forward : Direction::backward_data), random);
    ASSERT_FALSE(HasFatalFailure());
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Pooling is linear if the positions of the maxima stay the same: <P(x), dy> = <x, P'(dy)>.
TEST(Pool, BackwardIsTheTransposeOfForward) {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const Problem backward = random_problem(random, Direction::backward_data);
    Problem forward = backward;
    forward.direction = Direction::forward;
    Result<Problem> made = make_problem(
        {.op = &pool(), .dtype = DataType::f64, .parameters = backward.parameters, .post_ops = {}});
    ASSERT_TRUE(made.ok());
    const std::vector<double> source = random_values(*made, 0, random());
    const std::vector<std::vector<double>> forward_inputs = {source};
    const std::vector<double> destination = pool_reference(*made, forward_inputs, 0, {});
    std::vector<std::vector<double>> inputs = op_test::random_inputs(backward, random());
    if (inputs.size() == 2) inputs[0] = source;
    const std::vector<double> diff_source = pool_reference(backward, inputs, 0, {});
    EXPECT_NEAR(dot(destination, inputs.back()), dot(source, diff_source), 1e-9)
        << problem_tokens(backward);
  }
}

TEST(Pool, ValuesByHand) {
  const std::vector<std::vector<double>> source = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const auto values = [&](std::string_view tokens, DataType dtype) {
    return pool_reference(op_test::problem("pool", tokens, dtype), source, 0, {});
  };
  EXPECT_THAT(values("max-c1h3w3r2u1", DataType::f32), ElementsAre(5, 6, 8, 9));
  EXPECT_THAT(values("max-c1h3w3r2p1", DataType::f32), ElementsAre(1, 3, 7, 9));
  EXPECT_THAT(values("avg_include_pad-c1h3w3r2p1", DataType::f32),
              ElementsAre(0.25, 1.25, 2.75, 7));
  EXPECT_THAT(values("avg_exclude_pad-c1h3w3r2p1", DataType::f32), ElementsAre(1, 2.5, 5.5, 7));
  EXPECT_THAT(values("avg_exclude_pad-c1h3w3+global", DataType::f32), ElementsAre(5));
  // Integers are rounded to nearest, a half to even (1.25 -> 1, 2.5 -> 2, 5.5 -> 6).
  EXPECT_THAT(values("avg_exclude_pad-c1h3w3r2p1", DataType::s8), ElementsAre(1, 2, 6, 7));
}

TEST(Pool, OfEqualMaximaTheFirstTakesTheDifference) {
  const Problem problem =
      op_test::problem("pool", "max-c1h2w3r2u1", DataType::f32, Direction::backward_data);
  const std::vector<std::vector<double>> inputs = {{1, 7, 7, 7, 1, 1}, {10, 100}};
  EXPECT_THAT(pool_reference(problem, inputs, 0, {}), ElementsAre(0, 110, 0, 0, 0, 0));
}

TEST(Pool, ExactWork) {
  const Problem problem = op_test::problem("pool", "max-n32c64h112w112r3u2p1", DataType::f16);
  EXPECT_EQ(problem.work.flops, 51380224);
  op_test::expect_bytes(problem, 64225280);
  EXPECT_EQ(problem.tensors[1].dims, (Dims{32, 64, 56, 56}));
  EXPECT_EQ(problem_tokens(problem), "max-n32c64h112w112r3u2p1");
  const Problem global = op_test::problem("pool", "avg_include_pad-c2048h7w7+global");
  EXPECT_EQ(global.work.flops, 2048 * 49);
  EXPECT_EQ(global.tensors[1].dims, (Dims{1, 2048, 1, 1}));
}

struct Refused {
  std::string_view tokens;
  std::string_view where;
};

TEST(Pool, ImpossibleParametersAreNamed) {
  for (const auto& [tokens, where] : std::vector<Refused>{
           {"max-h8w8r2", "c"},
           {"max-c1h8w8", "window"},
           {"max-c1r2", "h"},
           {"max-c1h8w8r9", "h"},
           {"max-c1h8w8r3p3", "pad"},
           {"max-c1h8w8r3p0_3", "pad"},
           {"max-c1h8w8r2+global", "window"},
           {"max-c1h8w8u2+global", "stride"},
           {"max-c1h8w8p1+global", "pad"},
           {"max-c1h8w8r2x2x2", "window"},
           {"max-n4611686018427387904c4h8w8r2", "n"},
       }) {
    const Result<Problem> result = op_test::try_problem("pool", tokens);
    ASSERT_FALSE(result.ok()) << tokens;
    EXPECT_EQ(result.error().where, where) << tokens << ": " << result.error().message();
  }
}

TEST(Pool, IntegersHaveNoBackward) {
  EXPECT_TRUE(op_test::try_problem("pool", "max-c1h8w8r2", DataType::s8).ok());
  const Result<Problem> result =
      op_test::try_problem("pool", "max-c1h8w8r2", DataType::u8, Direction::backward_data);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "dtype");
  EXPECT_THAT(result.error().what, HasSubstr("u8"));
}

TEST(Pool, PaddingOfZeroIsNoContradictionToGlobal) {
  ParameterSet set(pool().parameters);
  set.set("function", std::string("max"));
  set.set("c", std::int64_t{4});
  set.set("h", std::int64_t{5});
  set.set("global", true);
  set.set("pad", std::vector<PadPair>{{0, 0}});
  const Result<Problem> made = make_problem({.op = &pool(), .parameters = set, .post_ops = {}});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(problem_tokens(*made), "max-c4h5w5+global");
}

}  // namespace
}  // namespace bench::ops
