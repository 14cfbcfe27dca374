// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/network_json.hpp"

#include "ops/operator.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace bench {
namespace {

using nlohmann::json;

json to_json(const ops::Value& value) {
  struct Visitor {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(std::int64_t v) const { return v; }
    json operator()(bool v) const { return v; }
    json operator()(double v) const { return v; }
    json operator()(const std::string& v) const { return v; }
    json operator()(const std::vector<std::int64_t>& v) const { return v; }
    json operator()(const std::vector<ops::PadPair>& v) const {
      json list = json::array();
      for (const ops::PadPair& pad : v) list.push_back({pad.begin, pad.end});
      return list;
    }
  };
  return std::visit(Visitor{}, value);
}

ops::Value parameter_value(const ops::Parameter& parameter, const json& value) {
  switch (parameter.kind) {
    case ops::ParameterKind::count:
      return value.get<std::int64_t>();
    case ops::ParameterKind::flag:
      return value.get<bool>();
    case ops::ParameterKind::word:
      return value.get<std::string>();
    case ops::ParameterKind::real:
      return value.get<double>();
    case ops::ParameterKind::spatial:
    case ops::ParameterKind::shape:
      return value.get<std::vector<std::int64_t>>();
    case ops::ParameterKind::padding:
      break;
  }
  std::vector<ops::PadPair> pads;
  for (const json& pad : value) {
    pads.push_back({pad.at(0).get<std::int64_t>(), pad.at(1).get<std::int64_t>()});
  }
  return pads;
}

json to_json(const ops::LayerDefinition& layer) {
  json parameters = json::object();
  const auto table = layer.parameters.table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!std::holds_alternative<std::monostate>(layer.parameters.value(i))) {
      parameters[std::string(table[i].name)] = to_json(layer.parameters.value(i));
    }
  }
  return {{"name", layer.name},
          {"op", layer.op},
          {"parameters", std::move(parameters)},
          {"inputs", layer.inputs}};
}

ops::LayerDefinition layer(const json& value, const ops::Catalogue& catalogue) {
  ops::LayerDefinition result;
  result.name = value.at("name").get<std::string>();
  result.op = value.at("op").get<std::string>();
  const ops::Operator* op = catalogue.find(result.op);
  if (op == nullptr) throw std::runtime_error("unknown operator `" + result.op + "`");
  result.parameters = ops::ParameterSet(op->parameters);
  for (const auto& [name, parameter_json] : value.at("parameters").items()) {
    const ops::Parameter* parameter = ops::find_parameter(op->parameters, name);
    if (parameter == nullptr) throw std::runtime_error("unknown parameter `" + name + "`");
    result.parameters.set(name, parameter_value(*parameter, parameter_json));
  }
  result.inputs = value.at("inputs").get<std::vector<std::string>>();
  return result;
}

}  // namespace

json network_to_json(const PlannedNetwork& network) {
  json layers = json::array();
  for (const ops::LayerDefinition& definition : network.definition.layers) {
    layers.push_back(to_json(definition));
  }
  return {{"name", network.definition.name},
          {"input", network.definition.input},
          {"layers", std::move(layers)},
          {"batch", network.batch},
          {"mode", network.mode == ops::Mode::training ? "training" : "inference"},
          {"fuse", network.fusion == ops::Fusion::fused}};
}

std::shared_ptr<const PlannedNetwork> network_from_json(const json& value,
                                                        const ops::Catalogue& catalogue) {
  auto result = std::make_shared<PlannedNetwork>();
  result->definition.name = value.at("name").get<std::string>();
  result->definition.input = value.at("input").get<ops::Dims>();
  for (const json& item : value.at("layers"))
    result->definition.layers.push_back(layer(item, catalogue));
  result->batch = value.at("batch").get<std::int64_t>();
  result->mode = value.at("mode").get<std::string>() == "training" ? ops::Mode::training
                                                                   : ops::Mode::inference;
  result->fusion = value.at("fuse").get<bool>() ? ops::Fusion::fused : ops::Fusion::separate;
  return result;
}

}  // namespace bench
