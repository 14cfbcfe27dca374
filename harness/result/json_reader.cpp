// SPDX-License-Identifier: Apache-2.0
#include "harness/result/json_reader.hpp"

#include "base/text.hpp"
#include "harness/result/field_reader.hpp"
#include "harness/result/fields.hpp"
#include "harness/result/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

using Json = nlohmann::json;

// Returns a violated rule that no single field shows; empty if there is none.
std::string contradiction(const ProcessRecord& process) {
  return process.iterations_per_sample > 0 ? "" : "`iterations_per_sample` is not at least 1";
}
std::string contradiction(const CaseRecord& record) {
  if (record.multiplicity == 0) return "`multiplicity` is not at least 1";
  if (!record.time) return "";
  return record.time->low.has_value() == record.time->high.has_value()
             ? ""
             : "`time.low_ns` and `time.high_ns` must occur together";
}
template <class T>
std::string contradiction(const T&) {
  return "";
}

template <class T, class Fields>
Result<Line> read_record(const Json& object, Fields fields) {
  T record;
  std::string problem;
  FieldReader reader(object, "", problem);
  fields(reader, record);
  if (problem.empty()) problem = contradiction(record);
  if (!problem.empty()) return Error{problem, "", ""};
  return Line(Record(std::move(record)));
}

Result<Line> read_run(const Json& object) {
  const auto schema = object.find("schema");
  const std::string name =
      schema != object.end() && schema->is_string() ? schema->get<std::string>() : "";
  if (name != kResultSchema) return Line(OtherSchema{name});
  return read_record<RunRecord>(object, [](FieldReader& r, RunRecord& v) { run_fields(r, v); });
}
Result<Line> read_process(const Json& object) {
  return read_record<ProcessRecord>(object,
                                    [](FieldReader& r, ProcessRecord& v) { process_fields(r, v); });
}
Result<Line> read_case(const Json& object) {
  return read_record<CaseRecord>(object, [](FieldReader& r, CaseRecord& v) { case_fields(r, v); });
}
Result<Line> read_profile_pass(const Json& object) {
  return read_record<ProfilePassRecord>(
      object, [](FieldReader& r, ProfilePassRecord& v) { profile_pass_fields(r, v); });
}
Result<Line> read_canary(const Json& object) {
  return read_record<CanaryRecord>(object,
                                   [](FieldReader& r, CanaryRecord& v) { canary_fields(r, v); });
}
Result<Line> read_end(const Json& object) {
  return read_record<EndRecord>(object, [](FieldReader& r, EndRecord& v) { end_fields(r, v); });
}

struct Kind {
  std::string_view name;
  Result<Line> (*read)(const Json& object);
};
constexpr Kind kKinds[] = {{"run", read_run},       {"process", read_process},
                           {"case", read_case},     {"profile_pass", read_profile_pass},
                           {"canary", read_canary}, {"end", read_end}};

}  // namespace

Result<Line> parse_line(std::string_view text) {
  BENCH_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  const auto kind = json.is_object() ? json.find("record") : json.end();
  if (!json.is_object() || kind == json.end() || !kind->is_string())
    return Error{"it has no field `record`", "", ""};
  for (const Kind& row : kKinds) {
    if (kind->get_ref<const std::string&>() == row.name) return row.read(json);
  }
  return Line(OtherRecord{kind->get<std::string>()});
}

Result<Record> record_from_json_line(std::string_view line) {
  BENCH_ASSIGN_OR_RETURN(Line parsed, parse_line(line));
  if (auto* record = std::get_if<Record>(&parsed)) return std::move(*record);
  if (const auto* other = std::get_if<OtherRecord>(&parsed)) {
    return Error{fmt::format("unknown record `{}`", shorten(other->kind, 40)), "",
                 "expected one of run, process, case, end"};
  }
  return Error{fmt::format("schema `{}` instead of `{}`",
                           shorten(std::get<OtherSchema>(parsed).schema, 40), kResultSchema),
               "", ""};
}

std::optional<std::vector<std::string>> document_lines(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed.ok() || !parsed->is_object() || !parsed->contains("schema")) return std::nullopt;
  std::vector<std::string> lines;
  struct Part {
    const char* name;
    bool always;
  };
  constexpr Part kParts[] = {{"runs", true},      {"processes", true},
                             {"cases", true},     {"profile_passes", false},
                             {"canaries", false}, {"ends", true}};
  for (const auto& [part, always] : kParts) {
    const auto records = parsed->find(part);
    if (records == parsed->end() && !always) continue;
    if (records == parsed->end() || !records->is_array()) return std::nullopt;
    for (const Json& record : *records) lines.push_back(record.dump());
  }
  return lines;
}

}  // namespace bench
