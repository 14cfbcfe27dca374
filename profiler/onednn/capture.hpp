// SPDX-License-Identifier: Apache-2.0
// What a library prints to standard output, kept in memory while it works, so that its lines can be
// read when nothing is timed any more and never mix with anybody's output.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

// Puts a stream of its own in place of stdio's `stdout` for as long as it lives: what printf, puts
// and the like print then costs no system call, in the middle of what is measured (a write to a
// descriptor costs a kernel that has filled the caches some 5 us). Output that does not come
// through stdio's `stdout` is not captured. One at a time. Other threads may print.
class OutputCapture {
 public:
  static Result<std::unique_ptr<OutputCapture>> start();
  // Puts `stdout` back; what has been printed and not been passed on is lost.
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // Bytes printed since the start or the last clear(): where the next line will begin.
  std::int64_t written();
  // What stands between two such places, until the next clear().
  std::string read(std::int64_t from, std::int64_t to);
  // Forgets what was printed.
  void clear();
  // Prints to where `stdout` led before.
  Status pass_on(std::string_view text);

 private:
  OutputCapture() = default;
  // Of fopencookie(): appends to text_. Called with the stream locked.
  static ssize_t append(void* self, const char* bytes, size_t size);
  class Locked;

  std::string text_;
  std::FILE* original_ = nullptr;
  std::FILE* stream_ = nullptr;
};

}  // namespace bench
