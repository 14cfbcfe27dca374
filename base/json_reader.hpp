// SPDX-License-Identifier: Apache-2.0
// The archive that reads records from JSON by their declared fields (base/json_writer.hpp). Text
// may come from killed runs, other versions or untrusted sources. Whatever it contains, the result
// is a record or a message about the first problem, and every number fits its type.
#pragma once

#include "base/json_writer.hpp"
#include "base/result.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

// A value of a JsonDocument; valid until the document parses again or is destroyed.
class JsonValue {
 public:
  bool is_object() const;
  bool is_list() const;
  bool is_null() const;
  // Each returns nullopt for a value of another type, or for a number that does not fit.
  std::optional<std::string_view> text() const;
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> signed_integer() const;
  std::optional<std::uint64_t> unsigned_integer() const;
  std::optional<double> number() const;

  // size() requires an object or a list; name(), member() and find() an object; item() a list.
  std::size_t size() const;
  std::string_view name(std::size_t index) const;  // name of a member of an object
  JsonValue member(std::size_t index) const;
  JsonValue item(std::size_t index) const;
  // Returns the member's index; nullopt if there is no such member. Tries the index `expected`
  // first, because records list their fields in the order of their declaration.
  std::optional<std::size_t> find(std::string_view name, std::size_t expected = 0) const;
  // Returns the member; nullopt if this is not an object or has no such member.
  std::optional<JsonValue> value_at(std::string_view name) const;
  // Returns the text of the member; nullopt if there is no such member or it is not text.
  std::optional<std::string_view> text_at(std::string_view name) const;

 private:
  friend class JsonDocument;
  explicit JsonValue(const void* value) : value_(value) {}
  const void* value_;  // a value of the JSON library, which only json_reader.cpp includes
};

// Writes a parsed value unchanged: reals stay reals, null stays null. JsonWriter calls this
// function.
void write_json(JsonWriter& writer, JsonValue value);

// A parsed JSON text.
class JsonDocument {
 public:
  JsonDocument();
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  // Parses without recursion. Returns an error for text that is not valid JSON, or that nests far
  // deeper than any record. Reuses the memory of the previous text, so its values become invalid.
  Status parse(std::string_view text);
  // After an error of parse(): how many bytes of the text are before the place of the error.
  std::size_t error_position() const;
  JsonValue root() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
Result<JsonDocument> parse_json(std::string_view text);

// The rules that differ between kinds of records: results, evidence, GPU records, messages.
struct JsonRules {
  // not_negative: a number below 0 is an error, as in records of results.
  enum class Numbers { not_negative, any };
  enum class UnknownFields { skip, refuse };
  Numbers numbers = Numbers::not_negative;
  UnknownFields unknown = UnknownFields::skip;
  Nanoseconds max_time = Nanoseconds::max();  // the largest permitted time, positive or negative
  // The largest permitted integer, times included.
  std::uint64_t max_integer = std::numeric_limits<std::uint64_t>::max();
};

class JsonReader {
 public:
  static constexpr bool kReads = true;

  // Reads from `object`. Reports only the first problem, because it may cause the later ones.
  explicit JsonReader(JsonValue object, const JsonRules& rules = {})
      : object_(object), rules_(rules), root_(this) {
    track_fields();
  }
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  template <class T>
  void required(std::string_view name, T& value) {
    if (const auto found = find(name)) return read(name, *found, value);
    report_field(name, "is missing");
  }
  template <class T>
  void required(std::string_view name, T& value, JsonRange range) {
    required(name, value);
    check(name, value, range);
  }
  // Leaves `value` unchanged if the field is missing, but sets an optional to nullopt.
  template <class T>
  void optional(std::string_view name, T& value) {
    if (const auto found = find(name)) return read(name, *found, value);
    if constexpr (kIsOptional<T>) value.reset();
  }
  template <class T>
  void optional(std::string_view name, T& value, JsonRange range) {
    optional(name, value);
    if (has(name)) check(name, value, range);
  }
  template <class T>
  void defaulted(std::string_view name, T& value, const T&) {
    optional(name, value);
  }
  void constant(std::string_view name, std::string_view text);
  template <class Declare>
  void required_object(std::string_view name, Declare declare) {
    if (const auto found = find(name)) return descend(name, *found, declare);
    report_field(name, "is missing");
  }
  template <class Declare>
  void object(std::string_view name, Declare declare) {
    if (const auto found = find(name)) descend(name, *found, declare);
  }
  template <class T, class Declare>
  void group(std::string_view name, std::optional<T>& value, Declare declare) {
    const auto found = find(name);
    if (!found) return;
    descend(name, *found, [&](JsonReader& reader) { declare(reader, value.emplace()); });
  }
  template <class T, class Declare>
  void list(std::string_view name, std::vector<T>& values, Declare declare) {
    const auto found = find(name);
    if (!found) return;
    values.clear();
    for_items(name, *found, [&](JsonValue item) {
      descend(name, item, [&](JsonReader& reader) { declare(reader, values.emplace_back()); });
    });
  }

