// SPDX-License-Identifier: Apache-2.0
// `bench worker --describe` (harness/worker/worker.hpp).
#include "base/version.hpp"
#include "harness/wire/model_json.hpp"
#include "harness/wire/protocol_values.hpp"
#include "harness/worker/worker.hpp"
#include "ops/operator.hpp"

#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace bench {
namespace {

using nlohmann::json;

json describe_operator(const ops::Operator& op) {
  json parameters = json::array();
  for (const ops::Parameter& parameter : op.parameters) {
    json row = {{"name", parameter.name},
                {"token", parameter.token},
                {"kind", parameter_kind_names()[static_cast<std::size_t>(parameter.kind)]},
                {"default", parameter.fallback},
                {"help", parameter.help},
                {"minimum", parameter.minimum}};
    if (!parameter.words.empty()) row["words"] = parameter.words;
    parameters.push_back(std::move(row));
  }
  json directions = json::array();
  for (const ops::Direction direction : op.directions) {
    directions.push_back(ops::direction_names()[static_cast<std::size_t>(direction)]);
  }
  return {{"name", op.name},
          {"help", op.help},
          {"parameters", std::move(parameters)},
          {"directions", std::move(directions)},
          {"post_ops", op.takes_post_ops}};
}

json describe_operators(const ops::OperatorRegistry& catalogue) {
  json operators = json::array();
  for (const ops::Operator* op : catalogue.operators()) {
    operators.push_back(describe_operator(*op));
  }
  return operators;
}

json describe_types() {
  json types = json::array();
  for (const DataTypeInfo& type : data_types()) {
    if (type.is_case_type) types.push_back({{"name", type.name}, {"bytes", type.bytes}});
  }
  return types;
}

// Includes `source`, the plugin that provides the backend, if one is loaded.
json describe_backends(const ops::OperatorRegistry& catalogue) {
  json backends = json::array();
  for (const ops::BackendRow& row : catalogue.backends()) {
    json entry = {{"name", row.name}, {"device", row.device}, {"operators", row.operators}};
    if (!row.source.empty()) entry["source"] = row.source;
    backends.push_back(std::move(entry));
  }
  return backends;
}

}  // namespace

std::string describe(WorkerContext& equipment) {
  const ops::Backend& first = equipment.backends.first();
  json devices = {
      {{"name", first.device()}, {"backend", first.name()}, {"library", to_json(first.library())}}};
  json missing = json::array();
  for (const auto& other : equipment.backends.others()) {
    json entry = {{"name", other.device}, {"backend", other.name}};
    if (other.missing) entry["reason"] = *other.missing;
    (other.missing ? missing : devices).push_back(std::move(entry));
  }
  json plugins = json::array();
  for (const ops::LibraryInfo& plugin : equipment.plugins) plugins.push_back(to_json(plugin));
  const json document = {{"protocol", kProtocolVersion},
                         {"tool_version", tool_version()},
                         {"operators", describe_operators(equipment.catalogue())},
                         {"dtypes", describe_types()},
                         {"backends", describe_backends(equipment.catalogue())},
                         {"devices", std::move(devices)},
                         {"missing", std::move(missing)},
                         {"plugins", std::move(plugins)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace bench
