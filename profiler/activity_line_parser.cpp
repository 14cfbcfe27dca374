// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"
#include "base/quote.hpp"
#include "base/utf8.hpp"
#include "profiler/activity_json.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <variant>

namespace bench {
namespace {

// What one line says, while it is read.
struct Contents {
  Activity activity;
  ParsedLine line;
  bool has_kind = false, has_start = false, has_name = false;
  std::string unknown_kind;
};

// A field of a record, and how it takes a value of each type. A type without a function is
// mismatched. `take_large` takes integers of more than 63 bits.
struct Field {
  std::string_view name;
  void (*take_text)(Contents& contents, std::string_view text) = nullptr;
  void (*take_integer)(Contents& contents, std::int64_t number) = nullptr;
  void (*take_large)(Contents& contents, std::uint64_t number) = nullptr;
};

constexpr std::array kFields = {
    Field{"record", [](Contents& c, std::string_view text) { c.line.record = text; }},
    Field{"schema", [](Contents& c, std::string_view text) { c.line.schema = text; }},
    Field{"run_id", [](Contents& c, std::string_view text) { c.line.run_id = text; }},
    Field{"outcome", [](Contents& c, std::string_view text) { c.line.outcome = text; }},
    Field{"source", [](Contents& c, std::string_view text) { c.line.source = text; }},
    Field{"id", [](Contents& c, std::string_view text) { c.activity.case_id = text; }},
    Field{"kind",
          [](Contents& c, std::string_view text) {
            const auto kind = enumerator_from_name<ActivityKind>(text);
            if (kind) c.activity.kind = *kind;
            c.has_kind = kind.has_value();
            c.unknown_kind = kind ? std::string() : std::string(text);
          }},
    Field{"name",
          [](Contents& c, std::string_view text) {
            c.activity.name = text;
            c.has_name = true;
          }},
    Field{"start_ns", nullptr,
          [](Contents& c, std::int64_t number) {
            c.activity.start = Nanoseconds(number);
            c.has_start = true;
          }},
    Field{"duration_ns", nullptr,
          [](Contents& c, std::int64_t number) {
            if (number < 0) c.line.problem = "`duration_ns` is negative";
            c.activity.duration = Nanoseconds(number);
          }},
    Field{"pid", nullptr, [](Contents& c, std::int64_t number) { c.activity.track.pid = number; }},
    Field{"tid", nullptr, [](Contents& c, std::int64_t number) { c.activity.track.tid = number; }},
    Field{"device", nullptr,
          [](Contents& c, std::int64_t number) { c.activity.track.device = number; }},
    Field{"stream", nullptr,
          [](Contents& c, std::int64_t number) { c.activity.track.stream = number; }},
    Field{"scope", [](Contents& c, std::string_view text) { c.activity.scope = text; }},
    Field{"direction", [](Contents& c, std::string_view text) { c.activity.direction = text; }},
    Field{"correlation", nullptr,
          [](Contents& c, std::int64_t number) {
            if (number < 0) c.line.problem = "`correlation` is negative";
            c.activity.correlation = static_cast<std::uint64_t>(number);
          },
          [](Contents& c, std::uint64_t number) { c.activity.correlation = number; }},
    Field{"attributes"},  // the last one: in_attributes()
};

const Field* find_field(std::string_view name) {
  const auto* const found = std::ranges::find(kFields, name, &Field::name);
  return found == kFields.end() ? nullptr : found;
}

// Receives RapidJSON's events. Returning false ends the parse; `problem` then states the reason.
class Handler {
 public:
  Contents contents;

  void begin() {
    Activity& activity = contents.activity;
    activity.kind = ActivityKind::operation;
    activity.name.clear();
    activity.start = Nanoseconds(0);
    activity.duration.reset();
    activity.track = {};
    activity.case_id.clear();
    activity.scope.clear();
    activity.direction.clear();
    activity.correlation.reset();
    activity.attributes.clear();
    contents.line = {};
    contents.has_kind = contents.has_start = contents.has_name = false;
    contents.unknown_kind.clear();
    depth_ = 0;
    field_ = nullptr;
    attribute_.reset();
    previous_ = kAttributeCount;
    mismatch_.clear();
  }

  bool StartObject() {
    ++depth_;
    return depth_ == 2 && !in_attributes() ? mismatch() : true;
  }
  bool EndObject(rapidjson::SizeType) { return leave(); }
  bool StartArray() {
    ++depth_;
    if (depth_ == 1) return fail("not an object");
    return depth_ == 2 ? mismatch() : true;
  }
  bool EndArray(rapidjson::SizeType) { return leave(); }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view key(text, size);
    if (depth_ == 1) field_ = known_field(key);
    if (depth_ == 2 && in_attributes()) {
      attribute_ = known_attribute(key);
      if (!attribute_) ++contents.line.unknown_fields;
    }
    return true;
  }

  bool String(const char* text, rapidjson::SizeType size, bool) {
    return take(std::string_view(text, size), field_ != nullptr ? field_->take_text : nullptr);
  }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Int64(value); }
  bool Int64(std::int64_t value) {
    return take(value, field_ != nullptr ? field_->take_integer : nullptr);
  }
  bool Uint64(std::uint64_t value) {
    if (std::in_range<std::int64_t>(value)) return Int64(static_cast<std::int64_t>(value));
    if (depth_ != 1 || field_ == nullptr || field_->take_large == nullptr)
      return Double(static_cast<double>(value));
    field_->take_large(contents, value);
    return true;
  }
  bool Double(double value) { return take<double>(value, nullptr); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return true; }
  bool Bool(bool) { return Null(); }
  bool Null() { return take<std::monostate>({}, nullptr); }