  // Reads the fields of `value` from this object itself, not from a member object. Leaves `value`
  // unchanged if the object has no field `first`.
  template <class T>
  void optional_inline(std::string_view first, std::optional<T>& value) {
    if (has(first)) fields(*this, value.emplace());
  }

  // Calls `declare` with this reader. The numbers that it reads may be negative, whatever the rules
  // are.
  template <class Declare>
  void signed_numbers(Declare declare) {
    const JsonRules::Numbers numbers = std::exchange(rules_.numbers, JsonRules::Numbers::any);
    declare(*this);
    rules_.numbers = numbers;
  }

  bool has(std::string_view name) const { return object_.find(name, expected_index_).has_value(); }
  // Returns the names of all members, for objects whose names are data.
  std::vector<std::string_view> names() const;
  // Reports "`PATH.name` what".
  void report_field(std::string_view name, std::string_view what);
  // Reports a problem that does not concern a single field.
  void report_problem(std::string problem);
  // Reports that `name`, the value of the field `tag`, is not among `names`.
  void report_unknown_name(std::string_view tag, std::string_view name,
                           std::span<const std::string_view> names);
  bool ok() const { return root_->problem_.empty(); }
  // Returns the first problem; empty if there is none. Call this once, after reading all fields.
  std::string problem();

 private:
  // Result of the decode() functions: what they expected ("an integer from 0 to 9"), or an empty
  // text on success.
  using Expected = std::string;

  JsonReader(JsonReader& parent, std::string_view name, JsonValue object)
      : object_(object), rules_(parent.rules_), root_(parent.root_), parent_(&parent), name_(name) {
    track_fields();
  }

  std::optional<JsonValue> find(std::string_view name) {
    const auto index = object_.find(name, expected_index_);
    if (!index) return std::nullopt;
    expected_index_ = *index + 1;
    if (*index < is_read_.size()) is_read_[*index] = true;
    return object_.member(*index);
  }
  // Calls `declare` with a reader of the member object `json`.
  template <class Declare>
  void descend(std::string_view name, JsonValue json, Declare declare) {
    if (!json.is_object()) return report_field(name, "is not an object");
    JsonReader reader(*this, name, json);
    declare(reader);
    reader.check_unknown();
  }
  template <class ReadItem>
  void for_items(std::string_view name, JsonValue json, ReadItem read_item) {
    if (!json.is_list()) return report_field(name, "is not a list");
    for (std::size_t i = 0; i < json.size(); ++i) read_item(json.item(i));
  }

