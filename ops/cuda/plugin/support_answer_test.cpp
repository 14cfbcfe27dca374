// SPDX-License-Identifier: Apache-2.0
// Tests the answers for a described device, without a device and without NVIDIA's libraries.
#include "ops/cuda/plugin/support_answer.hpp"

#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/cudnn/test_support.hpp"
#endif
#include "ops/network/test_support.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using ::testing::HasSubstr;

nlohmann::json answer(const Problem& question, std::string_view backend,
                      const DescribedDevice& device) {
  return nlohmann::json::parse(support_answer(question, backend, device, {}));
}

TEST(DescribedDevice, IsReadFromItsProperties) {
  const std::string text = R"({"deviceVer":1210,"deviceName":"GB10"})";
  const DescribedDevice device = parse_asked_device(text);
  EXPECT_EQ(device.capability, (ComputeCapability{12, 1}));
  EXPECT_EQ(device.properties, text);
  // cuDNN cannot plan with only the capability.
  EXPECT_EQ(parse_asked_device(R"({"deviceVer":890})").capability, (ComputeCapability{8, 9}));
  EXPECT_EQ(parse_asked_device(R"({"deviceVer":890})").properties, "");
  for (const char* properties : {R"({"deviceName":"new"})", R"({"deviceVer":"9.0"})", "[]", "?"}) {
    EXPECT_EQ(parse_asked_device(properties).capability, kNoDevice) << properties;
  }
}

TEST(SupportAnswer, ProductsDependOnTheDevice) {
  const Problem fp8 = problem("gemm", "m64n64k64+tb", DataType::f8_e4m3);
  EXPECT_EQ(answer(fp8, "cublaslt", {kNoDevice}).at("runs"), "yes");
  EXPECT_EQ(answer(fp8, "cublaslt", {{9, 0}}).at("by"), "cuBLASLt");
  const auto older = answer(fp8, "cublaslt", {{7, 5}});
  EXPECT_EQ(older.at("runs"), "no");
  EXPECT_EQ(older.at("by"), "");
  EXPECT_THAT(older.at("reason").get<std::string>(), HasSubstr("compute capability 8.9"));
  const Problem plain = problem("gemm", "m64n64k64", DataType::f8_e4m3);
  EXPECT_EQ(answer(plain, "cublaslt", {{10, 3}}).at("runs"), "yes");
  EXPECT_EQ(answer(plain, "cublaslt", {{12, 0}}).at("runs"), "no");
}

#ifdef BENCH_HAS_CUDNN
TEST(SupportAnswer, ConvolutionsDependOnTheDevice) {
  const Problem bf16 = problem("conv", "n2c16h5k16r3", DataType::bf16);
  const auto turing = answer(bf16, "cudnn", {{7, 5}});
  EXPECT_EQ(turing.at("runs"), "no");
  EXPECT_THAT(turing.at("reason").get<std::string>(), HasSubstr("compute capability 8.0"));
  // Without cuDNN, which no search path here contains, the rest cannot be determined.
  EXPECT_EQ(answer(bf16, "cudnn", {{8, 0}}).at("runs"), "unknown");
  EXPECT_EQ(answer(bf16, "cudnn", {kNoDevice}).at("runs"), "unknown");
}

// Earlier, the engines of a problem that a native kernel computes were listed as if they ran.
TEST(SupportAnswer, ListsNoEnginesOfWhatCudnnDoesNotCompute) {
  BENCH_NEED_CUDNN(api);
  const DescribedDevice device{{9, 0}, cudnn_test::device_json("sm_90")};
  const auto ask = [&](const Problem& question) {
    return nlohmann::json::parse(
        support_answer(question, "cudnn", device, cudnn_test::search_of_this_machine()));
  };
  const auto computed = ask(problem("conv", "n2c16h5k16r3", DataType::f16));
  EXPECT_EQ(computed.at("by"), "cuDNN");
  EXPECT_FALSE(computed.at("engines").empty());
  for (const Problem& native : {problem("attention", "h4q24d16", DataType::f32),
                                problem("attention", "h4q24d20", DataType::f16),
                                problem("softmax", "4x8", DataType::f16)}) {
    const auto answered = ask(native);
    EXPECT_THAT(answered.at("by").get<std::string>(), HasSubstr("bench:")) << native.op->name;
    EXPECT_TRUE(answered.at("engines").empty()) << answered;
  }
}

// No search path here contains cuDNN.
TEST(PlanAnswer, SaysThatOnlyTheRulesAnswered) {
  const Network network = bench::ops::op_test::make(
      {.name = "one",
       .input = {8, 8, 8},
       .layers = {bench::ops::op_test::layer("conv", "conv", "k8r1", {"input"})}},
      Fusion::fused, DataType::f16, 2);
  const auto plan = nlohmann::json::parse(plan_answer(network, {{9, 0}}, {}));
  EXPECT_EQ(plan.at("runs"), "yes");
  EXPECT_THAT(plan.at("basis").get<std::string>(),
              HasSubstr("only the rules of bench answered; engines are not known"));
  ASSERT_EQ(plan.at("steps").size(), 3u);
  EXPECT_EQ(plan.at("steps")[1],
            nlohmann::json::parse(R"({"node": "conv", "kind": "conv", "way": "graph",
                                      "implementation": "cudnn:n/a",
                                      "layouts": "nhwc -> nhwc, weights nhwc",
                                      "other_ways": []})"));
}
#endif

}  // namespace
}  // namespace bench::ops::cuda
