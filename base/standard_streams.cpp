// SPDX-License-Identifier: Apache-2.0
#include "base/standard_streams.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace bench {
namespace {

constexpr std::size_t kBlockSize = 65536;

// The handler replaces SIG_IGN, because exec resets a handled signal to its default, but keeps an
// ignored signal ignored.
void do_nothing(int) {}

}  // namespace

void open_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this descriptor.
    static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

void survive_failed_writes() {
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = do_nothing;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

CheckedStream::Buffer::Buffer(int descriptor)
    : descriptor_(descriptor), is_terminal_(::isatty(descriptor) != 0), block_(kBlockSize) {
  setp(block_.data(), block_.data() + block_.size());
}

bool CheckedStream::Buffer::write_all(const char* text, std::size_t size) {
  while (size > 0 && error_ == 0) {
    const ::ssize_t count = ::write(descriptor_, text, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      error_ = errno;
      break;
    }
    text += count;
    size -= static_cast<std::size_t>(count);
  }
  return error_ == 0;
}

int CheckedStream::Buffer::sync() {
  const bool is_written = write_all(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(block_.data(), block_.data() + block_.size());
  return is_written ? 0 : -1;
}

CheckedStream::Buffer::int_type CheckedStream::Buffer::overflow(int_type character) {
  if (sync() != 0) return traits_type::eof();
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  return sputc(traits_type::to_char_type(character));
}

std::streamsize CheckedStream::Buffer::xsputn(const char* text, std::streamsize size) {
  const std::streamsize count = std::streambuf::xsputn(text, size);
  const bool is_written = !is_terminal_ || sync() == 0;
  return is_written ? count : 0;
}

CheckedStream::CheckedStream(int descriptor) : std::ostream(nullptr), buffer_(descriptor) {
  rdbuf(&buffer_);
}

CheckedStream::~CheckedStream() { finish(); }

int CheckedStream::finish() {
  flush();
  return buffer_.error();
}

}  // namespace bench
