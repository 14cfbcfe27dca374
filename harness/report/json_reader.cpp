// SPDX-License-Identifier: Apache-2.0
// JSON to records. Files come from killed runs, other versions and strangers: whatever they hold is
// a record or an error, and every number fits its type.
#include "harness/report/json_reader.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "harness/report/fields.hpp"
#include "harness/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace bench {
namespace {

using Json = nlohmann::json;

// Records nest 3 deep; what nests far deeper costs memory and is none.
constexpr int kDeepest = 32;

bool nests_too_deeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

// Each decode() returns what it expected, empty when it found it.
using Expected = std::string;

Expected decode(const Json& json, std::string& value) {
  if (!json.is_string()) return "text";
  value = json.get<std::string>();
  return {};
}

Expected decode(const Json& json, bool& value) {
  if (!json.is_boolean()) return "true or false";
  value = json.get<bool>();
  return {};
}

// No count and no time of a record is negative.
template <std::integral Integer>
Expected decode(const Json& json, Integer& value) {
  const std::uint64_t largest = std::numeric_limits<Integer>::max();
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > largest)
    return fmt::format("an integer from 0 to {}", largest);
  value = static_cast<Integer>(json.get<std::uint64_t>());
  return {};
}

Expected decode(const Json& json, double& value) {
  if (!json.is_number() || !std::isfinite(json.get<double>()) || json.get<double>() < 0)
    return "a number of at least 0";
  value = json.get<double>();
  return {};
}

Expected decode(const Json& json, FlopsPerSecond& rate) { return decode(json, rate.value); }
Expected decode(const Json& json, BytesPerSecond& rate) { return decode(json, rate.value); }
Expected decode(const Json& json, Bytes& bytes) { return decode(json, bytes.count); }

Expected decode(const Json& json, Nanoseconds& time) {
  std::int64_t count = 0;
  Expected expected = decode(json, count);
  time = Nanoseconds(count);
  return expected;
}

template <class Enum>
Expected decode_name(const Json& json, std::span<const std::string_view> names, Enum& value) {
  const std::string name = json.is_string() ? json.get<std::string>() : std::string();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    value = static_cast<Enum>(i);
    return {};
  }
  return fmt::format("one of {}", fmt::join(names, ", "));
}

Expected decode(const Json& json, Outcome& value) {
  return decode_name(json, outcome_names(), value);
}
Expected decode(const Json& json, Flag& value) { return decode_name(json, flag_names(), value); }
Expected decode(const Json& json, StopReason& value) {
  return decode_name(json, stop_reason_names(), value);
}

Expected decode(const Json& json, std::map<std::string, std::string>& values) {
  if (!json.is_object()) return "an object of texts";
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) return "an object of texts";
    values[name] = value.get<std::string>();
  }
  return {};
}

template <class T>
Expected decode(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) return "a list";
  values.reserve(json.size());
  for (const Json& item : json) {
    if (Expected expected = decode(item, values.emplace_back()); !expected.empty())
      return "a list with each item " + expected;
  }
  return {};
}

template <class T>
Expected decode(const Json& json, std::optional<T>& value) {
  return decode(json, value.emplace());
}

class Reader {
 public:
  // Keeps the first problem only: later ones follow from it.
  Reader(const Json& object, std::string prefix, std::string& problem)
      : object_(object), prefix_(std::move(prefix)), problem_(problem) {}

