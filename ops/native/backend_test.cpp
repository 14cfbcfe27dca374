// SPDX-License-Identifier: Apache-2.0
#include "ops/native/backend.hpp"

#include "ops/backend/test_support.hpp"
#include "ops/math/functions.hpp"
#include "ops/native/loops.hpp"
#include "ops/network/network.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace bench::ops {
namespace {

using ::testing::HasSubstr;

void expect_native_matches(Backend& backend, const Problem& problem) {
  const auto kernel = backend.create(problem);
  if (!kernel.ok()) {  // the processor lacks the instructions
    EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
    EXPECT_THAT(kernel.error().reason, HasSubstr("lacks"));
    return;
  }
  const auto inputs = op_test::random_inputs(problem, 1);
  const auto outputs = op_test::plain_outputs(**kernel, problem, inputs);
  const Tolerance tolerance = problem.op->tolerance(problem);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto want = built_in_reference(problem, inputs, k, {});
    ASSERT_EQ(outputs[k].size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(outputs[k][i], want[i],
                  tolerance.absolute + tolerance.relative * std::abs(want[i]))
          << problem_tokens(problem) << " output " << k << " at " << i;
    }
  }
}

// More steps than f32 sums exactly, in parts of unequal length.
TEST(NativeBackend, ArithmeticOfEveryLoopIsRight) {
  const auto backend = make_native_backend();
  for (const ArithmeticLoop& loop : arithmetic_loops()) {
    if (loop.function == kGpuArithmetic) continue;
    for (const int threads : {1, 3}) {
      omp_set_num_threads(threads);
      expect_native_matches(
          *backend, op_test::problem("peak", std::string(loop.function) + "-s200003", loop.dtype));
      expect_native_matches(
          *backend, op_test::problem("peak", std::string(loop.function) + "-s1", loop.dtype));
    }
  }
}

TEST(NativeBackend, RowsAreNormalisedByEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const char* tokens : {"1x1", "7x33", "5x768", "2x3x4x5-a2", "2x1000+noscale"}) {
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        expect_native_matches(*backend, op_test::problem("rms_norm", tokens, dtype));
      }
    }
    for (const char* tokens : {"1x1", "7x33", "5x768", "2x3x4x5-a2", "40x16", "2x1000+noscale"}) {
      for (const Direction direction : {Direction::backward_data, Direction::backward_weights}) {
        for (const int threads : {1, 2, 5}) {
          omp_set_num_threads(threads);
          for (const char* op : {"rms_norm", "layer_norm"}) {
            expect_native_matches(*backend, op_test::problem(op, tokens, dtype, direction));
          }
        }
      }
    }
    for (const char* op : {"rms_norm", "layer_norm"}) {
      expect_native_matches(*backend, op_test::problem(op, "training-7x33", dtype));
    }
    for (const char* tokens : {"1", "7x33", "3x5000"}) {
      for (const Direction direction : {Direction::forward, Direction::backward_data}) {
        for (const int threads : {1, 2, 5}) {
          omp_set_num_threads(threads);
          expect_native_matches(*backend, op_test::problem("swiglu", tokens, dtype, direction));
        }
      }
    }
    for (const char* tokens : {"n2c6h5g3", "c4w7g1", "n3c4h12g4+noscale", "n2c8d2h3g2+noshift"}) {
      expect_native_matches(*backend, op_test::problem("group_norm", tokens, dtype));
      for (const Direction direction : {Direction::backward_data, Direction::backward_weights}) {
        for (const int threads : {1, 2, 5}) {
          omp_set_num_threads(threads);
          expect_native_matches(*backend, op_test::problem("group_norm", tokens, dtype, direction));
        }
      }
    }
    expect_native_matches(*backend, op_test::problem("group_norm", "training-n2c6h5g3", dtype));
    for (const char* tokens : {"n2c6h5", "c4w7+noscale", "training-n3c12h4+noshift"}) {
      expect_native_matches(*backend, op_test::problem("instance_norm", tokens, dtype));
    }
    for (const char* tokens : {"h2s3d2", "b2h3s17d6", "h1s33d130"}) {
      expect_native_matches(*backend, op_test::problem("rope", tokens, dtype));
    }
  }
  Problem images = op_test::problem("rms_norm", "2x16x9x9-a1");
  images.layout = Layout::nhwc;
  EXPECT_THAT(backend->support_error(images)->reason, HasSubstr("leave `layout: nhwc` out"));
}

