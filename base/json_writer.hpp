// SPDX-License-Identifier: Apache-2.0
// The archive that writes records as JSON text. A record declares its fields once, for this archive
// and for the one that reads (base/json_reader.hpp). Most do so by the names of their members
// (base/json_fields.hpp). In full:
//
//   void fields(auto& archive, JsonOf<Sample> auto& sample) {
//     archive.required("id", sample.id);
//     archive.optional("create_ns", sample.create);
//   }
//
// Both archives have these functions:
//   required(name, value)         always written; reading without it is an error
//   optional(name, value)         leaves out missing values, empty texts, lists and maps
//   defaulted(name, value, default_value) leaves out the default value
//   constant(name, text)          always written; reading another text is an error
//   required_object(name, declare) a member object
//   object(name, declare)         the same, left out if it is empty
//   group(name, optional, declare) an object that is present or missing as a whole
//   list(name, vector, declare)   a list of objects; left out if it is empty
//   optional_inline(first, optional) the fields of an optional struct, directly in the record; if
//                                 the field `first` is missing, so is the struct
// The archives call `declare` with the archive and, for group and list, the value. A value is a
// number, a text, an enumerator with a name (base/enumerators.hpp), a quantity of base/units.hpp, a
// struct with fields() or elements(), or an optional, a vector or a map of these. A type with
// write_json(writer, value) can be written but not read.
//
// The output is strict JSON. Numbers that JSON cannot represent (NaN, infinity) are left out by
// `optional` and written as null otherwise. Invalid UTF-8 is replaced.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

// True for Record and const Record, so that one fields() serves both reading and writing.
template <class T, class Record>
concept JsonOf = std::same_as<std::remove_const_t<T>, Record>;

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsTextMap = false;
template <class T>
inline constexpr bool kIsTextMap<std::map<std::string, T>> = true;

// A struct that declares its fields for this archive.
template <class Archive, class T>
concept JsonRecord = requires(Archive& archive, T& value) {
  fields(archive, value);
};
// A struct that is written as a list: elements() returns a tuple of references.
template <class T>
concept JsonTuple = requires(T& value) {
  elements(value);
};

// A range of permitted numbers, limits included; infinity means no limit.
struct JsonRange {
  double low;
  double high;
};
constexpr JsonRange at_least(double low) { return {low, HUGE_VAL}; }
constexpr JsonRange within(double low, double high) { return {low, high}; }

// shortest: 3 is written as "3"; with_fraction: as "3.0".
enum class JsonReals { shortest, with_fraction };
struct JsonStyle {
  std::size_t indent = 0;  // spaces per level; 0: one line
  JsonReals reals = JsonReals::shortest;
};

// The style of documents that commands print.
inline constexpr JsonStyle kPrintedJson = {.indent = 2, .reals = JsonReals::with_fraction};

// Returns whether JsonWriter::optional() writes the value.
inline bool is_json_present(double value) { return std::isfinite(value); }
inline bool is_json_present(FlopsPerSecond rate) { return std::isfinite(rate.value); }
inline bool is_json_present(BytesPerSecond rate) { return std::isfinite(rate.value); }
template <class T>
bool is_json_present(const T& value) {
  if constexpr (kIsOptional<T>) {
    // An optional text or list is present even if it is empty.
    if constexpr (requires { value->empty(); }) return value.has_value();
    return value && is_json_present(*value);
  } else if constexpr (requires { value.empty(); }) {
    return !value.empty();
  } else {
    return true;
  }
}

class JsonWriter {
 public:
  static constexpr bool kReads = false;

  // Appends to `text`, which must outlive the writer.
  explicit JsonWriter(std::string& text, JsonStyle style = {}) : text_(text), style_(style) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  template <class T>
  void required(std::string_view name, const T& value) {
    key(name);
    add(value);
  }
  template <class T>
  void required(std::string_view name, const T& value, JsonRange) {
    required(name, value);
  }
  template <class T>
  void optional(std::string_view name, const T& value) {
    if (is_json_present(value)) required(name, value);
  }
  template <class T>
  void optional(std::string_view name, const T& value, JsonRange) {
    optional(name, value);
  }
  template <class T>
  void defaulted(std::string_view name, const T& value, const T& default_value) {
    if (!(value == default_value)) required(name, value);
  }
  void constant(std::string_view name, std::string_view text) { required(name, text); }
  template <class Declare>
  void required_object(std::string_view name, Declare declare) {
    key(name);
    add_object(declare);
  }
  template <class Declare>
  void object(std::string_view name, Declare declare) {
    const std::size_t before = text_.size();
    const bool was_empty = is_empty_;
    key(name);
    begin('{');
    declare(*this);
    if (is_empty_) {
      text_.resize(before);
      is_empty_ = was_empty;
      --depth_;
    } else {
      end('}');
    }
  }
  template <class T, class Declare>
  void group(std::string_view name, const std::optional<T>& value, Declare declare) {
    if (value) object(name, [&](JsonWriter& writer) { declare(writer, *value); });
  }
  template <class T, class Declare>
  void list(std::string_view name, const std::vector<T>& values, Declare declare) {
    if (!values.empty()) required_list(name, values, declare);
  }

