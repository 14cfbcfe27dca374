// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"
#include "base/quote.hpp"
#include "base/utf8.hpp"
#include "profiler/activity_json.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <array>
#include <limits>

namespace bench {
namespace {

enum class Field {
  record,
  schema,
  run_id,
  outcome,
  id,
  kind,
  name,
  start,
  duration,
  pid,
  tid,
  device,
  stream,
  scope,
  direction,
  correlation,
  attributes,
  other,
};
struct FieldName {
  std::string_view name;
  Field field;
};
constexpr std::array<FieldName, 17> kFields = {{{"record", Field::record},
                                                {"schema", Field::schema},
                                                {"run_id", Field::run_id},
                                                {"outcome", Field::outcome},
                                                {"id", Field::id},
                                                {"kind", Field::kind},
                                                {"name", Field::name},
                                                {"start_ns", Field::start},
                                                {"duration_ns", Field::duration},
                                                {"pid", Field::pid},
                                                {"tid", Field::tid},
                                                {"device", Field::device},
                                                {"stream", Field::stream},
                                                {"scope", Field::scope},
                                                {"direction", Field::direction},
                                                {"correlation", Field::correlation},
                                                {"attributes", Field::attributes}}};

Field find_field(std::string_view name) {
  for (const FieldName& row : kFields) {
    if (row.name == name) return row.field;
  }
  return Field::other;
}

// The rows are in the order of the enumerators.
constexpr bool fields_in_order() {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (static_cast<std::size_t>(kFields[i].field) != i) return false;
  }
  return true;
}
static_assert(fields_in_order());

// Receives RapidJSON's events. Returning false ends the parse; `problem` then states the reason.
class Handler {
 public:
  Activity activity;
  ParsedLine line;
  bool has_kind = false, has_start = false, has_name = false;

  void begin() {
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
    line.kind = LineKind::malformed;
    line.record.clear();
    line.schema.clear();
    line.run_id.clear();
    line.outcome.clear();
    line.problem.clear();
    line.unknown_fields = 0;
    has_kind = has_start = has_name = false;
    depth_ = 0;
    field_ = Field::other;
    attribute_.reset();
    previous_ = kAttributeCount;
    mismatch_.clear();
    unknown_kind_.clear();
  }

  bool StartObject() {
    ++depth_;
    if (depth_ == 2 && field_ != Field::attributes && field_ != Field::other) return mismatch();
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return leave(); }
  bool StartArray() {
    ++depth_;
    if (depth_ == 1) return fail("not an object");
    if (depth_ == 2 && field_ != Field::other) return mismatch();
    return true;
  }
  bool EndArray(rapidjson::SizeType) { return leave(); }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view key(text, size);
    if (depth_ == 1) field_ = known_field(key);
    if (depth_ == 2 && field_ == Field::attributes) {
      attribute_ = known_attribute(key);
      if (!attribute_) ++line.unknown_fields;
    }
    return true;
  }

