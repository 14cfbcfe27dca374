// SPDX-License-Identifier: Apache-2.0
// For tests of networks: layers from the text of case ids, and execution by the references.
#pragma once

#include "ops/network/network.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::op_test {

// A layer as written in a case id: layer("fc", "gemm", "n10+bias", {"pool"}).
inline LayerDefinition layer(std::string name, std::string_view op, std::string_view tokens,
                             std::vector<std::string> inputs) {
  Result<ParsedTokens> parsed = parse_tokens(find_operator(op)->parameters, tokens);
  if (!parsed.ok()) ADD_FAILURE() << tokens << ": " << parsed.error().message();
  return {.name = std::move(name),
          .op = std::string(op),
          .parameters = std::move(parsed).value().parameters,
          .inputs = std::move(inputs)};
}

inline Network make(const NetworkDefinition& definition, Fusion fusion, DataType dtype,
                    std::int64_t batch = 1) {
  Result<Network> network = make_network(definition, batch, dtype, Mode::inference, fusion);
  if (!network.ok()) ADD_FAILURE() << network.error().message();
  return std::move(network).value();
}

inline std::vector<std::string> node_names(const Network& network) {
  std::vector<std::string> names;
  for (const Node& node : network.nodes) names.push_back(node.name);
  return names;
}

// Returns the network's output in double precision: every node's reference on its producers'
// results.
inline std::vector<double> run_reference(const Network& network,
                                         const std::vector<std::vector<double>>& parameters,
                                         const std::vector<double>& input) {
  std::vector<std::vector<double>> results;
  auto parameter = parameters.begin();
  for (const Node& node : network.nodes) {
    std::vector<std::vector<double>> inputs;
    for (const int source : node.sources) {
      if (source == kParameter) {
        inputs.push_back(*parameter++);
      } else {
        inputs.push_back(source == kNetworkInput ? input
                                                 : results[static_cast<std::size_t>(source)]);
      }
    }
    results.push_back(built_in_reference(node.problem, inputs, 0, {}));
  }
  EXPECT_TRUE(parameter == parameters.end());
  return results.back();
}

}  // namespace bench::ops::op_test
