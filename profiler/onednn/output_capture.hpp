// SPDX-License-Identifier: Apache-2.0
// Keeps in memory what a library prints to standard output while it works. Its lines can be read
// later, when nothing is timed, and never mix with other output.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

// Replaces stdio's `stdout` by its own stream during its lifetime. Text from printf, puts and
// similar then costs no system call during a measurement. (A write to a descriptor costs a kernel
// that has filled the caches about 5 us.) Output that does not go through stdio's `stdout` is not
// captured. Only one object may exist at a time. Other threads may print.
class OutputCapture {
 public:
  static Result<std::unique_ptr<OutputCapture>> start();
  // Restores `stdout`. Printed text that was not forwarded is lost.
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // Returns the number of bytes printed since the start or the last clear(). This is the position
  // of the next line.
  std::int64_t written();
  // Returns the text between two positions from written(). They are valid until the next clear().
  std::string read(std::int64_t from, std::int64_t to);
  // Discards what was printed.
  void clear();
  // Prints to the original target of `stdout`.
  Status forward(std::string_view text);

 private:
  OutputCapture() = default;
  // Callback for fopencookie(): appends to text_. Called with the stream locked.
  static ssize_t append(void* self, const char* bytes, size_t size);
  class Locked;

  std::string text_;
  std::FILE* original_ = nullptr;
  std::FILE* stream_ = nullptr;
};

}  // namespace bench
