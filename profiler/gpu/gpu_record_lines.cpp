// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/gpu_record_lines.hpp"

#include "base/lines.hpp"
#include "base/nearest_name.hpp"
#include "profiler/gpu/gpu_record_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
using gpu_record_fields::describe;
using gpu_record_fields::OwnerLine;

// Writes JSON by hand: the traced program waits for its tracer, which writes 100,000 lines per
// second.
class Writer {
 public:
  static constexpr bool kWrites = true;
  explicit Writer(std::string_view record) { (*this)("record", std::string(record)); }

  template <class T>
  void operator()(const char* key, const T& value) {
    fmt::format_to(std::back_inserter(text_), "{}\"{}\":", text_.empty() ? '{' : ',', key);
    if constexpr (std::is_enum_v<T>) {
      add_text(name_of_enum(value));
    } else {
      add(value);
    }
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  // An optional group of fields. Its first field shows whether the group is present.
  template <class T>
  void whole(const char*, const std::optional<T>& group) {
    if (group) describe<Writer>(*this, *group);
  }

  std::string line() && { return std::move(text_) + "}\n"; }

 private:
  void add(std::int64_t value) { text_ += fmt::format_int(value).c_str(); }
  void add(std::uint64_t value) { text_ += fmt::format_int(value).c_str(); }
  void add(Nanoseconds value) { add(value.count()); }
  void add(const GpuSize& value) {
    fmt::format_to(std::back_inserter(text_), "[{},{},{}]", value.x, value.y, value.z);
  }
  void add(std::string_view value) { add_text(value); }
  void add(const std::vector<std::string>& values) {
    text_ += '[';
    for (const std::string& value : values) {
      if (text_.back() != '[') text_ += ',';
      add_text(value);
    }
    text_ += ']';
  }
  void add_text(std::string_view value) {
    const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
      return c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
    });
    if (plain) {
      text_ += '"';
      text_ += value;
      text_ += '"';
    } else {
      text_ += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }

  std::string text_;
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

  // Call this after all fields were read. Returns the problem, or an empty string. Keys other than
  // `record` and the fields are a problem.
  std::string problem() {
    if (problem_.empty() && used_ + 1 != json_.size()) fail("contains an unknown key");
    return std::move(problem_);
  }

 private:
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  void expect(const char* key, const char* what) {
    fail(fmt::format("`{}`: expected {}", key, what));
  }

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
          fmt::format("`{}` has the unknown value `{}`, {}", key, word, expectation(word, names)));
    }
    value = static_cast<Enum>(found - names.begin());
  }
  void read(const char* key, const Json& json, Nanoseconds& value) {
    std::int64_t count = 0;
    read_number(key, json, count);
    // Ensures that sums of times stay in range.
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

// Record names in the order of GpuRecord's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<GpuRecord>> kRecordNames = {
    "kernel",          "memcpy",     "memset", "allocation", "api",     "external_id", "overhead",
    "synchronisation", "graph_node", "device", "context",    "reading", "note"};

template <class Record>
std::string line_of(std::string_view name, const Record& record) {
  Writer writer(name);
  describe<Writer>(writer, record);
  return std::move(writer).line();
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

std::string take_end(const Json& json, GpuSession& session) {
  Reader reader(json);
  GpuSessionEnd end;
  describe<Reader>(reader, end);
  std::string problem = reader.problem();
  if (!problem.empty()) return problem;
  session.dropped += end.dropped;
  session.faults.insert(session.faults.end(), end.faults.begin(), end.faults.end());
  return {};
}

// Parses a line that contains the record `name`. Returns the problem, or an empty string.
std::string take_named(const std::string& name, const Json& json, GpuSession& session) {
  const auto found = std::find(kRecordNames.begin(), kRecordNames.end(), name);
  if (found == kRecordNames.end()) {
    return fmt::format("unknown record `{}`, {}", name, expectation(name, kRecordNames));
  }
  return kTakers[static_cast<std::size_t>(found - kRecordNames.begin())](json, session);
}

}  // namespace

std::string gpu_session_line(const GpuSession& session) { return line_of("session", session); }

std::string gpu_records_text(std::span<const GpuRecord> records) {
  std::string text;
  for (const GpuRecord& record : records) {
    const std::string_view name = kRecordNames[record.index()];
    text += std::visit([&](const auto& kind) { return line_of(name, kind); }, record);
  }
  return text;
}

std::string gpu_session_end_line(const GpuSessionEnd& end) { return line_of("session_end", end); }

std::string gpu_session_text(const GpuSession& session) {
  std::string text = gpu_session_line(session);
  for (const auto& [id, owner] : session.owners) text += line_of("owner", OwnerLine{id, owner});
  return text + gpu_records_text(session.records);
}

Result<GpuLine> take_gpu_line(std::string_view text, std::size_t number, GpuSession& session) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return Error{"is not a JSON object", "", ""};
  const auto record = json.find("record");
  if (record == json.end() || !record->is_string()) return Error{"no `record`", "", ""};
  const auto& name = record->get_ref<const std::string&>();
  GpuLine kind = GpuLine::record;
  std::string problem;
  if (number == 1) {
    kind = GpuLine::session;
    problem =
        name == "session" ? take_session(json, session) : "the first record must be `session`";
  } else if (name == "owner") {
    kind = GpuLine::owner;
    problem = take_owner(json, session);
  } else if (name == "session_end") {
    kind = GpuLine::session_end;
    problem = take_end(json, session);
  } else {
    problem = take_named(name, json, session);
  }
  if (!problem.empty()) return Error{std::move(problem), "", ""};
  return kind;
}

Result<GpuSession> read_gpu_session(std::string_view text, const std::string& name) {
  GpuSession session;
  if (text.empty()) return Error{"the file is empty and contains no recorded session", name, ""};
  for (const NumberedLine& line : Lines(text)) {
    const std::string place = fmt::format("{}:{}", name, line.number);
    if (line.incomplete_line)
      return Error{"the line is incomplete: it does not end in a newline", place, ""};
    const auto taken = take_gpu_line(line.text, line.number, session);
    if (!taken.ok()) return Error{taken.error().what, place, ""};
  }
  return session;
}

}  // namespace bench
