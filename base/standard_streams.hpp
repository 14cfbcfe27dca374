// SPDX-License-Identifier: Apache-2.0
// Setup of standard input, output and error at the start of a program, and a stream that detects
// failed writes.
#pragma once

#include <ostream>
#include <streambuf>
#include <vector>

namespace bench {

// Opens /dev/null on each closed descriptor from 0 to 2, so that a file opened later does not
// become a standard stream. Call this first.
void open_standard_descriptors();

// Makes write(2) return an error, instead of ending the process, if the file size limit is exceeded
// (SIGXFSZ) or the reader has closed (SIGPIPE). A signal that is ignored or has a handler stays so.
// Child programs inherit both signals as this process inherited them.
void survive_failed_writes();

// An output stream to a descriptor that keeps the reason of the first failed write. On a terminal,
// the stream writes each insertion at once, so that its order relative to standard error is
// correct.
class CheckedStream final : public std::ostream {
 public:
  explicit CheckedStream(int descriptor);  // does not own the descriptor
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
    std::vector<char> block_;  // not on the stack, whose limit may be as small
  };

  Buffer buffer_;
};

}  // namespace bench
