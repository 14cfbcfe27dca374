// SPDX-License-Identifier: Apache-2.0
#include "harness/result/json_reader.hpp"

#include "base/quote.hpp"
#include "harness/result/fields.hpp"
#include "harness/result/report.hpp"

#include <fmt/format.h>

namespace bench {
namespace {

// Returns the first rule that the values of a record violate; empty if there is none.
std::string find_contradiction(const ProcessRecord& process) {
  return process.iterations_per_sample > 0 ? "" : "`iterations_per_sample` is not at least 1";
}
std::string find_contradiction(const CaseRecord& record) {
  if (record.multiplicity == 0) return "`multiplicity` is not at least 1";
  if (!record.time) return "";
  return record.time->low.has_value() == record.time->high.has_value()
             ? ""
             : "`time.low_ns` and `time.high_ns` must occur together";
}
template <class T>
std::string find_contradiction(const T&) {
  return "";
}

template <class T>
Result<Line> read_record(JsonValue object) {
  T record;
  JsonReader reader(object);
  fields(reader, record);
  std::string problem = reader.problem();
  if (problem.empty()) problem = find_contradiction(record);
  if (!problem.empty()) return Error{problem, "", ""};
  return Line(Record(std::move(record)));
}

Result<Line> read_run(JsonValue object) {
  const std::string_view schema = object.text_at("schema").value_or("");
  if (schema != kResultSchema) return Line(OtherSchema{std::string(schema)});
  return read_record<RunRecord>(object);
}

struct Kind {
  std::string_view name;
  Result<Line> (*read)(JsonValue object);
};
constexpr Kind kKinds[] = {{"run", read_run},
                           {"process", read_record<ProcessRecord>},
                           {"case", read_record<CaseRecord>},
                           {"profile_pass", read_record<ProfilePassRecord>},
                           {"end", read_record<EndRecord>}};

}  // namespace

Result<Line> parse_line(std::string_view text, JsonDocument& document) {
  BENCH_RETURN_IF_ERROR(document.parse(text));
  const auto kind = document.root().text_at("record");
  if (!kind) return Error{"it has no field `record`", "", ""};
  for (const Kind& row : kKinds) {
    if (*kind == row.name) return row.read(document.root());
  }
  return Line(OtherRecord{std::string(*kind)});
}

Result<Record> record_from_json_line(std::string_view line) {
  JsonDocument document;
  BENCH_ASSIGN_OR_RETURN(Line parsed, parse_line(line, document));
  if (auto* record = std::get_if<Record>(&parsed)) return std::move(*record);
  if (const auto* other = std::get_if<OtherRecord>(&parsed)) {
    return Error{fmt::format("unknown record {}", quote(other->kind)), "",
                 "expected one of run, process, case, end"};
  }
  return Error{fmt::format("schema {} instead of `{}`", quote(std::get<OtherSchema>(parsed).schema),
                           kResultSchema),
               "", ""};
}

std::optional<std::vector<std::string>> document_lines(std::string_view text) {
  const auto document = parse_json(text);
  if (!document.ok() || !document->root().is_object()) return std::nullopt;
  const JsonValue root = document->root();
  if (!root.find("schema")) return std::nullopt;
  std::vector<std::string> lines;
  struct RecordList {
    const char* name;
    bool is_required;
  };
  constexpr RecordList kRecordLists[] = {{"runs", true},
                                         {"processes", true},
                                         {"cases", true},
                                         {"profile_passes", false},
                                         {"ends", true}};
  for (const auto& [name, is_required] : kRecordLists) {
    const auto index = root.find(name);
    if (!index && !is_required) continue;
    if (!index || !root.member(*index).is_list()) return std::nullopt;
    const JsonValue records = root.member(*index);
    for (std::size_t i = 0; i < records.size(); ++i) lines.push_back(format_json(records.item(i)));
  }
  return lines;
}

}  // namespace bench
