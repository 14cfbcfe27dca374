// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/injection/traced_process.hpp"
#include "profiler/capture/spool_format.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace bench::ops::cuda {
namespace {

// Maximum number of traced programs that one process can run one after the other (exec).
constexpr int kMaxFiles = 10'000;

// Describes the error in `errno`.
Error errno_error(std::string_view what, const std::string& path) {
  return Error{fmt::format("{}: {}", what, std::strerror(errno)), path, ""};
}

Status write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t size = write(descriptor, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return errno_error("cannot be written", path);
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return Done{};
}

}  // namespace

Result<GpuSpoolWriter> GpuSpoolWriter::create(const std::string& spool, std::int64_t pid) {
  const std::string stem = fmt::format("{}{}{}", spool, capture::kGpuSpoolSuffix, pid);
  for (int number = 1; number <= kMaxFiles; ++number) {
    const std::string path = number == 1 ? stem : fmt::format("{}.{}", stem, number);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      close(descriptor);
      return GpuSpoolWriter(path);
    }
    if (errno != EEXIST) return errno_error("cannot be made", path);
  }
  return Error{"all names are taken", stem, ""};
}

Status GpuSpoolWriter::append(std::string_view text) const {
  const int descriptor = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return errno_error("cannot be opened", path_);
  Status status = write_all(descriptor, text, path_);
  close(descriptor);
  return status;
}

}  // namespace bench::ops::cuda
