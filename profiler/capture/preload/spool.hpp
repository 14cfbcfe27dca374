// SPDX-License-Identifier: Apache-2.0
// Writes records to the spool. Allocates no memory and preserves errno. The spool is reopened if
// the program closes all descriptors.
#pragma once

#include <cstddef>
#include <string_view>

namespace bench::capture {

// Settings that `bench profile` requested.
struct Settings {
  const char* spool = nullptr;    // nullptr: nothing is captured
  const char* verbose = nullptr;  // value of ONEDNN_VERBOSE that `bench profile` set, not the user
  const char* program = "";       // path of this program
  bool backtrace = false;
  bool resident = false;            // record resident memory with each line
  unsigned long sample_period = 0;  // nanoseconds of CPU time between samples; 0: no samples
};

// Read once, when the library is loaded or first used.
const Settings& settings();

// JSON text in a buffer of fixed size. A part that does not fit is omitted completely.
class Text {
 public:
  // The buffer already contains `size` bytes.
  Text(char* buffer, std::size_t capacity, std::size_t size = 0)
      : buffer_(buffer), capacity_(capacity), size_(size) {}
  bool add(std::string_view raw);           // unchanged
  bool add_escaped(std::string_view text);  // as the content of a JSON string
  bool add_number(unsigned long number, int base = 10);
  std::string_view view() const { return {buffer_, size_}; }
  std::size_t size() const { return size_; }
  void cut(std::size_t size) { size_ = size; }

 private:
  char* buffer_;
  std::size_t capacity_;
  std::size_t size_;
};

// The longest escaped form of one character: \u001f.
inline constexpr std::size_t kMaxEscaped = 6;

// Appends {"record":"NAME","pid":..,"tid":..,"ns":..FIELDS} with one write. `fields` is empty or
// JSON text that begins with a comma. It comes in two parts so that neither is copied.
void write_record(std::string_view name, std::string_view fields, std::string_view more_fields);

// After fork without exec, records the parent of this process. The child continues with the
// parent's libraries, and the forking thread with its ranges. Safe in a signal handler.
void record_fork();

// Call this before each record that the reader interprets with the help of earlier ones: writes the
// fork and the samples that came before it.
void note_fork();

// Returns the resident bytes of this process, or 0 if the system does not report them.
std::size_t resident_bytes();

}  // namespace bench::capture
