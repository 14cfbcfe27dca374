// SPDX-License-Identifier: Apache-2.0
#include "harness/run/network_layouts.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace bench {
namespace {

Case layer_case(std::shared_ptr<const PlannedNetwork> network, const std::string& layer) {
  Case spec;
  spec.layer_of = std::move(network);
  spec.memberships = {{"net", {layer, "another"}}};
  return spec;
}

TEST(NetworkLayoutsTest, ALayerMeetsWhatItsNetworkHandsOver) {
  const auto network = std::make_shared<const PlannedNetwork>();
  const Case pool = layer_case(network, "pool");
  NetworkLayouts layouts;
  EXPECT_FALSE(layouts.is_settled(pool));
  EXPECT_TRUE(layouts.input_layouts(pool).empty());
  layouts.learn(pool, {{"pool", "reorder", "", "", {}},
                       {"pool", "pooling", "", "", {{"source", "aBcd16b"}}},
                       {"fc", "matmul", "", "", {{"source", "ab"}}}});
  EXPECT_TRUE(layouts.is_settled(layer_case(network, "fc")));
  EXPECT_EQ(layouts.input_layouts(pool), (ops::InputLayouts{{"source", "aBcd16b"}}));
  EXPECT_EQ(layouts.input_layouts(layer_case(network, "fc")),
            (ops::InputLayouts{{"source", "ab"}}));
  EXPECT_TRUE(layouts.input_layouts(layer_case(network, "gone")).empty());
}

TEST(NetworkLayoutsTest, OtherNetworksDataTypesAndLoneCasesMeetNothing) {
  const auto network = std::make_shared<const PlannedNetwork>();
  const Case pool = layer_case(network, "pool");
  NetworkLayouts layouts;
  layouts.learn(pool, {{"pool", "pooling", "", "", {{"source", "acdb"}}}});
  Case half = pool;
  half.key.dtype = DataType::bf16;
  EXPECT_FALSE(layouts.is_settled(half));
  EXPECT_TRUE(layouts.input_layouts(half).empty());
  EXPECT_TRUE(
      layouts.input_layouts(layer_case(std::make_shared<const PlannedNetwork>(), "pool")).empty());
  EXPECT_TRUE(layouts.input_layouts(Case{}).empty());
  EXPECT_TRUE(layouts.is_settled(Case{}));
}

TEST(NetworkLayoutsTest, ALayerOnAnotherDeviceMeetsNoneOfThem) {
  const auto network = std::make_shared<const PlannedNetwork>();
  Case pool = layer_case(network, "pool");
  NetworkLayouts layouts;
  layouts.learn(pool, {{"pool", "pooling", "", "", {{"source", "acdb"}}}});
  pool.key.device = "cuda";
  EXPECT_TRUE(layouts.input_layouts(pool).empty());
  EXPECT_TRUE(NetworkLayouts().is_settled(pool));
}

}  // namespace
}  // namespace bench
