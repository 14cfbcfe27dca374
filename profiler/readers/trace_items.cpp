// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/trace_items.hpp"

namespace bench {
namespace {

constexpr std::string_view kJsonBlanks = " \t\r\n";
// A name of a member of a trace is a few words.
constexpr std::size_t kMaxMemberName = 4096;

bool is_blank(char c) { return kJsonBlanks.find(c) != std::string_view::npos; }

}  // namespace

bool TraceItems::next(TraceItem& item) {
  if (place_ == Place::before) {
    skip_blanks();
    if (at_end()) return false;
    is_object_ = take() == '{';
    place_ = is_object_ ? Place::object : Place::list;
  }
  while (place_ == Place::object || place_ == Place::list) {
    const bool is_found = place_ == Place::object ? next_member(item) : next_event(item);
    if (is_found) return true;
    if (at_end()) return false;
  }
  return false;
}

// Requires that the text is not at its end.
char TraceItems::take() {
  const char c = piece_.front();
  piece_.remove_prefix(1);
  if (c == '\n') ++line_;
  if (piece_.empty()) refill();
  return c;
}

void TraceItems::skip_blanks() {
  while (!at_end() && is_blank(piece_.front())) take();
}

// Returns false at the end of the object or of the text, and where the list of events begins.
bool TraceItems::next_member(TraceItem& item) {
  while (!at_end()) {
    skip_blanks();
    if (at_end()) return false;
    const char c = piece_.front();
    if (c == '}') {
      take();
      place_ = Place::after;
      ending_ = Ending::complete;
      return false;
    }
    if (c != '"') {  // a comma, or malformed text
      take();
      continue;
    }
    item.line = line_;
    if (!read_text(key_)) return end_within();
    skip_blanks();
    if (at_end()) return end_within();
    if (piece_.front() != ':') continue;
    take();
    skip_blanks();
    if (at_end()) return end_within();
    if (key_ == "traceEvents" && piece_.front() == '[') {
      take();
      place_ = Place::list;
      return false;
    }
    if (!read_value()) return end_within();
    item.kind = TraceItem::Kind::member;
    item.key = key_;
    item.text = value_;
    item.is_too_long = is_too_long_;
    return true;
  }
  return false;
}

bool TraceItems::next_event(TraceItem& item) {
  while (!at_end()) {
    skip_blanks();
    if (at_end()) return false;
    const char c = piece_.front();
    if (c == ',') {
      take();
      continue;
    }
    if (c == ']') {
      take();
      place_ = is_object_ ? Place::object : Place::after;
      if (!is_object_) ending_ = Ending::complete;
      return false;
    }
    item.line = line_;
    if (!read_value()) return end_within();
    item.kind = TraceItem::Kind::event;
    item.key = {};
    item.text = value_;
    item.number = ++number_;
    item.is_too_long = is_too_long_;
    return true;
  }
  return false;
}

bool TraceItems::end_within() {
  ending_ = Ending::within;
  place_ = Place::after;
  return false;
}

bool TraceItems::read_text(std::string& text) {
  text.clear();
  take();
  bool is_escaped = false;
  while (!at_end()) {
    const char c = take();
    if (c == '\n') return true;  // a text has no line break, so its end is lost
    if (c == '"' && !is_escaped) return true;
    is_escaped = c == '\\' && !is_escaped;
    if (text.size() < kMaxMemberName) text += c;
  }
  return false;
}

void TraceItems::store(char c) {
  if (value_.size() < kMaxProfileLine) {
    value_ += c;
  } else {
    is_too_long_ = true;
  }
}

bool TraceItems::read_value() {
  value_.clear();
  is_too_long_ = false;
  std::int64_t depth = 0;
  bool is_text = false, is_escaped = false;
  while (!at_end()) {
    const char next = piece_.front();
    const bool is_outside = depth == 0 && !is_text;
    if (is_outside && !value_.empty() && (next == ',' || next == ']' || next == '}')) return true;
    const char c = take();
    store(c);
    if (is_text) {
      // A text has no line break. If its end is lost, only its own event is malformed.
      if (c == '\n' || (c == '"' && !is_escaped)) is_text = false;
      is_escaped = c == '\\' && !is_escaped;
      if (!is_text) is_escaped = false;
      continue;
    }
    if (c == '"') is_text = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth < 0 || (depth == 0 && (c == '}' || c == ']'))) return true;
  }
  return false;
}

}  // namespace bench
