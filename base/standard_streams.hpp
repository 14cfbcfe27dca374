// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error as a program finds them at its start, and output whose failure
// is noticed.
#pragma once

#include <array>
#include <ostream>
#include <streambuf>

namespace bench {

// Puts /dev/null on each of the descriptors 0 to 2 that is closed: a file that is opened later must
// not become a standard stream. To be called first.
void open_standard_descriptors();

// A limit of the file size (SIGXFSZ) or a reader that went away (SIGPIPE) makes write(2) fail
// instead of ending the process. A signal that is ignored stays ignored, and programs that this
// process starts get both signals as it got them.
void survive_failed_writes();

// A stream on a descriptor that keeps the reason of the first failed write. On a terminal each
// insertion appears at once, so that it stands in order with standard error.
class CheckedStream final : public std::ostream {
 public:
  explicit CheckedStream(int descriptor);  // not owned
  ~CheckedStream() override;

  // Writes what is buffered. 0, or the errno of the first write that failed; what came after it is
  // lost. EPIPE: the reader went away.
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
