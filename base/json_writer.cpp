// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace bench {
namespace {

void append_json_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) < ' ') {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  } else {
    out += c;
  }
}

// Returns whether the value is a whole number from 0 to 2^53, except -0. Others are written as
// reals.
bool is_exact_integer(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  return std::abs(value) <= kExact && std::trunc(value) == value && !std::signbit(value);
}

// Writes the shortest digits that read back as the same number: without an exponent from 1e-4 to
// 1e15, and always with a fraction or an exponent, so that readers with typed numbers see a real.
void append_json_real(std::string& out, double value) {
  constexpr int kMinPoint = -4, kMaxPoint = 15;
  char buffer[32];
  const auto written =
      std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(written.ptr - buffer));
  const std::size_t exponent_at = text.find('e');
  std::string digits(1, text[0]);
  if (exponent_at > 2) digits += text.substr(2, exponent_at - 2);
  int exponent = 0;
  const std::size_t number_at = exponent_at + (text[exponent_at + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + number_at, text.data() + text.size(), exponent);
  const int point = exponent + 1;  // number of digits before the decimal point
  if (std::signbit(value)) out += '-';
  if (point > kMaxPoint || point <= kMinPoint) {
    out += text;
  } else if (point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out += digits;
  } else if (const auto whole = static_cast<std::size_t>(point); digits.size() <= whole) {
    out += digits;
    out.append(whole - digits.size(), '0');
    out += ".0";
  } else {
    out.append(digits, 0, whole);
    out += '.';
    out.append(digits, whole);
  }
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  if (is_plain_ascii(text) && text.find_first_of("\"\\") == std::string_view::npos) {
    out += text;  // nearly all texts
  } else if (is_utf8(text)) {
    for (const char c : text) append_json_escaped(out, c);
  } else {
    for (const char c : with_valid_utf8(text)) append_json_escaped(out, c);
  }
  out += '"';
}

void JsonWriter::key(std::string_view name) {
  separate();
  append_json_text(text_, name);
  text_ += style_.indent > 0 ? ": " : ":";
}

void JsonWriter::begin(char bracket) {
  text_ += bracket;
  ++depth_;
  is_empty_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!is_empty_) new_line();
  text_ += bracket;
  is_empty_ = false;
}

void JsonWriter::separate() {
  if (!is_empty_) text_ += ',';
  is_empty_ = false;
  new_line();
}

void JsonWriter::new_line() {
  if (style_.indent == 0) return;
  text_ += '\n';
  text_.append(depth_ * style_.indent, ' ');
}

void JsonWriter::add_bool(bool value) { text_ += value ? "true" : "false"; }
void JsonWriter::add_null() { text_ += "null"; }

void JsonWriter::add_integer(std::int64_t value) {
  const fmt::format_int digits(value);
  text_.append(digits.data(), digits.size());
}
void JsonWriter::add_integer(std::uint64_t value) {
  const fmt::format_int digits(value);
  text_.append(digits.data(), digits.size());
}

void JsonWriter::add_real(double value, JsonReals reals) {
  if (!std::isfinite(value)) return add_null();
  if (reals == JsonReals::shortest && is_exact_integer(value))
    return add_integer(static_cast<std::int64_t>(value));
  append_json_real(text_, value);
}

void JsonWriter::add_text(std::string_view value) { append_json_text(text_, value); }

}  // namespace bench
