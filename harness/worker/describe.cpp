// SPDX-License-Identifier: Apache-2.0
// `bench worker --describe` and `--probe onednn` (harness/worker/worker.hpp).
#include "base/version.hpp"
#include "harness/wire/messages.hpp"
#include "harness/wire/worker_document.hpp"
#include "harness/worker/worker.hpp"
#include "ops/onednn/library.hpp"
#include "ops/operator.hpp"

namespace bench {
namespace {

ops::OperatorDescription make_description(const ops::Operator& op) {
  ops::OperatorDescription description;
  description.name = op.name;
  description.help = op.help;
  description.takes_post_ops = op.takes_post_ops;
  description.directions.assign(op.directions.begin(), op.directions.end());
  for (const ops::Parameter& parameter : op.parameters) {
    description.parameters.push_back({std::string(parameter.name),
                                      std::string(parameter.token),
                                      parameter.kind,
                                      std::string(parameter.fallback),
                                      std::string(parameter.help),
                                      parameter.minimum,
                                      {parameter.words.begin(), parameter.words.end()}});
  }
  return description;
}

void add_devices(WorkerContext& context, const std::optional<std::vector<std::string>>& probed,
                 WorkerDocument& document) {
  const ops::Backend& first = context.backends.first();
  document.devices.push_back(
      {std::string(first.device()), std::string(first.name()), first.library(), std::nullopt});
  for (const auto& other : context.backends.others(probed)) {
    auto& list = other.missing ? document.missing : document.devices;
    list.push_back({other.device, other.name, other.library, other.missing});
  }
}

}  // namespace

std::string describe(WorkerContext& context,
                     const std::optional<std::vector<std::string>>& probed) {
  WorkerDocument document;
  document.protocol = kProtocolVersion;
  document.tool_version = tool_version();
  for (const ops::Operator* op : context.registry().operators()) {
    document.operators.push_back(make_description(*op));
  }
  for (const DataTypeInfo& type : data_types()) {
    if (type.is_case_type) document.types.push_back({std::string(type.name), type.bytes});
  }
  for (const ops::BackendRow& row : context.registry().backends()) {
    document.backends.push_back({row.name, row.device, row.operators, row.source});
  }
  add_devices(context, probed, document);
  document.plugins = context.plugins;
  return format_worker_document(document);
}

std::string identify_onednn() {
  WorkerDocument document;
  document.protocol = kProtocolVersion;
  document.tool_version = tool_version();
  document.devices.push_back({"cpu", "onednn", ops::onednn_library_file(), std::nullopt});
  return format_worker_document(document);
}

}  // namespace bench