  template <class T>
  void read(std::string_view name, JsonValue json, T& value) {
    if constexpr (kIsOptional<T>) {
      read(name, json, value.emplace());
    } else if constexpr (std::is_enum_v<T>) {
      read_name(name, json, value);
    } else if constexpr (JsonRecord<JsonReader, T>) {
      descend(name, json, [&](JsonReader& reader) { fields(reader, value); });
    } else if constexpr (holds_records<T>()) {
      read_records(name, json, value);
    } else {
      const Expected expected = decode(json, value);
      if (!expected.empty()) report_field(name, fmt::format("is not {}", expected));
    }
  }
  template <class T>
  static constexpr bool holds_records() {
    if constexpr (kIsVector<T>) return JsonRecord<JsonReader, typename T::value_type>;
    if constexpr (kIsTextMap<T>) return JsonRecord<JsonReader, typename T::mapped_type>;
    return false;
  }
  template <class T>
  void read_records(std::string_view name, JsonValue json, std::vector<T>& values) {
    values.clear();
    for_items(name, json, [&](JsonValue item) { read(name, item, values.emplace_back()); });
  }
  template <class T>
  void read_records(std::string_view name, JsonValue json, std::map<std::string, T>& values) {
    values.clear();
    if (!json.is_object()) return report_field(name, "is not an object");
    for (std::size_t i = 0; i < json.size(); ++i)
      read(name, json.member(i), values[std::string(json.name(i))]);
  }
  template <class Enum>
  void read_name(std::string_view name, JsonValue json, Enum& value) {
    const auto index = read_name_index(name, json, enumerator_names(value));
    if (index) value = static_cast<Enum>(*index);
  }
  // Returns the index of the text `json` in `names`. If it is not among them, reports a problem of
  // the field `name` and returns nullopt.
  std::optional<std::size_t> read_name_index(std::string_view name, JsonValue json,
                                             std::span<const std::string_view> names);

  Expected decode(JsonValue json, std::string& value) const;
  Expected decode(JsonValue json, bool& value) const;
  Expected decode(JsonValue json, double& value) const;
  Expected decode(JsonValue json, FlopsPerSecond& rate) const { return decode(json, rate.value); }
  Expected decode(JsonValue json, BytesPerSecond& rate) const { return decode(json, rate.value); }
  Expected decode(JsonValue json, Bytes& bytes) const { return decode(json, bytes.count); }
  Expected decode(JsonValue json, Nanoseconds& time) const;
  Expected decode(JsonValue json, Picoseconds& time) const;
  Expected decode(JsonValue json, std::map<std::string, std::string>& values) const;
  template <std::integral Integer>
  Expected decode(JsonValue json, Integer& value) const {
    using Limits = std::numeric_limits<Integer>;
    const bool allows_negative = rules_.numbers == JsonRules::Numbers::any;
    const Integer min = allows_negative ? Limits::min() : Integer{0};
    const Integer max = std::cmp_less(rules_.max_integer, Limits::max())
                            ? static_cast<Integer>(rules_.max_integer)
                            : Limits::max();
    const auto number = [&] {
      if constexpr (std::is_signed_v<Integer>) return json.signed_integer();
      if constexpr (std::is_unsigned_v<Integer>) return json.unsigned_integer();
    }();
    if (!number || *number < min || *number > max)
      return fmt::format("an integer from {} to {}", min, max);
    value = static_cast<Integer>(*number);
    return {};
  }
  template <class Enum>
  requires std::is_enum_v<Enum> Expected decode(JsonValue json, Enum& value)
  const {
    const auto names = enumerator_names(value);
    const auto index = find_name(json, names);
    if (!index) return one_of(names);
    value = static_cast<Enum>(*index);
    return {};
  }
  // Sets `value` to nullopt for null, which replaces a number in a list that JSON cannot represent
  // (NaN, infinity).
  template <class T>
  Expected decode(JsonValue json, std::optional<T>& value) const {
    value.reset();
    return json.is_null() ? Expected() : decode(json, value.emplace());
  }
  template <class T>
  Expected decode(JsonValue json, std::vector<T>& values) const {
    if (!json.is_list()) return "a list";
    values.clear();
    values.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (Expected expected = decode(json.item(i), values.emplace_back()); !expected.empty())
        return "a list with each item " + expected;
    }
    return {};
  }
  template <class T>
  Expected decode(JsonValue json, std::map<std::string, T>& values) const {
    if (!json.is_object()) return "an object";
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (Expected expected = decode(json.member(i), values[std::string(json.name(i))]);
          !expected.empty())
        return "an object with each value " + expected;
    }
    return {};
  }
  template <class T>
  requires JsonTuple<T> Expected decode(JsonValue json, T& value)
  const {
    auto tuple = elements(value);
    constexpr std::size_t kSize = std::tuple_size_v<decltype(tuple)>;
    Expected expected;
    if (!json.is_list() || json.size() != kSize) return fmt::format("a list of {} numbers", kSize);
    std::size_t index = 0;
    const auto decode_next = [&](auto& element) {
      if (expected.empty()) expected = decode(json.item(index++), element);
    };
    std::apply([&](auto&... element) { (decode_next(element), ...); }, tuple);
    return expected.empty() ? expected : "a list with each item " + expected;
  }

  template <class T>
  void check(std::string_view name, const std::optional<T>& value, JsonRange range) {
    if (value) check(name, *value, range);
  }
  void check(std::string_view name, Nanoseconds value, JsonRange range) {
    check(name, value.count(), range);
  }
  template <class T>
  void check(std::string_view name, T value, JsonRange range) {
    if (ok()) check_range(name, static_cast<double>(value), range);
  }
  void check_range(std::string_view name, double value, JsonRange range);
  void track_fields();
  // Reports the first member that was not read, if the rules refuse unknown fields.
  void check_unknown();
  std::string path() const;  // prefix of this object's fields in messages: "time."
  // Returns the index of the text `json` in `names`; nullopt if it is not among them.
  static std::optional<std::size_t> find_name(JsonValue json,
                                              std::span<const std::string_view> names);
  static Expected one_of(std::span<const std::string_view> names);

  JsonValue object_;
  JsonRules rules_;
  JsonReader* root_;
  JsonReader* parent_ = nullptr;
  std::string_view name_;           // name of this object in the parent
  std::size_t expected_index_ = 0;  // member that is probably read next
  std::vector<bool> is_read_;       // by index of the member; empty if unknown fields are skipped
  std::string problem_;             // the first problem; set only in the root
};