  template <class T>
  void optional_inline(std::string_view /*first*/, const std::optional<T>& value) {
    if (value) fields(*this, *value);
  }

  // Writes a list of objects, even if it is empty.
  template <class Values, class Declare>
  void required_list(std::string_view name, const Values& values, Declare declare) {
    key(name);
    begin('[');
    for (const auto& value : values) {
      separate();
      begin('{');
      declare(*this, value);
      end('}');
    }
    end(']');
  }

  // Writes a member. `add` must append its value with one of the functions below.
  template <class Add>
  void member(std::string_view name, Add add) {
    key(name);
    add();
  }

  // Appends one value, such as a complete record.
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      add_bool(value);
    } else if constexpr (std::is_enum_v<T>) {
      add_text(enumerator_names(value)[static_cast<std::size_t>(value)]);
    } else if constexpr (std::signed_integral<T>) {
      add_integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::unsigned_integral<T>) {
      add_integer(static_cast<std::uint64_t>(value));
    } else if constexpr (std::floating_point<T>) {
      add_real(value, style_.reals);
    } else if constexpr (std::is_same_v<T, Nanoseconds> || std::is_same_v<T, Picoseconds>) {
      add_integer(static_cast<std::int64_t>(value.count()));
    } else if constexpr (std::is_same_v<T, Bytes>) {
      add_integer(value.count);
    } else if constexpr (std::is_same_v<T, FlopsPerSecond> || std::is_same_v<T, BytesPerSecond>) {
      add_real(value.value, style_.reals);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      add_text(value);
    } else {
      add_compound(value);
    }
  }
  // Appends an object.
  template <class Declare>
  void add_object(Declare declare) {
    begin('{');
    declare(*this);
    end('}');
  }
  // Appends a list; add_item(index) adds one value.
  template <class AddItem>
  void add_list(std::size_t size, AddItem add_item) {
    begin('[');
    for (std::size_t i = 0; i < size; ++i) {
      separate();
      add_item(i);
    }
    end(']');
  }
  // Appends a number in the style `reals` instead of the writer's.
  void add_real(double value, JsonReals reals);

 private:
  template <class T>
  void add_compound(const T& value) {
    if constexpr (requires { write_json(*this, value); }) {
      write_json(*this, value);
    } else if constexpr (kIsOptional<T>) {
      if (value) {
        add(*value);
      } else {
        add_null();
      }
    } else if constexpr (JsonRecord<JsonWriter, const T>) {
      add_object([&](JsonWriter& writer) { fields(writer, value); });
    } else if constexpr (JsonTuple<const T>) {
      begin('[');
      std::apply([&](const auto&... items) { (add_item(items), ...); }, elements(value));
      end(']');
    } else if constexpr (kIsTextMap<T>) {
      begin('{');
      for (const auto& [name, item] : value) {
        separate();
        add_text(name);
        text_ += style_.indent > 0 ? ": " : ":";
        add(item);
      }
      end('}');
    } else {
      begin('[');
      for (const auto& item : value) add_item(item);
      end(']');
    }
  }
  template <class T>
  void add_item(const T& item) {
    separate();
    add(item);
  }
  void key(std::string_view name);
  void begin(char bracket);
  void end(char bracket);
  void separate();
  void new_line();
  void add_bool(bool value);
  void add_null();
  void add_integer(std::int64_t value);
  void add_integer(std::uint64_t value);
  void add_text(std::string_view value);

  std::string& text_;
  JsonStyle style_;
  std::size_t depth_ = 0;
  bool is_empty_ = true;  // the current object or list has no item yet
};

// Appends a text in quotes.
void append_json_text(std::string& out, std::string_view text);

// Returns the object whose members `declare` writes with a JsonWriter, without a newline.
template <class Declare>
std::string json_object(Declare declare, JsonStyle style = {}) {
  std::string text;
  JsonWriter writer(text, style);
  writer.add_object(declare);
  return text;
}
// Returns the same in the style of a printed document, with a newline.
template <class Declare>
std::string printed_json(Declare declare) {
  return json_object(declare, kPrintedJson) + '\n';
}
// Returns one value, such as a record with fields(), without a newline.
template <class T>
std::string format_json(const T& value, JsonStyle style = {}) {
  std::string text;
  JsonWriter writer(text, style);
  writer.add(value);
  return text;
}

}  // namespace bench
