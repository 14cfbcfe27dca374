// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/model_json.hpp"

#include "ops/operator.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

namespace {

using nlohmann::json;

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kRoleNames = {"input", "weights", "output"};
constexpr std::array<std::string_view, 7> kParameterKindNames = {
    "count", "flag", "word", "real", "spatial", "padding", "shape"};

template <class Enumeration>
std::string_view name_in(std::span<const std::string_view> names, Enumeration value) {
  return names[static_cast<std::size_t>(value)];
}

DataType data_type(const json& value) {
  const auto name = value.get<std::string>();
  const auto type = data_type_from_name(name);
  if (!type) throw std::runtime_error("unknown data type `" + name + "`");
  return *type;
}

json to_json(const ops::Tensor& tensor) {
  return {{"name", tensor.name},
          {"role", name_in(kRoleNames, tensor.role)},
          {"dtype", info(tensor.dtype).name},
          {"dims", tensor.dims},
          {"touched", tensor.touched}};
}

ops::Tensor tensor(const json& value) {
  return {.name = value.at("name").get<std::string>(),
          .role = enumerator<ops::TensorRole>(value.at("role"), kRoleNames),
          .dtype = data_type(value.at("dtype")),
          .dims = value.at("dims").get<ops::Dims>(),
          .touched = value.at("touched").get<std::int64_t>()};
}

json to_json(const ops::Work& work) {
  json result = {{"flops", work.flops},
                 {"flops_valid", work.flops_valid},
                 {"sfu_ops", work.sfu_ops},
                 {"bytes_read", work.bytes_read},
                 {"bytes_written", work.bytes_written}};
  if (work.macs) result["macs"] = *work.macs;
  return result;
}

ops::Work work(const json& value) {
  ops::Work result;
  if (value.contains("macs")) result.macs = value.at("macs").get<std::int64_t>();
  result.flops = value.at("flops").get<std::int64_t>();
  result.flops_valid = value.at("flops_valid").get<std::int64_t>();
  result.sfu_ops = value.at("sfu_ops").get<std::int64_t>();
  result.bytes_read = value.at("bytes_read").get<std::int64_t>();
  result.bytes_written = value.at("bytes_written").get<std::int64_t>();
  return result;
}

}  // namespace

std::span<const std::string_view> parameter_kind_names() { return kParameterKindNames; }

std::size_t word_index(const json& value, std::span<const std::string_view> names) {
  const auto name = value.get<std::string>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::runtime_error("unknown word `" + name + "`");
  return static_cast<std::size_t>(found - names.begin());
}

json to_json(const ModelRequest& request) {
  return {{"op", request.op},
          {"direction", name_in(ops::direction_names(), request.direction)},
          {"dtype", info(request.dtype).name},
          {"layout", name_in(ops::layout_names(), request.layout)},
          {"math", name_in(ops::math_names(), request.math)},
          {"tokens", request.tokens}};
}

ModelRequest model_request(const json& value) {
  return {.op = value.at("op").get<std::string>(),
          .direction = enumerator<ops::Direction>(value.at("direction"), ops::direction_names()),
          .dtype = data_type(value.at("dtype")),
          .layout = enumerator<ops::Layout>(value.at("layout"), ops::layout_names()),
          .math = enumerator<ops::Math>(value.at("math"), ops::math_names()),
          .tokens = value.at("tokens").get<std::string>()};
}

json to_json(const Result<ops::Model>& model) {
  if (!model) {
    const Error& error = model.error();
    return {{"error", {{"what", error.what}, {"where", error.where}, {"next", error.next}}}};
  }
  json tensors = json::array();
  for (const ops::Tensor& item : model->tensors) tensors.push_back(to_json(item));
  json formulas = json::array();
  for (const ops::Formula& formula : model->formulas) {
    formulas.push_back({{"name", formula.name},
                        {"expression", formula.expression},
                        {"values", formula.values},
                        {"result", formula.result}});
  }
  return {{"tensors", std::move(tensors)},
          {"work", to_json(model->work)},
          {"formulas", std::move(formulas)}};
}

Result<ops::Model> model_result(const json& value) {
  if (value.contains("error")) {
    const json& error = value.at("error");
    return Error{error.at("what").get<std::string>(), error.at("where").get<std::string>(),
                 error.at("next").get<std::string>()};
  }
  ops::Model model;
  for (const json& item : value.at("tensors")) model.tensors.push_back(tensor(item));
  model.work = work(value.at("work"));
  for (const json& item : value.at("formulas")) {
    model.formulas.push_back(
        {item.at("name").get<std::string>(), item.at("expression").get<std::string>(),
         item.at("values").get<std::string>(), item.at("result").get<std::int64_t>()});
  }
  return model;
}

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

ops::LayerDefinition layer(const json& value, const ops::OperatorRegistry& catalogue) {
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
                                                        const ops::OperatorRegistry& catalogue) {
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
