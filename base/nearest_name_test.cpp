// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>

namespace bench {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"stride", "pad", "dilation",
                                                    "bias",   "n",   "transposed"};

std::string near(std::string_view written) {
  return std::string(nearest_name(written, kNames).value_or("(none)"));
}

TEST(NearestName, FindsOneEdit) {
  EXPECT_EQ(near("strid"), "stride");
  EXPECT_EQ(near("sstride"), "stride");
  EXPECT_EQ(near("stryde"), "stride");
  EXPECT_EQ(near("srtide"), "stride");
  EXPECT_EQ(near("pda"), "pad");
  EXPECT_EQ(near("stride"), "stride");
}

TEST(NearestName, AllowsEditsUpToAThirdOfTheLongerName) {
  EXPECT_EQ(near("dilatoin"), "dilation");
  EXPECT_EQ(near("dltion"), "dilation");
  EXPECT_EQ(near("dltn"), "(none)");
  EXPECT_EQ(near("window"), "(none)");
  EXPECT_EQ(near("m"), "n");
  EXPECT_EQ(near("xyz"), "(none)");
}

TEST(NearestName, TheFirstOfEquallyNearWins) {
  constexpr std::array<std::string_view, 2> names = {"cold", "bold"};
  EXPECT_EQ(nearest_name("gold", names), "cold");
}

TEST(NearestName, TheBeginningOfANameIsNearerThanAnotherNumber) {
  constexpr std::array<std::string_view, 4> networks = {"mobilenet_v2", "resnet18", "resnet50_v1_5",
                                                        "vgg16"};
  EXPECT_EQ(nearest_name("resnet50", networks), "resnet50_v1_5");
  EXPECT_EQ(nearest_name("resnet51", networks), "resnet50_v1_5");
  EXPECT_EQ(nearest_name("resnet50_v1", networks), "resnet50_v1_5");
  EXPECT_EQ(nearest_name("ResNet-50", networks), "resnet50_v1_5");
  EXPECT_EQ(nearest_name("resnet19", networks), "resnet18");
  EXPECT_EQ(nearest_name("mobilenet", networks), "mobilenet_v2");
  EXPECT_EQ(nearest_name("vgg19", networks), "vgg16");
  EXPECT_FALSE(nearest_name("resnet34", networks));
  EXPECT_FALSE(nearest_name("resnet101", networks));
}

TEST(NearestName, LetterCaseDoesNotCount) {
  constexpr std::array<std::string_view, 2> functions = {"relu", "elu"};
  EXPECT_EQ(nearest_name("ReLU", functions), "relu");
  EXPECT_EQ(nearest_name("ELU", functions), "elu");
}

TEST(NearestName, NothingToChooseFromAndHostileLength) {
  EXPECT_FALSE(nearest_name("stride", {}));
  EXPECT_FALSE(nearest_name(std::string(10'000'000, 'a'), kNames));
}

TEST(Expectation, SuggestsOrLists) {
  EXPECT_EQ(expectation("strid", kNames), "did you mean `stride`?");
  EXPECT_EQ(expectation("window", kNames),
            "expected one of stride, pad, dilation, bias, n, transposed");
}

}  // namespace
}  // namespace bench
