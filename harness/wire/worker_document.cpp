// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/worker_document.hpp"

#include "base/json_fields.hpp"
#include "harness/wire/wire_fields.hpp"

namespace bench::ops {

BENCH_FIELDS(ParameterDescription, name, token, kind, (fallback, "default"), help, minimum,
             (words, kOptional));
BENCH_FIELDS(OperatorDescription, name, help, parameters, directions, (takes_post_ops, "post_ops"));

}  // namespace bench::ops

namespace bench {

BENCH_FIELDS(WorkerDocument::Type, name, bytes);
BENCH_FIELDS(WorkerDocument::Backend, name, device, operators, (source, kOptional));
BENCH_FIELDS(WorkerDocument::Device, name, backend, library, reason);

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
  BENCH_MEMBERS(archive, document, operators);
  informative_field("dtypes", document.types);
  BENCH_MEMBERS(archive, document, backends);
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
