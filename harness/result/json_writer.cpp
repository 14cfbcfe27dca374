// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
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
  BENCH_MEMBERS(writer, summary, network, (network_id, "id", kOptional), (cache, kOptional),
                (network_time, "network_ns"));
  if (summary.layers_total > 0) {
    BENCH_MEMBERS(writer, summary, (layers_time, "layers_ns"), layers_measured, layers_total);
  }
  BENCH_MEMBERS(writer, summary, (missing, kOptional), (lacks, kOptional), rest);
}

void document_fields(JsonWriter& writer, const Report& report) {
  writer.constant("schema", kResultSchema);
  BENCH_MEMBERS(writer, report, runs, processes, cases, (profile_passes, kOptional), ends);
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
