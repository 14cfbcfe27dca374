// SPDX-License-Identifier: Apache-2.0
// Convolutions of fp8 and 8-bit integers: compares the answers of the ops/tensor_core rules and of
// check_support() with what cuDNN offers on described devices. Their engines are compiled at run
// time, which requires a loaded driver or its stub.
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/cudnn/stub/some_driver.hpp"
#include "ops/cuda/cudnn/support_oracle.hpp"
#include "ops/cuda/cudnn/test_support.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace bench::ops::cuda {
namespace {

using cudnn_test::conv_problem;
using cudnn_test::ConvCase;
using cudnn_test::device_json;
using cudnn_test::is_hidden_by_description;

struct Device {
  const char* architecture;
  ComputeCapability capability;
};
constexpr Device kDevices[] = {{"sm_75", {7, 5}},
                               {"sm_80", {8, 0}},
                               {"sm_89", {8, 9}},
                               {"sm_90", {9, 0}},
                               {"sm_100", {10, 0}}};

constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};

std::string format_conv_case(const ConvCase& conv_case, const char* architecture) {
  return fmt::format("{} {} {} {} on {}", conv_case.tokens, info(conv_case.dtype).name,
                     to_string(conv_case.layout), to_string(conv_case.direction), architecture);
}

struct Offer {
  std::int64_t engine = -1;  // index of the engine; -1: there is none
  bool tensor_cores = false;
};

Offer find_offer(const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
                 const std::string& json) {
  const auto engines = planned_engines(api, problem, json, {1, 0});
  if (!engines) return {};
  return {engines->front().index, engines->front().has(EngineNote::tensor_core)};
}

// Whether cuDNN has an engine although the rules deny one. The rules do not consider the kernel: in
// nhwc the data gradient of a kernel of size 1 is a matrix product.
bool is_beyond_the_rules(const ConvCase& conv_case, std::string_view architecture) {
  return conv_case.tokens.ends_with("r1") && conv_case.direction == Direction::backward_data &&
         conv_case.layout == Layout::nhwc && architecture == "sm_89";
}

TEST(EightBitConvolutions, Fp8IsEligibleWhereCudnnOffersTensorCores) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  constexpr const char* kShapes[] = {
      "n8c64h14k64r3p1", "n8c60h14k64r3p1",    "n8c64h14k60r3p1",    "n8c3h14k64r3p1",
      "n8c64h14k64r1",   "n8g16c64h14k64r3p1", "n8g64c64h14k64r3p1", "n8c64h14k64r3+transposed"};
  int eligible = 0;
  for (const Device& device : kDevices) {
    const std::string json = device_json(device.architecture);
    const Platform platform = parse_platform(device.architecture).value();
    for (const char* shape : kShapes) {
      for (const Direction direction : kDirections) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
          const ConvCase conv_case{shape, DataType::f8_e4m3, layout, direction};
          const Problem problem = conv_problem(conv_case);
          if (is_hidden_by_description(problem, device.architecture)) continue;
          const TensorCoreEligibility verdict = assess_tensor_cores(problem, platform);
          const bool says_yes = verdict.answer == TensorCoreAnswer::eligible;
          eligible += says_yes ? 1 : 0;
          const Offer offer = find_offer(api, problem, json);
          // If there is an engine at all, it uses tensor cores.
          EXPECT_EQ(offer.tensor_cores, offer.engine >= 0);
          EXPECT_EQ(says_yes || is_beyond_the_rules(conv_case, device.architecture),
                    offer.tensor_cores)
              << format_conv_case(conv_case, device.architecture) << ": " << verdict.reason;
        }
      }
    }
  }
  EXPECT_GT(eligible, 40);
}

// What an H100 ran (cuDNN 9.19): both gradients in both formats and layouts.
TEST(EightBitConvolutions, GradientsOfFp8AreEligibleAndSupportedAsAnH100RanThem) {
  BENCH_NEED_CUDNN(api);
  const Platform platform = parse_platform("sm_90").value();
  for (const Direction direction : {Direction::backward_data, Direction::backward_weights}) {
    for (const DataType dtype : {DataType::f8_e4m3, DataType::f8_e5m2}) {
      for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const ConvCase conv_case{"n4c64h28w28k64r3s3p1", dtype, layout, direction};
        const Problem problem = conv_problem(conv_case);
        EXPECT_EQ(assess_tensor_cores(problem, platform).answer, TensorCoreAnswer::eligible)
            << format_conv_case(conv_case, "sm_90");
        EXPECT_EQ(check_support(problem, {api, "", {9, 0}}).by, "cuDNN");
      }
    }
  }
}

TEST(EightBitConvolutions, BothFormatsOfFp8AreOffered) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const Device& device : kDevices) {
    for (const Direction direction : kDirections) {
      const auto offered = [&](DataType dtype) {
        return find_offer(api, conv_problem({"n8c64h14k64r3p1", dtype, Layout::nhwc, direction}),
                          device_json(device.architecture))
            .engine;
      };
      EXPECT_EQ(offered(DataType::f8_e5m2), offered(DataType::f8_e4m3)) << device.architecture;
      const bool has_fp8 = device.capability >= ComputeCapability{8, 9};
      if (direction == Direction::forward) {
        EXPECT_EQ(offered(DataType::f8_e5m2) >= 0, has_fp8) << device.architecture;
      }
    }
  }
}

