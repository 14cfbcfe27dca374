// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/capture.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench {
namespace {

Error failed(std::string_view what) {
  return {fmt::format("cannot {} the library's output: {}", what, std::strerror(errno)), "", ""};
}

}  // namespace

Result<std::unique_ptr<OutputCapture>> OutputCapture::start(int descriptor) {
  // What stdio still holds was printed before and belongs to the old place.
  std::fflush(stdout);
  const int original = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (original < 0) return failed("keep");
  const int memory = memfd_create("onednn_verbose", MFD_CLOEXEC);
  if (memory < 0 || dup2(memory, descriptor) < 0) {
    const Error error = failed("redirect");
    if (memory >= 0) close(memory);
    close(original);
    return error;
  }
  return std::unique_ptr<OutputCapture>(new OutputCapture(descriptor, original, memory));
}

OutputCapture::~OutputCapture() {
  std::fflush(stdout);
  dup2(original_, descriptor_);
  close(original_);
  close(memory_);
}

// Both descriptors share one position, which every write moves on.
std::int64_t OutputCapture::written() {
  std::fflush(stdout);
  return lseek(memory_, 0, SEEK_CUR);
}

Result<std::string> OutputCapture::read(std::int64_t from, std::int64_t to) {
  std::string text(static_cast<std::size_t>(to - from), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = pread(memory_, text.data() + done, text.size() - done,
                                from + static_cast<std::int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("read");
    done += static_cast<std::size_t>(count);
  }
  return text;
}

void OutputCapture::clear() {
  std::fflush(stdout);
  if (ftruncate(memory_, 0) == 0) lseek(memory_, 0, SEEK_SET);
}

Status OutputCapture::pass_on(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(original_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("pass on");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return Done{};
}

}  // namespace bench
