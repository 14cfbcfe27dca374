// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"

#include "base/json_reader.hpp"
#include "harness/result/fields.hpp"
#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"

namespace bench {

std::string to_json_line(const Record& record) {
  return std::visit([](const auto& kind) { return format_json(kind); }, record);
}

namespace {

// Writes a network summary as the console prints it. It is derived from the cases.
void summary_fields(JsonWriter& writer, const NetworkSummary& summary) {
  writer.required("network", summary.network);
  writer.optional("id", summary.network_id);
  writer.optional("cache", summary.cache);
  writer.optional("network_ns", summary.network_time);
  if (summary.layers_total > 0) {
    writer.required("layers_ns", summary.layers_time);
    writer.required("layers_measured", summary.layers_measured);
    writer.required("layers_total", summary.layers_total);
  }
  writer.optional("missing", summary.missing);
  writer.optional("lacks", summary.lacks);
  writer.optional("rest", summary.rest);
}

void document_fields(JsonWriter& writer, const Report& report) {
  writer.constant("schema", kResultSchema);
  writer.required("runs", report.runs);
  writer.required("processes", report.processes);
  writer.required("cases", report.cases);
  writer.optional("profile_passes", report.profile_passes);
  writer.required("ends", report.ends);
  writer.list("networks", summarise_networks(report), summary_fields);
}

constexpr JsonStyle kDocumentStyle{.indent = 2};

}  // namespace

std::string to_json_document(const Report& report) {
  return json_object([&](JsonWriter& writer) { document_fields(writer, report); }, kDocumentStyle) +
         "\n";
}

std::string to_json_document(const Report& report, std::string_view profile_summary) {
  const auto summary = parse_json(profile_summary);
  return json_object(
             [&](JsonWriter& writer) {
               document_fields(writer, report);
               if (summary) writer.required("profile_summary", summary->root());
             },
             kDocumentStyle) +
         "\n";
}

}  // namespace bench
