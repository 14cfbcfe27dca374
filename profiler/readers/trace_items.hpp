// SPDX-License-Identifier: Apache-2.0
// Splits a Chrome trace into its events without reading them: an object with a list `traceEvents`,
// or a bare list. Holds one event at a time. A malformed event does not hide the events after it.
#pragma once

#include "profiler/text_source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

struct TraceItem {
  // member: a member of the object besides `traceEvents`. event: an item of the list.
  enum class Kind { member, event };
  Kind kind = Kind::event;
  std::string_view key;      // name of a member
  std::string_view text;     // JSON, unless it is malformed; valid until the next item
  std::int64_t line = 0;     // where it begins, from 1
  std::int64_t number = 0;   // position of an event, from 1
  bool is_too_long = false;  // longer than kMaxProfileLine; `text` is cut
};

class TraceItems {
 public:
  explicit TraceItems(TextSource& source) : source_(source) { refill(); }
  // Returns false at the end of the text. An item that the text does not complete is not returned.
  bool next(TraceItem& item);

  // How the text ended. within: within the last item. unterminated: between items.
  enum class Ending { complete, unterminated, within };
  Ending ending() const { return ending_; }
  std::int64_t line() const { return line_; }  // line of the next character
  std::int64_t events() const { return number_; }

 private:
  enum class Place { before, object, list, after };

  bool at_end() const { return piece_.empty(); }
  void refill() { piece_ = source_.next_piece(); }
  char take();
  void skip_blanks();
  bool next_member(TraceItem& item);
  bool next_event(TraceItem& item);
  // Reads a value up to its end, which belongs to it if it is an object, list or text.
  bool read_value();
  bool read_text(std::string& text);
  void store(char c);
  bool end_within();

  TextSource& source_;
  std::string_view piece_;  // not read yet
  std::string key_, value_;
  bool is_too_long_ = false;
  bool is_object_ = false;  // the list is a member of an object
  Place place_ = Place::before;
  Ending ending_ = Ending::unterminated;
  std::int64_t line_ = 1;
  std::int64_t number_ = 0;
};

}  // namespace bench
