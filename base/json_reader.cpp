// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"

#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

#include <fmt/ranges.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace bench {
namespace {

using RapidValue = rapidjson::Document::ValueType;

// Records nest 4 levels deep. Much deeper input is not a record and would cost memory.
constexpr int kMaxNesting = 32;
const RapidValue& to_rapid_value(const void* value) {
  return *static_cast<const RapidValue*>(value);
}

std::string_view view(const RapidValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

// Parses a JSON number. A number that is too close to 0 for a double becomes 0. Returns nullopt if
// the number exceeds the range of a double, or if it is outside the range of a long double.
std::optional<double> parse_real(std::string_view text) {
  if (const auto value = parse_number<double>(text)) return value;
  const auto wide = parse_number<long double>(text);  // too large or too small
  if (!wide || std::abs(*wide) > std::numeric_limits<double>::max()) return std::nullopt;
  return static_cast<double>(*wide);
}

// Forwards the parser's events to the document, but stops beyond the permitted depth. Converts
// numbers itself, because RapidJSON's conversion of a zero with a large exponent (`0e41`) has
// undefined behaviour.
class DepthLimitedHandler {
 public:
  explicit DepthLimitedHandler(rapidjson::Document& document) : document_(document) {}
  bool is_too_deep() const { return depth_ > kMaxNesting; }

  bool Null() { return document_.Null(); }
  bool Bool(bool value) { return document_.Bool(value); }
  bool RawNumber(const char* start, rapidjson::SizeType size, bool) {
    const std::string_view text(start, size);
    if (text.find_first_of(".eE") == std::string_view::npos) {
      if (const auto value = parse_number<std::int64_t>(text)) return document_.Int64(*value);
      if (const auto value = parse_number<std::uint64_t>(text)) return document_.Uint64(*value);
    }
    const auto value = parse_real(text);
    return value && document_.Double(*value);
  }
  // Never called, because all numbers are passed to RawNumber().
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char* text, rapidjson::SizeType size, bool copy) {
    return document_.String(text, size, copy);
  }
  bool Key(const char* text, rapidjson::SizeType size, bool copy) {
    return document_.Key(text, size, copy);
  }
  bool StartObject() { return ++depth_ <= kMaxNesting && document_.StartObject(); }
  bool StartArray() { return ++depth_ <= kMaxNesting && document_.StartArray(); }
  bool EndObject(rapidjson::SizeType count) {
    --depth_;
    return document_.EndObject(count);
  }
  bool EndArray(rapidjson::SizeType count) {
    --depth_;
    return document_.EndArray(count);
  }

 private:
  rapidjson::Document& document_;
  int depth_ = 0;
};

}  // namespace

bool JsonValue::is_object() const { return to_rapid_value(value_).IsObject(); }
bool JsonValue::is_list() const { return to_rapid_value(value_).IsArray(); }
bool JsonValue::is_null() const { return to_rapid_value(value_).IsNull(); }

std::optional<std::string_view> JsonValue::text() const {
  const RapidValue& value = to_rapid_value(value_);
  return value.IsString() ? std::optional(view(value)) : std::nullopt;
}

std::optional<bool> JsonValue::boolean() const {
  const RapidValue& value = to_rapid_value(value_);
  return value.IsBool() ? std::optional(value.GetBool()) : std::nullopt;
}

std::optional<std::int64_t> JsonValue::signed_integer() const {
  const RapidValue& value = to_rapid_value(value_);
  return value.IsInt64() ? std::optional(value.GetInt64()) : std::nullopt;
}

std::optional<std::uint64_t> JsonValue::unsigned_integer() const {
  const RapidValue& value = to_rapid_value(value_);
  return value.IsUint64() ? std::optional(value.GetUint64()) : std::nullopt;
}

std::optional<double> JsonValue::number() const {
  const RapidValue& value = to_rapid_value(value_);
  return value.IsNumber() ? std::optional(value.GetDouble()) : std::nullopt;
}

std::size_t JsonValue::size() const {
  const RapidValue& value = to_rapid_value(value_);
  return value.IsObject() ? value.MemberCount() : value.Size();
}

std::string_view JsonValue::name(std::size_t index) const {
  return view((to_rapid_value(value_).MemberBegin() + static_cast<std::ptrdiff_t>(index))->name);
}

