// SPDX-License-Identifier: Apache-2.0
// What a library prints to standard output, kept in memory while it works, so that its lines can be
// read when nothing is timed any more and never mix with anybody's output.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

// Redirects a descriptor to a file in memory for as long as it lives. One at a time for a
// descriptor. Not thread-safe; other threads may print.
class OutputCapture {
 public:
  // Of the descriptor that stdio's `stdout` writes to (1), or another one in tests.
  static Result<std::unique_ptr<OutputCapture>> start(int descriptor);
  // Restores the descriptor; what has been printed and not been passed on is lost.
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // Bytes printed since the start or the last clear(): where the next line will begin. Flushes
  // stdio. Two system calls at most, about half a microsecond.
  std::int64_t written();
  // What stands between two such places.
  Result<std::string> read(std::int64_t from, std::int64_t to);
  // Forgets what was printed. Nothing may be printing meanwhile.
  void clear();
  // Prints to where the descriptor led before.
  Status pass_on(std::string_view text);

 private:
  OutputCapture(int descriptor, int original, int memory)
      : descriptor_(descriptor), original_(original), memory_(memory) {}
  int descriptor_;
  int original_;  // a duplicate of what the descriptor was
  int memory_;
};

}  // namespace bench
