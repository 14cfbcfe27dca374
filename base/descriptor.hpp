// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace bench {

// Mode with which this program creates files; the umask reduces it.
inline constexpr ::mode_t kNewFileMode = 0666;

// Owns a file descriptor and closes it in the destructor. A negative number means no descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  // Releases ownership: the caller must close the returned descriptor.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace bench