  template <class T>
  void required(const char* name, T& value) {
    if (const Json* found = find(name)) return read(name, *found, value);
    complain(name, "is missing");
  }
  template <class T>
  void optional(const char* name, T& value) {
    if (const Json* found = find(name)) read(name, *found, value);
  }
  template <class Fields>
  void object(const char* name, Fields fields) {
    const Json* found = find(name);
    if (found != nullptr) descend(name, *found, fields);
  }
  template <class T, class Fields>
  void group(const char* name, std::optional<T>& value, Fields fields) {
    const Json* found = find(name);
    if (found == nullptr) return;
    descend(name, *found, [&](Reader& reader) { fields(reader, value.emplace()); });
  }
  template <class T, class Fields>
  void list(const char* name, std::vector<T>& values, Fields fields) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_array()) return complain(name, "is not a list");
    for (const Json& item : *found)
      descend(name, item, [&](Reader& reader) { fields(reader, values.emplace_back()); });
  }
  // Files of others may give the sum alone.
  void bytes(ops::Work& work) {
    if (find("bytes_read") != nullptr || find("bytes_written") != nullptr) {
      optional("bytes_read", work.bytes_read);
      optional("bytes_written", work.bytes_written);
    } else {
      required("bytes", work.bytes_read);
    }
    if (!(Checked(work.bytes_read) + work.bytes_written).value())
      complain("bytes", "is more than 2^63 - 1");
  }

 private:
  const Json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void complain(const char* name, std::string_view what) {
    if (problem_.empty()) problem_ = fmt::format("`{}{}` {}", prefix_, name, what);
  }
  template <class T>
  void read(const char* name, const Json& json, T& value) {
    const Expected expected = decode(json, value);
    if (!expected.empty()) complain(name, fmt::format("is not {}", expected));
  }
  template <class Fields>
  void descend(const char* name, const Json& json, Fields fields) {
    if (!json.is_object()) return complain(name, "is not an object");
    Reader reader(json, fmt::format("{}{}.", prefix_, name), problem_);
    fields(reader);
  }

  const Json& object_;
  std::string prefix_;
  std::string& problem_;
};

// Rules that no single field shows.
std::string contradiction(const ProcessRecord& process) {
  return process.iterations_per_sample > 0 ? "" : "`iterations_per_sample` is not at least 1";
}
std::string contradiction(const CaseRecord& record) {
  if (record.multiplicity == 0) return "`multiplicity` is not at least 1";
  if (!record.time) return "";
  return record.time->low.has_value() == record.time->high.has_value()
             ? ""
             : "`time.low_ns` and `time.high_ns` stand together";
}
template <class T>
std::string contradiction(const T&) {
  return "";
}

template <class T, class Fields>
Result<Line> read_record(const Json& object, Fields fields) {
  T record;
  std::string problem;
  Reader reader(object, "", problem);
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
  return read_record<RunRecord>(object, [](Reader& r, RunRecord& v) { run_fields(r, v); });
}
Result<Line> read_process(const Json& object) {
  return read_record<ProcessRecord>(object,
                                    [](Reader& r, ProcessRecord& v) { process_fields(r, v); });
}
Result<Line> read_case(const Json& object) {
  return read_record<CaseRecord>(object, [](Reader& r, CaseRecord& v) { case_fields(r, v); });
}
Result<Line> read_profile_pass(const Json& object) {
  return read_record<ProfilePassRecord>(
      object, [](Reader& r, ProfilePassRecord& v) { profile_pass_fields(r, v); });
}
Result<Line> read_end(const Json& object) {
  return read_record<EndRecord>(object, [](Reader& r, EndRecord& v) { end_fields(r, v); });
}

struct Kind {
  std::string_view name;
  Result<Line> (*read)(const Json& object);
};
constexpr Kind kKinds[] = {{"run", read_run},
                           {"process", read_process},
                           {"case", read_case},
                           {"profile_pass", read_profile_pass},
                           {"end", read_end}};

Result<Json> parse_json(std::string_view text) {
  if (nests_too_deeply(text)) return Error{"it nests too deeply", "", ""};
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{"it is not valid JSON", "", ""};
  return json;
}

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
  for (const char* part : {"runs", "processes", "cases", "profile_passes", "ends"}) {
    const auto records = parsed->find(part);
    if (records == parsed->end() && part == std::string_view("profile_passes")) continue;
    if (records == parsed->end() || !records->is_array()) return std::nullopt;
    for (const Json& record : *records) lines.push_back(record.dump());
  }
  return lines;
}

}  // namespace bench