JsonValue JsonValue::member(std::size_t index) const {
  return JsonValue(
      &(to_rapid_value(value_).MemberBegin() + static_cast<std::ptrdiff_t>(index))->value);
}

JsonValue JsonValue::item(std::size_t index) const {
  return JsonValue(&to_rapid_value(value_)[static_cast<rapidjson::SizeType>(index)]);
}

std::optional<std::size_t> JsonValue::find(std::string_view name, std::size_t expected) const {
  const RapidValue& object = to_rapid_value(value_);
  const std::size_t count = object.MemberCount();
  const auto members = object.MemberBegin();
  const auto has_name_at = [&](std::size_t index) {
    return view((members + static_cast<std::ptrdiff_t>(index))->name) == name;
  };
  if (expected < count && has_name_at(expected)) return expected;
  for (std::size_t i = 0; i < count; ++i) {
    if (has_name_at(i)) return i;
  }
  return std::nullopt;
}

std::optional<JsonValue> JsonValue::value_at(std::string_view name) const {
  const auto index = is_object() ? find(name) : std::nullopt;
  return index ? std::optional(member(*index)) : std::nullopt;
}

std::optional<std::string_view> JsonValue::text_at(std::string_view name) const {
  const auto value = value_at(name);
  return value ? value->text() : std::nullopt;
}

void write_json(JsonWriter& writer, JsonValue value) {
  if (value.is_object()) {
    writer.add_object([&](JsonWriter& object) {
      for (std::size_t i = 0; i < value.size(); ++i)
        object.required(value.name(i), value.member(i));
    });
  } else if (value.is_list()) {
    writer.add_list(value.size(), [&](std::size_t i) { writer.add(value.item(i)); });
  } else if (const auto text = value.text()) {
    writer.add(*text);
  } else if (const auto flag = value.boolean()) {
    writer.add(*flag);
  } else if (const auto integer = value.signed_integer()) {
    writer.add(*integer);
  } else if (const auto large = value.unsigned_integer()) {
    writer.add(*large);
  } else {
    writer.add_real(value.number().value_or(std::nan("")), JsonReals::with_fraction);
  }
}

// The memory that a document reuses for each text. Most records fit without an allocation.
struct JsonDocument::State {
  std::string text;  // parsed in place: string values point into it
  alignas(std::max_align_t) std::array<char, std::size_t{1} << 15> values;
  rapidjson::Document::AllocatorType allocator{values.data(), values.size()};
  // RapidJSON frees its stack of unfinished values after each text. 16 KiB are enough for a record.
  rapidjson::Document document{&allocator, std::size_t{1} << 14};
  rapidjson::Reader reader;
  std::size_t error_position = 0;
};

JsonDocument::JsonDocument() : state_(std::make_unique_for_overwrite<State>()) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

Status JsonDocument::parse(std::string_view text) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::Document& document = state_->document;
  document.SetNull();
  state_->allocator.Clear();
  state_->error_position = 0;
  if (!is_utf8(text)) return Error{"it is not valid JSON", "", ""};
  state_->text = text;
  bool is_too_deep = false, is_valid = false;
  auto parse_into = [&](rapidjson::Document& target) {
    DepthLimitedHandler handler(target);
    rapidjson::InsituStringStream stream(state_->text.data());
    is_valid = !state_->reader.Parse<kFlags>(stream, handler).IsError() &&
               stream.Tell() == text.size();  // the stream ends at a zero byte as well
    is_too_deep = handler.is_too_deep();
    if (!is_valid) state_->error_position = state_->reader.GetErrorOffset();
    return is_valid;
  };
  document.Populate(parse_into);
  if (is_too_deep) return Error{"it nests too deeply", "", ""};
  if (!is_valid) return Error{"it is not valid JSON", "", ""};
  return Done{};
}

std::size_t JsonDocument::error_position() const { return state_->error_position; }

JsonValue JsonDocument::root() const {
  return JsonValue(static_cast<const RapidValue*>(&state_->document));
}

Result<JsonDocument> parse_json(std::string_view text) {
  JsonDocument document;
  BENCH_RETURN_IF_ERROR(document.parse(text));
  return document;
}

std::vector<std::string_view> JsonReader::names() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < object_.size(); ++i) names.push_back(object_.name(i));
  return names;
}

