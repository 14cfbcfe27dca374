// SPDX-License-Identifier: Apache-2.0
#include "harness/run/protocol_values.hpp"

#include <nlohmann/json.hpp>

namespace bench {

using nlohmann::json;

json to_json(const MemoryUse& memory) {
  json object = {{"peak_bytes", memory.peak.count},
                 {"weights_bytes", memory.weights.count},
                 {"workspace_bytes", memory.workspace.count}};
  if (memory.activations) object["activations_bytes"] = memory.activations->count;
  return object;
}
MemoryUse memory_use(const json& value) {
  MemoryUse memory{{value.at("peak_bytes").get<std::int64_t>()},
                   {value.at("weights_bytes").get<std::int64_t>()},
                   {value.at("workspace_bytes").get<std::int64_t>()}};
  if (value.contains("activations_bytes")) {
    memory.activations = Bytes{value.at("activations_bytes").get<std::int64_t>()};
  }
  return memory;
}

json to_json(const std::vector<ops::KernelStep>& steps) {
  json list = json::array();
  for (const ops::KernelStep& step : steps) {
    list.push_back({{"node", step.node},
                    {"kind", step.kind},
                    {"implementation", step.implementation},
                    {"layouts", step.layouts},
                    {"met", step.met}});
  }
  return list;
}
std::vector<ops::KernelStep> kernel_steps(const json& list) {
  std::vector<ops::KernelStep> steps;
  for (const json& step : list) {
    steps.push_back({step.at("node").get<std::string>(), step.at("kind").get<std::string>(),
                     step.at("implementation").get<std::string>(),
                     step.at("layouts").get<std::string>(), step.at("met").get<ops::MetLayouts>()});
  }
  return steps;
}

}  // namespace bench
