// SPDX-License-Identifier: Apache-2.0
#include "harness/import/network_text.hpp"

#include "base/characters.hpp"
#include "base/printable.hpp"
#include "harness/config/yaml.hpp"
#include "harness/import/suite_text.hpp"
#include "ops/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace bench {
namespace {

std::string format_names(const std::vector<std::string>& names) {
  std::vector<std::string> scalars;
  for (const std::string& name : names) scalars.push_back(yaml::format_scalar(name));
  return fmt::format("[{}]", fmt::join(scalars, ", "));
}

// `previous`: the layer before, which is the input of a layer without the key `inputs`.
std::string format_layer(const ops::LayerDefinition& layer, std::string_view previous) {
  std::string text = fmt::format("  - {{ name: {}", yaml::format_scalar(layer.name));
  if (layer.reshape) {
    text += fmt::format(", reshape: [{}]", fmt::join(*layer.reshape, ", "));
  } else {
    text += fmt::format(", op: {}", layer.op);
    for (const ops::Parameter& parameter : layer.parameters.table()) {
      if (!layer.parameters.has(parameter.name)) continue;
      text += fmt::format(", {}: {}", parameter.name,
                          format_suite_value(parameter, layer.parameters.value(parameter.name)));
    }
  }
  if (layer.inputs.size() != 1 || layer.inputs.front() != previous)
    text += fmt::format(", inputs: {}", format_names(layer.inputs));
  return text + " }\n";
}

}  // namespace

std::string format_network(const ops::NetworkDefinition& network, std::string_view title) {
  std::string text;
  while (!title.empty()) text += "# " + printable(cut_field(title, '\n')) + "\n";
  text += fmt::format("version: 1\nnetwork: {}\ninputs:\n", network.name);
  for (const ops::InputDefinition& input : network.inputs)
    text +=
        fmt::format("  {}: [{}]\n", yaml::format_scalar(input.name), fmt::join(input.sizes, ", "));
  text += "layers:\n";
  std::string_view previous;
  for (const ops::LayerDefinition& layer : network.layers) {
    text += format_layer(layer, previous);
    previous = layer.name;
  }
  text += "outputs:\n";
  for (const std::string& output : network.outputs)
    text += fmt::format("  - {}\n", yaml::format_scalar(output));
  return text;
}

}  // namespace bench