// Integer results are exact, and most of their engines have no note. The test therefore checks
// whether s8 gets another engine than u8, for sums in f32, which every one of them has. Tensor
// cores could multiply u8, but cuDNN has no kernels for it.
TEST(EightBitConvolutions, IntegersAreEligibleWhereTheyHaveAnEngineOfTheirOwn) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  constexpr const char* kShapes[] = {"n32c64h28k64r3p1",   "n32c64h28k64r1",
                                     "n32c60h28k64r3p1",   "n32c64h28k60r3p1",
                                     "n32g4c64h28k64r3p1", "n32g64c64h28k64r3p1"};
  for (const Device& device : kDevices) {
    const std::string json = device_json(device.architecture);
    const Platform platform = parse_platform(device.architecture).value();
    for (const char* shape : kShapes) {
      for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const ConvCase conv_case{shape, DataType::s8, layout};
        const Problem problem = conv_problem(conv_case);
        const TensorCoreEligibility verdict = assess_tensor_cores(problem, platform);
        const Problem plain = conv_problem({shape, DataType::u8, layout});
        const Offer of_plain = find_offer(api, conv_part(plain, DataType::f32), json);
        EXPECT_FALSE(of_plain.tensor_cores);
        EXPECT_EQ(assess_tensor_cores(plain, platform).rule, "u8");
        EXPECT_EQ(
            verdict.answer == TensorCoreAnswer::eligible,
            find_offer(api, conv_part(problem, DataType::f32), json).engine != of_plain.engine)
            << format_conv_case(conv_case, device.architecture) << ": " << verdict.reason;
      }
    }
  }
}

// Whether cuDNN may offer an engine that check_support() does not know: for gradients of s8, only
// on Blackwell.
bool is_beyond_support(const ConvCase& conv_case, ComputeCapability capability) {
  return conv_case.dtype == DataType::s8 && capability.major == 10 &&
         conv_case.direction != Direction::forward;
}

TEST(EightBitConvolutions, AreSupportedWhereCudnnHasAnEngine) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  constexpr const char* kShapes[] = {
      "n8c64h14k64r3p1", "n8c64h14k64r1",     "n8c60h14k64r1",      "n8c64h14k64r3u2p1",
      "n8c64h14k64r1u2", "n8g4c64h14k64r3p1", "n8g64c64h14k64r3p1", "n8c64h14k64r3u2+transposed"};
  int served = 0, refused = 0;
  for (const Device& device : kDevices) {
    const std::string json = device_json(device.architecture);
    for (const char* shape : kShapes) {
      for (const auto& [dtype, layout] :
           {std::pair(DataType::f8_e4m3, Layout::nhwc), std::pair(DataType::f8_e4m3, Layout::nchw),
            std::pair(DataType::s8, Layout::nhwc)}) {
        for (const Direction direction : kDirections) {
          const ConvCase conv_case{shape, dtype, layout, direction};
          const Problem problem = conv_problem(conv_case);
          if (is_beyond_support(conv_case, device.capability) ||
              is_hidden_by_description(problem, device.architecture)) {
            continue;
          }
          const Support support = check_support(problem, {api, "", device.capability});
          const bool has_engine =
              planned_engines(api, problem, json, {1, 0}).ok() ||
              (conv_split(problem) != ConvSplit::none &&
               planned_engines(api, conv_part(problem, DataType::f32), json, {1, 0}).ok());
          EXPECT_EQ(support.runs == Runnable::yes, has_engine)
              << format_conv_case(conv_case, device.architecture) << ": " << support.reason;
          (has_engine ? served : refused) += 1;
        }
      }
    }
  }
  EXPECT_GT(served, 60);
  EXPECT_GT(refused, 60);
}

// Sums in s32 come from engines that pass them on to an identity: for s8 in nhwc. All others come
// in f32 and are converted afterwards.
TEST(EightBitConvolutions, SumsAreStoredByAnIdentityOrConverted) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const Device& device : kDevices) {
    const std::string json = device_json(device.architecture);
    for (const DataType dtype : {DataType::s8, DataType::u8}) {
      for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const ConvCase conv_case{"n8c64h14k64r3p1", dtype, layout};
        const Problem problem = conv_problem(conv_case);
        ASSERT_EQ(problem.tensors.back().dtype, DataType::s32);
        EXPECT_EQ(find_offer(api, problem, json).tensor_cores,
                  dtype == DataType::s8 && layout == Layout::nhwc)
            << format_conv_case(conv_case, device.architecture);
        EXPECT_GE(find_offer(api, conv_part(problem, DataType::f32), json).engine, 0)
            << format_conv_case(conv_case, device.architecture);
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