void JsonReader::constant(std::string_view name, std::string_view text) {
  std::string actual;
  required(name, actual);
  if (ok() && actual != text)
    report_problem(fmt::format("`{}{}` is {}, expected `{}`", path(), name, quote(actual), text));
}

void JsonReader::report_field(std::string_view name, std::string_view what) {
  if (ok()) report_problem(fmt::format("`{}{}` {}", path(), name, what));
}

void JsonReader::report_problem(std::string problem) {
  if (ok()) root_->problem_ = std::move(problem);
}

void JsonReader::report_unknown_name(std::string_view tag, std::string_view name,
                                     std::span<const std::string_view> names) {
  report_problem(fmt::format("unknown {} {}, {}", tag, quote(name), expectation(name, names)));
}

std::string JsonReader::problem() {
  check_unknown();
  return root_->problem_;
}

std::optional<std::size_t> JsonReader::read_name_index(std::string_view name, JsonValue json,
                                                       std::span<const std::string_view> names) {
  const auto text = json.text();
  const auto index = find_name(json, names);
  if (!text) report_field(name, "is not text");
  if (text && !index) {
    report_field(
        name, fmt::format("has the unknown value {}, {}", quote(*text), expectation(*text, names)));
  }
  return index;
}

std::optional<std::size_t> JsonReader::find_name(JsonValue json,
                                                 std::span<const std::string_view> names) {
  const auto text = json.text();
  const auto found = text ? std::find(names.begin(), names.end(), *text) : names.end();
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

JsonReader::Expected JsonReader::one_of(std::span<const std::string_view> names) {
  return fmt::format("one of {}", fmt::join(names, ", "));
}

JsonReader::Expected JsonReader::decode(JsonValue json, std::string& value) const {
  const auto text = json.text();
  if (!text) return "text";
  value = *text;
  return {};
}

JsonReader::Expected JsonReader::decode(JsonValue json, bool& value) const {
  const auto boolean = json.boolean();
  if (!boolean) return "true or false";
  value = *boolean;
  return {};
}

JsonReader::Expected JsonReader::decode(JsonValue json, double& value) const {
  const bool allows_negative = rules_.numbers == JsonRules::Numbers::any;
  const auto number = json.number();
  if (!number || (!allows_negative && *number < 0))
    return allows_negative ? "a number" : "a number of at least 0";
  value = *number;
  return {};
}

JsonReader::Expected JsonReader::decode(JsonValue json, Nanoseconds& time) const {
  std::int64_t count = 0;
  Expected expected = decode(json, count);
  time = Nanoseconds(count);
  if (!expected.empty() || (time <= rules_.max_time && time >= -rules_.max_time)) return expected;
  return fmt::format("a time within {} ns", rules_.max_time.count());
}

JsonReader::Expected JsonReader::decode(JsonValue json, Picoseconds& time) const {
  std::int64_t count = 0;
  Expected expected = decode(json, count);
  time = Picoseconds(count);
  return expected;
}

JsonReader::Expected JsonReader::decode(JsonValue json,
                                        std::map<std::string, std::string>& values) const {
  if (!json.is_object()) return "an object of texts";
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto text = json.member(i).text();
    if (!text) return "an object of texts";
    values[std::string(json.name(i))] = *text;
  }
  return {};
}

void JsonReader::check_range(std::string_view name, double value, JsonRange range) {
  if (value >= range.low && value <= range.high) return;
  report_field(name, std::isinf(range.high)
                         ? fmt::format("is not at least {:g}", range.low)
                         : fmt::format("is not within {:g} and {:g}", range.low, range.high));
}

void JsonReader::track_fields() {
  if (rules_.unknown == JsonRules::UnknownFields::refuse) is_read_.resize(object_.size());
}

void JsonReader::check_unknown() {
  const auto unread = std::find(is_read_.begin(), is_read_.end(), false);
  if (unread == is_read_.end()) return;
  const std::string_view field = object_.name(static_cast<std::size_t>(unread - is_read_.begin()));
  const auto all = names();
  const bool is_repeated = std::count(all.begin(), all.end(), field) > 1;
  report_problem(fmt::format("{} {} {}", parent_ == nullptr ? "it" : fmt::format("`{}`", name_),
                             is_repeated ? "repeats the field" : "contains the unknown field",
                             quote(field)));
}

std::string JsonReader::path() const {
  return parent_ == nullptr ? "" : fmt::format("{}{}.", parent_->path(), name_);
}

}  // namespace bench
