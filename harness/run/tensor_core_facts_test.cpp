// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_progress.hpp"
#include "ops/network/network.hpp"
#include "tests/fakes/plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace bench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr const char* kHalf = "gemm/forward/m256n256k256/f16/cublaslt/cuda/hot";
constexpr const char* kSingle = "gemm/forward/m256n256k256/f32/cublaslt/cuda/hot";

// Two convolutions and a pooling. cuDNN supports the first convolution by padding its three
// channels.
Case network_case(DataType dtype) {
  const auto layer = [](const char* name, const char* op, const char* input) {
    return ops::LayerDefinition{
        name, op, ops::ParameterSet(ops::find_operator(op)->parameters), {input}};
  };
  std::vector<ops::LayerDefinition> layers = {layer("conv1", "conv", "input"),
                                              layer("conv2", "conv", "conv1"),
                                              layer("pool", "pool", "conv2")};
  for (std::size_t i : {0, 1}) {
    layers[i].parameters.set("k", std::int64_t{64});
    layers[i].parameters.set("r", std::int64_t{3});
  }
  layers[2].parameters.set("function", std::string("max"));
  layers[2].parameters.set("window", std::vector<std::int64_t>{2});
  Case spec = test::make_case(kHalf);
  spec.key.backend = "cudnn";
  spec.work = std::make_shared<const ops::Network>(ops::make_network({"tiny", {3, 16, 16}, layers},
                                                                     8, dtype, ops::Mode::inference,
                                                                     ops::Fusion::fused)
                                                       .value());
  return spec;
}

TEST(TensorCoreDetails, AnEligibleProblemHasItsGradeAndRule) {
  const auto details = tensor_core_details(test::make_case(kHalf), "9.0");
  EXPECT_THAT(details, AllOf(Contains(Pair("tensor_cores.arch", "sm_90, cuda13")),
                             Contains(Pair("tensor_cores.eligible", "eligible")),
                             Contains(Pair("tensor_cores.alignment", "full")),
                             Contains(Key("tensor_cores.rule"))));
}

// cuDNN took CUDA cores for this convolution on an H100, and tensor cores in nhwc.
TEST(TensorCoreDetails, AnEligibleCaseThatDidNotUseThemMissedThem) {
  const Case spec = test::make_case("conv/forward/n8c3h28w28k64r3s3p1/f16/cudnn/cuda/hot/nchw");
  EXPECT_EQ(
      missed_tensor_cores(spec, "9.0", "not used (counter)"),
      "not used (counter), although eligible: use `layout: nhwc`, in which cuDNN takes tensor "
      "cores for few channels");
  EXPECT_EQ(missed_tensor_cores(spec, "9.0", "used (counter)"), std::nullopt);
  EXPECT_EQ(missed_tensor_cores(spec, "9.0", "unknown"), std::nullopt);
  EXPECT_EQ(missed_tensor_cores(test::make_case(kSingle), "9.0", "not used (counter)"),
            std::nullopt);
}

TEST(TensorCoreDetails, OneThatIsNotSaysWhy) {
  const auto details = tensor_core_details(test::make_case(kSingle), "9.0");
  EXPECT_EQ(details.at("tensor_cores.eligible"), "not eligible");
  EXPECT_THAT(details.at("tensor_cores.reason"), HasSubstr("TF32"));
  EXPECT_THAT(details, Not(Contains(Key("tensor_cores.alignment"))));
}

TEST(TensorCoreDetails, ANetworkCountsItsProducts) {
  EXPECT_THAT(tensor_core_details(network_case(DataType::f16), "9.0"),
              ElementsAre(Pair("tensor_cores.arch", "sm_90, cuda13"),
                          Pair("tensor_cores.eligible", "2 of 2 convolutions and products")));
  const auto single = tensor_core_details(network_case(DataType::f32), "9.0");
  EXPECT_EQ(single.at("tensor_cores.eligible"), "0 of 2 convolutions and products");
  EXPECT_THAT(single.at("tensor_cores.reason"),
              AllOf(HasSubstr("not eligible: conv1 ["), HasSubstr("], conv2 [")));
}

TEST(TensorCoreDetails, OfAnUnknownArchitectureOnlyTheReasonIsThere) {
  EXPECT_THAT(tensor_core_details(test::make_case(kHalf), "99.0"),
              ElementsAre(Pair("tensor_cores.reason", HasSubstr("99.0"))));
}

TEST(TensorCoreDetails, OtherBackendsHaveNone) {
  EXPECT_THAT(tensor_core_details(test::make_case("gemm/forward/m4n4k4/f16/onednn/cpu/hot"), "9.0"),
              IsEmpty());
}

}  // namespace
}  // namespace bench
