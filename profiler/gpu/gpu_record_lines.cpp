// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/gpu_record_lines.hpp"

#include "base/lines.hpp"
#include "base/nearest_name.hpp"
#include "profiler/gpu/gpu_record_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
using gpu_record_fields::describe;
using gpu_record_fields::OwnerLine;

class Writer {
 public:
  static constexpr bool kWrites = true;
  explicit Writer(std::string_view record) { json_["record"] = record; }

  template <class T>
  void operator()(const char* key, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      json_[key] = name_of_enum(value);
    } else {
      json_[key] = value;
    }
  }
  void operator()(const char* key, Nanoseconds value) { json_[key] = value.count(); }
  void operator()(const char* key, const GpuSize& value) {
    json_[key] = {value.x, value.y, value.z};
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  // A group of fields that is there or not, known by its first one.
  template <class T>
  void whole(const char*, const std::optional<T>& group) {
    if (group) describe<Writer>(*this, *group);
  }

  std::string line() const {
    return json_.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }

 private:
  Json json_;
};

class Reader {
 public:
  static constexpr bool kWrites = false;
  explicit Reader(const Json& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = json_.find(key);
    if (found == json_.end()) return fail(fmt::format("no `{}`", key));
    ++used_;
    read(key, *found, value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    if (!json_.contains(key)) return;
    (*this)(key, value.emplace());
  }
  void operator()(const char* key, std::string_view expected) {
    std::string text;
    (*this)(key, text);
    if (problem_.empty() && text != expected) {
      fail(fmt::format("`{}` is `{}`, this version reads `{}`", key, text, expected));
    }
  }
  template <class T>
  void whole(const char* key, std::optional<T>& group) {
    if (json_.contains(key)) describe<Reader>(*this, group.emplace());
  }

  // What is wrong, after all fields; empty: nothing. `record` and the fields are all there may be.
  std::string problem() {
    if (problem_.empty() && used_ + 1 != json_.size()) fail("holds a key that is not known");
    return std::move(problem_);
  }

 private:
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  void expect(const char* key, const char* what) { fail(fmt::format("`{}` is no {}", key, what)); }

  template <class T>
  void read(const char* key, const Json& json, T& value) {
    if constexpr (std::is_enum_v<T>) {
      read_word(key, json, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) return expect(key, "text");
      value = json.get<std::string>();
    } else {
      read_number(key, json, value);
    }
  }
  template <class T>
  void read_number(const char* key, const Json& json, T& value) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const bool fits = json.is_number_unsigned() ? json.get<std::uint64_t>() <= kMost
                                                : json.is_number_integer() && std::is_signed_v<T>;
    if (!fits) return expect(key, std::is_signed_v<T> ? "integer" : "number from 0 on");
    value = json.get<T>();
  }
  template <class Enum>
  void read_word(const char* key, const Json& json, Enum& value) {
    if (!json.is_string()) return expect(key, "text");
    const auto names = names_of(value);
    const auto& word = json.get_ref<const std::string&>();
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      return fail(
          fmt::format("`{}` has the unknown word `{}`, {}", key, word, expectation(word, names)));
    }
    value = static_cast<Enum>(found - names.begin());
  }
  void read(const char* key, const Json& json, Nanoseconds& value) {
    std::int64_t count = 0;
    read_number(key, json, count);
    // So that sums of times stay in range.
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
    if (count > kMost || count < -kMost) return expect(key, "time in range");
    value = Nanoseconds(count);
  }
  void read(const char* key, const Json& json, GpuSize& value) {
    if (!json.is_array() || json.size() != 3) return expect(key, "list of three numbers");
    read_number(key, json[0], value.x);
    read_number(key, json[1], value.y);
    read_number(key, json[2], value.z);
  }
  void read(const char* key, const Json& json, std::vector<std::string>& value) {
    if (!json.is_array()) return expect(key, "list");
    for (const Json& item : json) read(key, item, value.emplace_back());
  }

  const Json& json_;
  std::size_t used_ = 0;
  std::string problem_;
};

// Names of the records, in the order of GpuRecord's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<GpuRecord>> kRecordNames = {
    "kernel",   "memcpy",          "memset",     "allocation", "api",    "external_id",
    "overhead", "synchronisation", "graph_node", "device",     "context"};

template <class Record>
std::string line_of(std::string_view name, const Record& record) {
  Writer writer(name);
  describe<Writer>(writer, record);
  return writer.line();
}

template <class Record>
std::string take_record(const Json& json, GpuSession& session) {
  Reader reader(json);
  Record record;
  describe<Reader>(reader, record);
  std::string problem = reader.problem();
  if (problem.empty()) session.records.emplace_back(std::move(record));
  return problem;
}

std::string take_owner(const Json& json, GpuSession& session) {
  Reader reader(json);
  OwnerLine line;
  describe<Reader>(reader, line);
  std::string problem = reader.problem();
  if (problem.empty() && !session.owners.emplace(line.id, std::move(line.owner)).second) {
    problem = fmt::format("a second owner of id {}", line.id);
  }
  return problem;
}

std::string take_session(const Json& json, GpuSession& session) {
  Reader reader(json);
  describe<Reader>(reader, session);
  return reader.problem();
}

using Take = std::string (*)(const Json&, GpuSession&);

template <std::size_t... Index>
constexpr std::array<Take, sizeof...(Index)> record_takers(std::index_sequence<Index...>) {
  return {take_record<std::variant_alternative_t<Index, GpuRecord>>...};
}
constexpr auto kTakers = record_takers(std::make_index_sequence<std::variant_size_v<GpuRecord>>());

// What is wrong with the line; empty: nothing.
std::string take_line(const NumberedLine& line, GpuSession& session) {
  if (line.torn) return "the line is cut: it does not end in a newline";
  const Json json = Json::parse(line.text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return "is no JSON object";
  const auto record = json.find("record");
  if (record == json.end() || !record->is_string()) return "no `record`";
  const auto& name = record->get_ref<const std::string&>();
  if (line.number == 1) {
    return name == "session" ? take_session(json, session) : "the first record must be `session`";
  }
  if (name == "owner") return take_owner(json, session);
  const auto found = std::find(kRecordNames.begin(), kRecordNames.end(), name);
  if (found == kRecordNames.end()) {
    return fmt::format("unknown record `{}`, {}", name, expectation(name, kRecordNames));
  }
  return kTakers[static_cast<std::size_t>(found - kRecordNames.begin())](json, session);
}

}  // namespace

std::string gpu_session_text(const GpuSession& session) {
  std::string text = line_of("session", session);
  for (const auto& [id, owner] : session.owners) text += line_of("owner", OwnerLine{id, owner});
  for (const GpuRecord& record : session.records) {
    const std::string_view name = kRecordNames[record.index()];
    text += std::visit([&](const auto& kind) { return line_of(name, kind); }, record);
  }
  return text;
}

Result<GpuSession> read_gpu_session(std::string_view text, const std::string& name) {
  GpuSession session;
  if (text.empty()) return Error{"holds no recorded session: it is empty", name, ""};
  for (const NumberedLine& line : Lines(text)) {
    if (std::string problem = take_line(line, session); !problem.empty()) {
      return Error{std::move(problem), fmt::format("{}:{}", name, line.number), ""};
    }
  }
  return session;
}

}  // namespace bench