// Rows and columns, with and without tails; few outputs, whose elements the threads share out.
TEST(NativeBackend, ReductionsAreRightWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const std::string function : {"sum", "mean", "max", "min", "prod", "l1", "l2"}) {
      for (const char* rest : {"1x1", "7x33", "5x200", "3x70-a0", "9x300-a0", "2x3x4x5-a1x3",
                               "2x3x4x5-a0x2", "4x40x3-a1", "3x5x260-a1", "1000x2-a0", "5x900-a0x1",
                               "103x61-a0x1", "2x700x9-a1", "700x2x9-a0x2"}) {
        if (function == "prod" && std::string_view(rest).find("00") != std::string_view::npos)
          continue;  // it would overflow
        for (const int threads : {1, 2, 5}) {
          omp_set_num_threads(threads);
          expect_native_matches(*backend,
                                op_test::problem("reduction", function + "-" + rest, dtype));
        }
      }
    }
  }
}

// Lines of one value and of neighbours, longer than a part of a line, and dimensions of size 1.
TEST(NativeBackend, GradientsOfReductionsAreRightWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const std::string function : {"sum", "mean"}) {
      for (const char* rest :
           {"1x1", "7x33", "3x70-a0", "2x3x4x5-a1x3", "2x3x4x5-a0x2", "4x40x3-a1", "5x9000-a0x1",
            "2x9000-a0", "2x9000", "1x5x1-a0x2", "3x1x7-a1"}) {
        for (const int threads : {1, 2, 5}) {
          omp_set_num_threads(threads);
          expect_native_matches(*backend, op_test::problem("reduction", function + "-" + rest,
                                                           dtype, Direction::backward_data));
        }
      }
    }
  }
}

TEST(NativeBackend, RowsAreLookedUpAndAddedByEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    // Rows of one unit, wide rows, more threads than rows, rows wider than a chunk of sums.
    for (const char* tokens : {"r7d1i40", "r40d33i17", "r3d100i200", "r300d64i500", "r2d9000i5"}) {
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        expect_native_matches(*backend, op_test::problem("embedding", tokens, dtype));
        expect_native_matches(
            *backend, op_test::problem("embedding", tokens, dtype, Direction::backward_weights));
      }
    }
    for (const char* tokens : {"7-i9", "9x40-i13", "3x11x5-a1i20", "50x16-a0i7", "2x1x3-a1i4"}) {
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        expect_native_matches(*backend, op_test::problem("gather", tokens, dtype));
      }
    }
  }
}

TEST(NativeBackend, LossesAreComputedByEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const char* tokens : {"b1c1", "b7c33", "b5c1000", "b2c5000"}) {
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        const std::string problem = std::string("softmax_cross_entropy-") + tokens;
        expect_native_matches(*backend, op_test::problem("loss", problem, dtype));
        expect_native_matches(*backend,
                              op_test::problem("loss", problem, dtype, Direction::backward_data));
      }
    }
  }
}

TEST(NativeBackend, OptimizersStepWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const char* tokens : {"sgd-e1", "sgd-e1537+decay", "sgd-e3000m0.9", "adam-e513",
                               "adam-e5000+decay", "adamw-e2048"}) {
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        expect_native_matches(*backend, op_test::problem("optimizer", tokens, dtype));
      }
    }
  }
  // So large that its results are written past the caches, and with a rest of some bytes.
  expect_native_matches(*backend, op_test::problem("optimizer", "sgd-e6000003"));
}

