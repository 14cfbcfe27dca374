// SPDX-License-Identifier: Apache-2.0
#include "harness/config/network_file.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

TEST(NetworkFile, ReadsLayersAndFillsInTheLayerBefore) {
  const auto network = parse_network(
      "version: 1\nnetwork: tiny\ninput: {c: 3, h: 8}\nlayers:\n"
      "  - {name: a.1, op: conv, k: 4, r: 3, pad: 1}\n"
      "  - {name: b, op: pointwise, function: relu}\n"
      "  - {name: c, op: pointwise, function: add, inputs: [b, a.1]}\n",
      "tiny.yaml");
  ASSERT_TRUE(network.ok()) << network.error().front().message();
  EXPECT_EQ(network->name, "tiny");
  EXPECT_EQ(network->input, (ops::Dims{3, 8, 8}));
  ASSERT_EQ(network->layers.size(), 3u);
  EXPECT_EQ(network->layers[0].inputs, std::vector<std::string>{"input"});
  EXPECT_EQ(network->layers[0].parameters.count("k"), 4);
  EXPECT_FALSE(network->layers[0].parameters.has("c"));
  EXPECT_EQ(network->layers[1].inputs, std::vector<std::string>{"a.1"});
  EXPECT_EQ(network->layers[2].inputs, (std::vector<std::string>{"b", "a.1"}));
}

TEST(NetworkFile, FindsPlacesOfLayersWhoseNamesContainDots) {
  Diagnostics diagnostics;
  const auto file = read_network(diagnostics, "tiny.yaml",
                                 "version: 1\nnetwork: tiny\ninput: {c: 3}\nlayers:\n"
                                 "  - name: a\n    op: conv\n    k: 3\n"
                                 "  - name: a.k\n    op: conv\n    k: 4\n");
  ASSERT_TRUE(file.has_value());
  const auto line = [&](std::string_view where) {
    return file->find_location(where).position.line;
  };
  EXPECT_EQ(line("a"), 5);
  EXPECT_EQ(line("a.k"), 8);
  EXPECT_EQ(line("a.k.k"), 10);
  EXPECT_EQ(line("a.r"), 5);
  EXPECT_EQ(line("unknown"), 1);
  EXPECT_EQ(line(""), 1);
}

TEST(NetworkFile, ASyntaxErrorIsTheOnlyDiagnostic) {
  const auto network = parse_network("version: 1\nlayers: [\n", "x.yaml");
  ASSERT_FALSE(network.ok());
  ASSERT_EQ(network.error().size(), 1u);
  EXPECT_EQ(network.error()[0].message(),
            "x.yaml:2:9: the `[` here is not closed; add `]`, or the comma that is missing between "
            "two entries");
}

}  // namespace
}  // namespace bench
