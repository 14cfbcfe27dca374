// SPDX-License-Identifier: Apache-2.0
// Writes records to the spool. Allocates nothing, keeps errno, and survives programs that close
// all descriptors: the spool is opened anew then.
#pragma once

#include <cstddef>
#include <string_view>

namespace bench::capture {

// What `bench profile` asked for.
struct Settings {
  const char* spool = nullptr;    // nullptr: nothing is captured
  const char* verbose = nullptr;  // the value of ONEDNN_VERBOSE that is not the user's
  const char* program = "";       // the file of this program
  bool backtrace = false;
  bool resident = false;  // memory, with each line
};

// Read once, when the library is loaded or first used.
const Settings& settings();

// A piece of JSON text in a buffer of fixed size: what does not fit is left out as a whole.
class Text {
 public:
  // `size` bytes are there already.
  Text(char* buffer, std::size_t capacity, std::size_t size = 0)
      : buffer_(buffer), capacity_(capacity), size_(size) {}
  bool add(std::string_view raw);           // as it is
  bool add_escaped(std::string_view text);  // as the inside of a JSON string
  bool add_number(unsigned long number, int base = 10);
  std::string_view view() const { return {buffer_, size_}; }
  std::size_t size() const { return size_; }
  void cut(std::size_t size) { size_ = size; }

 private:
  char* buffer_;
  std::size_t capacity_;
  std::size_t size_;
};

// Longest form of one character: \u001f.
inline constexpr std::size_t kMaxEscaped = 6;

// Appends {"record":"NAME","pid":..,"tid":..,"ns":..FIELDS} as one write. `fields` are JSON text
// that begins with a comma, or empty; they come in two parts so that none is copied.
void write_record(std::string_view name, std::string_view fields, std::string_view more_fields);

}  // namespace bench::capture
