// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error at the start of a program, and output that detects write
// failures.
#pragma once

#include <array>
#include <ostream>
#include <streambuf>

namespace bench {

// Opens /dev/null on each closed descriptor from 0 to 2, so that a file opened later does not
// become a standard stream. Call this first.
void open_standard_descriptors();

// Makes write(2) fail, instead of ending the process, if it exceeds the file size limit (SIGXFSZ)
// or the reader has closed (SIGPIPE). An ignored signal stays ignored. Child programs inherit both
// signals as this process got them.
void survive_failed_writes();

// A stream on a descriptor that keeps the reason of the first failed write. On a terminal each
// insertion appears at once, so that it is in order with standard error.
class CheckedStream final : public std::ostream {
 public:
  explicit CheckedStream(int descriptor);  // not owned
  ~CheckedStream() override;

  // Writes the buffered data. Returns 0, or the errno of the first failed write; later output is
  // lost. EPIPE means that the reader has closed.
  int finish();

 private:
  class Buffer final : public std::streambuf {
   public:
    explicit Buffer(int descriptor);
    int error() const { return error_; }

   protected:
    int_type overflow(int_type character) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

   private:
    bool write_all(const char* text, std::size_t size);

    int descriptor_;
    bool is_terminal_;
    int error_ = 0;
    std::array<char, 65536> block_;
  };

  Buffer buffer_;
};

}  // namespace bench
