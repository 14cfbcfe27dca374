// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/output_capture.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace bench {
namespace {

// Initial capacity: some thousand lines of 200 bytes from a network's step-by-step execution.
constexpr std::size_t kInitialCapacity = 1 << 18;

Error failed(std::string_view what) {
  return {fmt::format("cannot {} the library's output: {}", what, std::strerror(errno)), "", ""};
}

}  // namespace

// Locks the stream. text_ then contains everything printed to it.
class OutputCapture::Locked {
 public:
  explicit Locked(OutputCapture& capture) : stream_(capture.stream_) {
    flockfile(stream_);
    fflush_unlocked(stream_);
  }
  ~Locked() { funlockfile(stream_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::FILE* stream_;
};

ssize_t OutputCapture::append(void* self, const char* bytes, size_t size) {
  try {
    static_cast<OutputCapture*>(self)->text_.append(bytes, size);
  } catch (const std::bad_alloc&) {  // the callers above are C code
    errno = ENOMEM;
    return 0;
  }
  return static_cast<ssize_t>(size);
}

Result<std::unique_ptr<OutputCapture>> OutputCapture::start() {
  std::unique_ptr<OutputCapture> capture(new OutputCapture);
  capture->text_.reserve(kInitialCapacity);
  capture->stream_ = fopencookie(capture.get(), "w", {nullptr, append, nullptr, nullptr});
  if (capture->stream_ == nullptr) return failed("keep");
  // The text still buffered in the old stream was printed earlier.
  std::fflush(stdout);
  capture->original_ = stdout;
  stdout = capture->stream_;
  return capture;
}

OutputCapture::~OutputCapture() {
  if (stream_ == nullptr) return;
  stdout = original_;
  std::fclose(stream_);
}

std::int64_t OutputCapture::written() {
  const Locked locked(*this);
  return static_cast<std::int64_t>(text_.size());
}

std::string OutputCapture::read(std::int64_t from, std::int64_t to) {
  const Locked locked(*this);
  return text_.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
}

void OutputCapture::clear() {
  const Locked locked(*this);
  text_.clear();
}

Status OutputCapture::forward(std::string_view text) {
  const bool is_complete = std::fwrite(text.data(), 1, text.size(), original_) == text.size();
  if (std::fflush(original_) != 0 || !is_complete) return failed("pass on");
  return Done{};
}

}  // namespace bench
