// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/worker_document.hpp"

#include "harness/wire/wire_fields.hpp"

namespace bench::ops {

void fields(auto& archive, JsonOf<ParameterDescription> auto& parameter) {
  archive.required("name", parameter.name);
  archive.required("token", parameter.token);
  archive.required("kind", parameter.kind);
  archive.required("default", parameter.fallback);
  archive.required("help", parameter.help);
  archive.required("minimum", parameter.minimum);
  archive.optional("words", parameter.words);
}

void fields(auto& archive, JsonOf<OperatorDescription> auto& op) {
  archive.required("name", op.name);
  archive.required("help", op.help);
  archive.required("parameters", op.parameters);
  archive.required("directions", op.directions);
  archive.required("post_ops", op.takes_post_ops);
}

}  // namespace bench::ops

namespace bench {

void fields(auto& archive, JsonOf<WorkerDocument::Type> auto& type) {
  archive.required("name", type.name);
  archive.required("bytes", type.bytes);
}

void fields(auto& archive, JsonOf<WorkerDocument::Backend> auto& backend) {
  archive.required("name", backend.name);
  archive.required("device", backend.device);
  archive.required("operators", backend.operators);
  archive.optional("source", backend.source);
}

void fields(auto& archive, JsonOf<WorkerDocument::Device> auto& device) {
  archive.required("name", device.name);
  archive.required("backend", device.backend);
  archive.optional("library", device.library);
  archive.optional("reason", device.reason);
}

template <class Archive>
void fields(Archive& archive, JsonOf<WorkerDocument> auto& document) {
  // Always written, but optional when read: a coordinator does not use these fields.
  const auto informative_field = [&](const char* name, auto& value) {
    if constexpr (Archive::kReads) {
      archive.optional(name, value);
    } else {
      archive.required(name, value);
    }
  };
  informative_field("protocol", document.protocol);
  informative_field("tool_version", document.tool_version);
  archive.required("operators", document.operators);
  informative_field("dtypes", document.types);
  archive.required("backends", document.backends);
  informative_field("devices", document.devices);
  informative_field("missing", document.missing);
  informative_field("plugins", document.plugins);
}

std::string format_worker_document(const WorkerDocument& document) {
  return format_json(document, kWireStyle);
}

Result<WorkerDocument> parse_worker_document(std::string_view text) {
  WorkerDocument document;
  BENCH_RETURN_IF_ERROR(read_json_object(
      text, [&](JsonReader& reader) { fields(reader, document); }, kWireRules));
  return document;
}

}  // namespace bench