  // Call this after a complete object.
  void finish() {
    ParsedLine& line = contents.line;
    if (line.record.empty()) {
      line.problem = mismatch_.empty() ? "no `record`" : mismatch_;
    } else if (line.record != "activity") {
      line.kind = LineKind::other;
    } else if (!mismatch_.empty()) {
      line.problem = mismatch_;
    } else if (!contents.unknown_kind.empty()) {
      line.problem = fmt::format("unknown kind {}", quote(contents.unknown_kind));
    } else if (!contents.has_kind || !contents.has_start || !contents.has_name) {
      line.problem = fmt::format("no `{}`", !contents.has_kind    ? "kind"
                                            : !contents.has_start ? "start_ns"
                                                                  : "name");
    } else if (!in_range()) {
      line.problem = "the time of the activity is out of range";
    } else {
      line.kind = LineKind::activity;
    }
  }

 private:
  bool fail(std::string problem) {
    contents.line.problem = std::move(problem);
    return false;
  }
  bool in_attributes() const { return field_ == &kFields.back(); }
  // Most lines list their fields and attributes in the same order as an earlier line. So the one
  // that followed last time is tried first.
  const Field* known_field(std::string_view key) {
    const auto index = field_ != nullptr ? field_ - kFields.data() : kFields.size();
    const Field*& guess = field_followers_[static_cast<std::size_t>(index)];
    if (guess == nullptr || guess->name != key) guess = find_field(key);
    return guess;
  }
  std::optional<Attribute> known_attribute(std::string_view key) {
    Attribute& guess = followers_[previous_];
    if (info(guess).name != key) {
      const auto found = attribute_from_name(key);
      if (!found) return std::nullopt;
      guess = *found;
    }
    previous_ = static_cast<std::size_t>(guess);
    return guess;
  }
  // A mismatch is an error only for activities, and the kind of record is known only at the end.
  // Other records have fields of the same names, such as the device of a case.
  bool mismatch() {
    if (field_ != nullptr && mismatch_.empty()) {
      mismatch_ = fmt::format("`{}` has the wrong type", field_->name);
    }
    return true;
  }
  bool leave() {
    --depth_;
    attribute_.reset();
    return true;
  }

  template <class T>
  bool take(T value, void (*take_field)(Contents& contents, T value)) {
    if (depth_ == 0) return fail("not an object");
    if (depth_ == 2 && attribute_) take_attribute(value);
    if (depth_ != 1) return true;
    if (take_field == nullptr) return mismatch();
    take_field(contents, value);
    return contents.line.problem.empty();
  }

  void take_attribute(std::string_view value) { set_attribute(AttributeType::text, value); }
  void take_attribute(double value) { set_attribute(AttributeType::real, value); }
  void take_attribute(std::monostate) { ++contents.line.unknown_fields; }
  void take_attribute(std::int64_t value) {
    if (info(*attribute_).type == AttributeType::real)
      return take_attribute(static_cast<double>(value));
    set_attribute(AttributeType::integer, value);
  }
  template <class T>
  void set_attribute(AttributeType type, T value) {
    if (info(*attribute_).type == type) {
      contents.activity.attributes.set(*attribute_, value);
    } else {
      ++contents.line.unknown_fields;
    }
  }

  // Ensures that a sum of start and duration cannot overflow.
  bool in_range() const {
    constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 4;
    const std::int64_t start = contents.activity.start.count();
    return start > -kLimit && start < kLimit &&
           contents.activity.duration.value_or(Nanoseconds(0)).count() < kLimit;
  }

  int depth_ = 0;
  const Field* field_ = nullptr;  // nullptr for a field that is not in kFields
  std::optional<Attribute> attribute_;
  // previous attribute of this line; kAttributeCount if none
  std::size_t previous_ = kAttributeCount;
  std::array<Attribute, kAttributeCount + 1> followers_{};
  std::array<const Field*, kFields.size() + 1> field_followers_{};
  std::string mismatch_;  // the first mismatch of this line
};

}  // namespace

struct ActivityLineParser::State {
  Handler handler;
  rapidjson::Reader reader;
  std::string plain;

  // Parses iteratively, so that the depth of a hostile line does not become the depth of the stack.
  rapidjson::ParseResult parse(std::string_view line) {
    if (is_plain_ascii(line)) {  // texts are used in place and need no validation
      constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag;
      plain = line;
      rapidjson::InsituStringStream stream(plain.data());
      return reader.Parse<kFlags>(stream, handler);
    }
    constexpr unsigned kFlags =
        rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
    rapidjson::MemoryStream stream(line.data(), line.size());
    return reader.Parse<kFlags>(stream, handler);
  }
};

ActivityLineParser::ActivityLineParser() : state_(std::make_unique<State>()) {}
ActivityLineParser::~ActivityLineParser() = default;

const ParsedLine& ActivityLineParser::parse(std::string_view line) {
  Handler& handler = state_->handler;
  handler.begin();
  const rapidjson::ParseResult result = state_->parse(line);
  if (!result) {
    if (handler.contents.line.problem.empty()) {
      handler.contents.line.problem = fmt::format("column {}: {}", result.Offset() + 1,
                                                  rapidjson::GetParseError_En(result.Code()));
    }
    return handler.contents.line;
  }
  handler.finish();
  return handler.contents.line;
}

const Activity& ActivityLineParser::activity() const { return state_->handler.contents.activity; }
Activity& ActivityLineParser::activity() { return state_->handler.contents.activity; }

}  // namespace bench