  bool String(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view value(text, size);
    if (depth_ == 0) return fail("not an object");
    if (depth_ == 1) return take_text(value);
    if (depth_ == 2 && attribute_) {
      if (info(*attribute_).type == AttributeType::text) {
        activity.attributes.set(*attribute_, value);
      } else {
        ++line.unknown_fields;
      }
    }
    return true;
  }

  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Int64(value); }
  bool Int64(std::int64_t value) {
    if (depth_ == 0) return fail("not an object");
    if (depth_ == 1) return take_integer(value);
    if (depth_ == 2 && attribute_) take_attribute(value);
    return true;
  }
  bool Uint64(std::uint64_t value) {
    if (depth_ == 1 && field_ == Field::correlation) {
      activity.correlation = value;
      return true;
    }
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return Int64(static_cast<std::int64_t>(value));
    }
    return Double(static_cast<double>(value));
  }
  bool Double(double value) {
    if (depth_ == 0) return fail("not an object");
    if (depth_ == 1 && field_ != Field::other) return mismatch();
    if (depth_ == 2 && attribute_) {
      if (info(*attribute_).type == AttributeType::real) {
        activity.attributes.set(*attribute_, value);
      } else {
        ++line.unknown_fields;
      }
    }
    return true;
  }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return true; }
  bool Bool(bool) { return other_value(); }
  bool Null() { return other_value(); }

 private:
  bool fail(std::string problem) {
    line.problem = std::move(problem);
    return false;
  }
  // Most lines list their fields and attributes in the same order as an earlier line. So the one
  // that followed last time is tried first.
  Field known_field(std::string_view key) {
    Field& guess = field_followers_[static_cast<std::size_t>(field_)];
    if (guess == Field::other || kFields[static_cast<std::size_t>(guess)].name != key)
      guess = find_field(key);
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
    for (const FieldName& row : kFields) {
      if (row.field == field_ && mismatch_.empty()) {
        mismatch_ = fmt::format("`{}` has the wrong type", row.name);
      }
    }
    return true;
  }
  bool leave() {
    --depth_;
    attribute_.reset();
    return true;
  }
  bool other_value() {
    if (depth_ == 0) return fail("not an object");
    if (depth_ == 1 && field_ != Field::other) return mismatch();
    if (depth_ == 2 && attribute_) ++line.unknown_fields;
    return true;
  }

  bool take_text(std::string_view value) {
    switch (field_) {
      case Field::record:
        line.record = value;
        return true;
      case Field::schema:
        line.schema = value;
        return true;
      case Field::run_id:
        line.run_id = value;
        return true;
      case Field::outcome:
        line.outcome = value;
        return true;
      case Field::id:
        activity.case_id = value;
        return true;
      case Field::kind:
        return take_kind(value);
      case Field::name:
        activity.name = value;
        has_name = true;
        return true;
      case Field::scope:
        activity.scope = value;
        return true;
      case Field::direction:
        activity.direction = value;
        return true;
      case Field::other:
        return true;
      case Field::start:
      case Field::duration:
      case Field::pid:
      case Field::tid:
      case Field::device:
      case Field::stream:
      case Field::correlation:
      case Field::attributes:
        break;
    }
    return mismatch();
  }

  bool take_kind(std::string_view value) {
    const auto kind = enumerator_from_name<ActivityKind>(value);
    if (kind) activity.kind = *kind;
    has_kind = kind.has_value();
    unknown_kind_ = kind ? std::string() : std::string(value);
    return true;
  }

  bool take_integer(std::int64_t value) {
    switch (field_) {
      case Field::start:
        activity.start = Nanoseconds(value);
        has_start = true;
        return true;
      case Field::duration:
        if (value < 0) return fail("`duration_ns` is negative");
        activity.duration = Nanoseconds(value);
        return true;
      case Field::pid:
        activity.track.pid = value;
        return true;
      case Field::tid:
        activity.track.tid = value;
        return true;
      case Field::device:
        activity.track.device = value;
        return true;
      case Field::stream:
        activity.track.stream = value;
        return true;
      case Field::correlation:
        if (value < 0) return fail("`correlation` is negative");
        activity.correlation = static_cast<std::uint64_t>(value);
        return true;
      case Field::other:
        return true;
      case Field::record:
      case Field::schema:
      case Field::run_id:
      case Field::outcome:
      case Field::id:
      case Field::kind:
      case Field::name:
      case Field::scope:
      case Field::direction:
      case Field::attributes:
        break;
    }
    return mismatch();
  }

  void take_attribute(std::int64_t value) {
    switch (info(*attribute_).type) {
      case AttributeType::integer:
        activity.attributes.set(*attribute_, value);
        return;
      case AttributeType::real:
        activity.attributes.set(*attribute_, static_cast<double>(value));
        return;
      case AttributeType::text:
        break;
    }
    ++line.unknown_fields;
  }

 public:
  // Call this after a complete object.
  void finish() {
    if (line.record.empty()) {
      line.problem = mismatch_.empty() ? "no `record`" : mismatch_;
    } else if (line.record != "activity") {
      line.kind = LineKind::other;
    } else if (!mismatch_.empty()) {
      line.problem = mismatch_;
    } else if (!unknown_kind_.empty()) {
      line.problem = fmt::format("unknown kind {}", quote(unknown_kind_));
    } else if (!has_kind || !has_start || !has_name) {
      line.problem = fmt::format("no `{}`", !has_kind ? "kind" : !has_start ? "start_ns" : "name");
    } else if (!in_range()) {
      line.problem = "the time of the activity is out of range";
    } else {
      line.kind = LineKind::activity;
    }
  }

 private:
  // Ensures that a sum of start and duration cannot overflow.
  bool in_range() const {
    constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 4;
    const std::int64_t start = activity.start.count();
    return start > -kLimit && start < kLimit &&
           activity.duration.value_or(Nanoseconds(0)).count() < kLimit;
  }

  int depth_ = 0;
  Field field_ = Field::other;
  std::optional<Attribute> attribute_;
  // previous attribute of this line; kAttributeCount if none
  std::size_t previous_ = kAttributeCount;
  std::array<Attribute, kAttributeCount + 1> followers_{};
  std::array<Field, kFields.size() + 1> field_followers_{};
  std::string mismatch_;  // the first mismatch of this line
  std::string unknown_kind_;
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
    if (handler.line.problem.empty()) {
      handler.line.problem = fmt::format("column {}: {}", result.Offset() + 1,
                                         rapidjson::GetParseError_En(result.Code()));
    }
    return handler.line;
  }
  handler.finish();
  return handler.line;
}

const Activity& ActivityLineParser::activity() const { return state_->handler.activity; }

}  // namespace bench
