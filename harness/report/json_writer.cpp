// SPDX-License-Identifier: Apache-2.0
// Records to JSON. Strict: numbers that JSON cannot say (NaN, infinity) are absent, text that is no
// UTF-8 gets replacement characters.
#include "harness/report/fields.hpp"
#include "harness/report/report.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

Json encode(const std::string& value) { return value; }
Json encode(bool value) { return value; }
template <std::integral Integer>
Json encode(Integer value) {
  return value;
}
// Whole numbers are written as such: "460763000000", not "460763000000.0".
Json encode(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(value) <= kExact && std::trunc(value) == value && !std::signbit(value))
    return static_cast<std::int64_t>(value);
  return value;
}
Json encode(Nanoseconds value) { return value.count(); }
Json encode(Bytes value) { return value.count; }
Json encode(FlopsPerSecond value) { return encode(value.value); }
Json encode(BytesPerSecond value) { return encode(value.value); }
Json encode(Outcome value) { return outcome_names()[static_cast<std::size_t>(value)]; }
Json encode(Flag value) { return flag_names()[static_cast<std::size_t>(value)]; }
Json encode(StopReason value) { return stop_reason_names()[static_cast<std::size_t>(value)]; }
Json encode(const std::map<std::string, std::string>& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = value;
  return object;
}
template <class T>
Json encode(const std::optional<T>& value) {
  return encode(*value);
}
template <class T>
Json encode(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(encode(value));
  return array;
}

template <class T>
bool is_present(const T&) {
  return true;
}
bool is_present(double value) { return std::isfinite(value); }
bool is_present(FlopsPerSecond rate) { return std::isfinite(rate.value); }
bool is_present(BytesPerSecond rate) { return std::isfinite(rate.value); }
bool is_present(const std::string& value) { return !value.empty(); }
bool is_present(const std::map<std::string, std::string>& value) { return !value.empty(); }
template <class T>
bool is_present(const std::vector<T>& value) {
  return !value.empty();
}
// An optional text may be empty and is still there.
bool is_present(const std::optional<std::string>& value) { return value.has_value(); }
template <class T>
bool is_present(const std::optional<T>& value) {
  return value && is_present(*value);
}

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}

  template <class T>
  void required(const char* name, const T& value) {
    object_[name] = encode(value);
  }
  template <class T>
  void optional(const char* name, const T& value) {
    if (is_present(value)) object_[name] = encode(value);
  }
  template <class Fields>
  void object(const char* name, Fields fields) {
    Json inner = Json::object();
    Writer writer(inner);
    fields(writer);
    if (!inner.empty()) object_[name] = std::move(inner);
  }
  template <class T, class Fields>
  void group(const char* name, const std::optional<T>& value, Fields fields) {
    if (value) object(name, [&](Writer& writer) { fields(writer, *value); });
  }
  template <class T, class Fields>
  void list(const char* name, const std::vector<T>& values, Fields fields) {
    if (values.empty()) return;
    Json array = Json::array();
    for (const T& value : values) {
      Writer writer(array.emplace_back(Json::object()));
      fields(writer, value);
    }
    object_[name] = std::move(array);
  }
  void bytes(const ops::Work& work) {
    required("bytes", work.traffic());
    required("bytes_read", work.bytes_read);
    required("bytes_written", work.bytes_written);
  }

 private:
  Json& object_;
};

struct Encoder {
  Json operator()(const RunRecord& run) const {
    Json object = {{"record", "run"}, {"schema", kResultSchema}};
    Writer writer(object);
    run_fields(writer, run);
    return object;
  }
  Json operator()(const ProcessRecord& process) const {
    Json object = {{"record", "process"}};
    Writer writer(object);
    process_fields(writer, process);
    return object;
  }
  Json operator()(const CaseRecord& record) const {
    Json object = {{"record", "case"}};
    Writer writer(object);
    case_fields(writer, record);
    return object;
  }
  Json operator()(const ProfilePassRecord& pass) const {
    Json object = {{"record", "profile_pass"}};
    Writer writer(object);
    profile_pass_fields(writer, pass);
    return object;
  }
  Json operator()(const EndRecord& end) const {
    Json object = {{"record", "end"}};
    Writer writer(object);
    end_fields(writer, end);
    return object;
  }
};

template <class T>
Json encode_all(const std::vector<T>& records) {
  Json array = Json::array();
  for (const T& record : records) array.push_back(Encoder{}(record));
  return array;
}

}  // namespace

std::string to_json_line(const Record& record) {
  return std::visit(Encoder{}, record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

Json document_of(const Report& report) {
  Json document = {{"schema", kResultSchema}};
  document["runs"] = encode_all(report.runs);
  document["processes"] = encode_all(report.processes);
  document["cases"] = encode_all(report.cases);
  if (!report.profile_passes.empty()) {
    document["profile_passes"] = encode_all(report.profile_passes);
  }
  document["ends"] = encode_all(report.ends);
  return document;
}

std::string text_of(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json_document(const Report& report) { return text_of(document_of(report)); }

std::string to_json_document(const Report& report, std::string_view profile_summary) {
  Json document = document_of(report);
  document["profile_summary"] = Json::parse(profile_summary);
  return text_of(document);
}

}  // namespace bench