// Parses the text of one object and calls `declare` with a reader of it. Returns the first problem.
template <class Declare>
Status read_json_object(std::string_view text, Declare declare, const JsonRules& rules = {}) {
  BENCH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(text));
  if (!document.root().is_object()) return Error{"it is not a JSON object", "", ""};
  JsonReader reader(document.root(), rules);
  declare(reader);
  if (std::string problem = reader.problem(); !problem.empty())
    return Error{std::move(problem), "", ""};
  return Done{};
}

// Reads one object whose field `schema` must equal `schema`: a document between bench processes.
template <class T>
Result<T> read_json_document(JsonValue root, std::string_view schema, const JsonRules& rules = {}) {
  if (root.text_at("schema") != schema)
    return Error{fmt::format("not a document of schema {}", schema), "", ""};
  T value;
  JsonReader reader(root, rules);
  fields(reader, value);
  if (const std::string problem = reader.problem(); !problem.empty())
    return Error{fmt::format("malformed document of schema {}: {}", schema, problem), "", ""};
  return value;
}
template <class T>
Result<T> read_json_document(std::string_view text, std::string_view schema,
                             const JsonRules& rules = {}) {
  const auto document = parse_json(text);
  if (!document.ok()) return Error{fmt::format("not a document of schema {}", schema), "", ""};
  return read_json_document<T>(document->root(), schema, rules);
}

// Writes or reads a variant. The field `tag` contains the name of the alternative. `names` are in
// the order of the alternatives. Calls `declare` with the archive and the alternative to write or
// read its fields.
template <class... Alternatives, class Declare>
void tagged_fields(JsonWriter& writer, std::string_view tag,
                   std::span<const std::string_view> names,
                   const std::variant<Alternatives...>& value, Declare declare) {
  writer.required(tag, names[value.index()]);
  std::visit([&](const auto& alternative) { declare(writer, alternative); }, value);
}
template <class... Alternatives, class Declare>
void tagged_fields(JsonReader& reader, std::string_view tag,
                   std::span<const std::string_view> names, std::variant<Alternatives...>& value,
                   Declare declare) {
  std::string name;
  reader.required(tag, name);
  if (!reader.ok()) return;
  std::size_t index = 0;
  const auto try_alternative = [&]<class Alternative>(std::type_identity<Alternative>) {
    if (name != names[index++]) return false;
    declare(reader, value.template emplace<Alternative>());
    return true;
  };
  if (!(try_alternative(std::type_identity<Alternatives>()) || ...))
    reader.report_unknown_name(tag, name, names);
}

}  // namespace bench