// Chunks of rows and parts of keys, each with a tail; rows without keys.
TEST(NativeBackend, AttentionIsRightWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const char* tokens :
         {"h1q1d1", "h2q13d64", "b2h2q37k150d20", "h1q200k300d65", "h4g2q100k260d40+causal",
          "h2q60k20d33+causal", "h1q300d16w70+causal", "b3h4g2q16k300d24l300x7x131+causal",
          "h1q1k700d128+causal", "h8g1q1k333d31", "h6g2q1k400d48w90+causal", "h5g1q1k130d64",
          "b3h4g2q2k300d24l300x1x131+causal", "h2q4k2d5+causal"}) {
      for (const int threads : {1, 2, 7}) {
        omp_set_num_threads(threads);
        expect_native_matches(*backend, op_test::problem("attention", tokens, dtype));
      }
    }
  }
}

TEST(NativeBackend, PiecesAreCopiedByEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::bf16, DataType::s8}) {
    for (const char* tokens : {"1-s1", "2x7x9-a1s3x4", "3x5000-s1x4999", "4097x2-a0s4096x1"}) {
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        expect_native_matches(*backend, op_test::problem("split", tokens, dtype));
      }
    }
  }
}

TEST(NativeBackend, RangesAreCopiedByEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::bf16, DataType::s8}) {
    for (const char* tokens : {"1-s1", "2x7x9-a1b3s4", "3x5000-b1s4999", "4097x2-a0s4096"}) {
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        expect_native_matches(*backend, op_test::problem("slice", tokens, dtype));
      }
    }
  }
}

// Every function in blocks with a tail, forward and backward, with vector instructions.
TEST(NativeBackend, FunctionsOfElementsAreRightWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype :
       {DataType::f32, DataType::f64, DataType::f16, DataType::bf16, DataType::s8, DataType::u8}) {
    for (const MathFunction& function : math_functions()) {
      for (const Direction direction : {Direction::forward, Direction::backward_data}) {
        const auto problem =
            op_test::try_problem("math", fmt::format("{}-1333", function.name), dtype, direction);
        if (!problem) continue;
        for (const int threads : {1, 2, 5}) {
          omp_set_num_threads(threads);
          expect_native_matches(*backend, *problem);
        }
      }
    }
  }
}

TEST(NativeBackend, NewOperatorsAreRightWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  struct NativeRow {
    const char* op;
    std::vector<const char*> tokens;
  };
  const std::vector<NativeRow> rows = {
      {"mse", {"b1s1", "b7s33", "b5s1000", "b2s5000"}},
      {"cumsum", {"1", "7x33", "3x70-a0", "2x3x4x5-a1", "5x900", "7x4x300-a1"}},
      {"dropout", {"1", "7x33-p0.1", "5000", "3x5000-p0.9s7"}},
      {"scatter_add", {"r7i40", "r40d33i17", "r3d100i200", "r300d64i500", "r2d9000i5"}},
      {"sort",
       {"sort-1", "sort-7x133", "sort-2x5000", "topk-5x1000-k10", "topk-2x9000-k50",
        "topk-3x3000-k2999", "argmax-7x33", "argmin-2x5000"}},
      {"pad", {"5-b4", "2x7x9-a1b3e4", "3x5000-b1", "4097x2-a0e9"}},
  };
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const auto& [op, texts] : rows) {
      for (const char* tokens : texts) {
        for (const Direction direction : {Direction::forward, Direction::backward_data}) {
          const auto problem = op_test::try_problem(op, tokens, dtype, direction);
          if (!problem) continue;
          for (const int threads : {1, 2, 5}) {
            omp_set_num_threads(threads);
            expect_native_matches(*backend, *problem);
          }
        }
      }
    }
  }
}

TEST(NativeBackend, RefusesTheLoopOfGpus) {
  const auto refused =
      make_native_backend()->support_error(op_test::problem("peak", std::string(kGpuArithmetic)));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, "`fma_cuda` is a loop of GPUs; use it with `device: cuda`");
}

TEST(NativeBackend, MovementOfEveryLoopIsRight) {
  // The flags select the code: all that this processor has, then less and less.
  for (const std::string flags : {"avx512f avx2 fma", "avx2 fma", "sse2"}) {
    const bool present = make_native_backend()->support_error(
                             op_test::problem("peak", "fma_avx512")) == std::nullopt ||
                         flags != "avx512f avx2 fma";
    if (!present) continue;
    const auto backend = make_native_backend("flags\t\t: " + flags + "\n");
    for (const MovementLoop& loop : movement_loops()) {
      const std::string tokens =
          std::string(loop.function) + "-b" + std::to_string(7 * kPeakChunk * loop.arrays) + "s2";
      for (const int threads : {1, 3, 9}) {
        omp_set_num_threads(threads);
        const Problem problem = op_test::problem("peak", tokens);
        if (flags == "sse2" && loop.stores == StoreKind::streaming) {
          EXPECT_TRUE(backend->support_error(problem).has_value()) << tokens;
          continue;
        }
        expect_native_matches(*backend, problem);
      }
    }
  }
}

TEST(NativeBackend, ReadsEveryElement) {
  const auto backend = make_native_backend();
  const Problem problem = op_test::problem("peak", "read-b3584");
  const auto kernel = backend->create(problem);
  ASSERT_TRUE(kernel.ok());
  omp_set_num_threads(3);
  for (std::size_t i = 0; i < 3584 / sizeof(float); ++i) {
    std::vector<std::vector<double>> inputs(1, std::vector<double>(3584 / sizeof(float), -1));
    inputs[0][i] = 5;
    ASSERT_EQ(op_test::plain_outputs(**kernel, problem, inputs).front().front(), 5) << i;
  }
}

TEST(NativeBackend, MissingInstructionsAreNamed) {
  const auto backend = make_native_backend("processor : 0\nflags : fpu sse2 avx2 fma\n");
  const auto reason = [&](std::string_view tokens, DataType dtype) {
    const auto error = backend->support_error(op_test::problem("peak", tokens, dtype));
    return error ? error->reason : "";
  };
  EXPECT_EQ(reason("fma_avx2", DataType::f32), "");
  EXPECT_EQ(reason("fma_avx512", DataType::f32), "this processor lacks avx512f");
  EXPECT_EQ(reason("dot_avx512", DataType::bf16), "this processor lacks avx512_bf16");
  EXPECT_EQ(reason("amx", DataType::s8), "this processor lacks amx_tile amx_int8");
}

TEST(NativeBackend, RefusesOtherOperators) {
  const auto backend = make_native_backend("");
  EXPECT_THAT(backend->support_error(op_test::problem("softmax", "4x4"))->reason,
              HasSubstr("peak"));
  EXPECT_FALSE(backend->create(Network{}).ok());
}

TEST(NativeBackend, RefusesUnalignedBuffers) {
  const auto backend = make_native_backend("");
  const auto kernel = backend->create(op_test::problem("peak", "copy-b1024"));
  ASSERT_TRUE(kernel.ok());
  const AlignedBuffer memory(2048);
  const std::vector<void*> buffers = {static_cast<char*>(memory.data()) + 4, memory.data()};
  EXPECT_THAT((*kernel)->bind(buffers).error().what, HasSubstr("not aligned"));
}

TEST(ProcessorFlags, AreThoseOfTheFirstProcessor) {
  EXPECT_EQ(processor_flags("a : b\nflags\t: x y\nflags : z\n"), " x y");
  EXPECT_EQ(processor_flags("flags"), "");
  EXPECT_TRUE(has_flags(" x y", "y"));
  EXPECT_TRUE(has_flags("x y", "y x"));
  EXPECT_TRUE(has_flags("", ""));
  EXPECT_FALSE(has_flags("xy", "x"));
}

}  // namespace
}  // namespace bench::ops
