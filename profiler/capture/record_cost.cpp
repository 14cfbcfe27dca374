// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/record_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

// Enough for a stable median, and short: a few milliseconds.
constexpr std::size_t kBatches = 21;
constexpr std::size_t kWritesOfBatch = 50;
constexpr std::size_t kMaxLength = 4096;

class CalibrationFile {
 public:
  explicit CalibrationFile(const std::string& path)
      : path_(path),
        descriptor_(
            ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600)) {}
  CalibrationFile(const CalibrationFile&) = delete;
  CalibrationFile& operator=(const CalibrationFile&) = delete;
  ~CalibrationFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
  bool is_open() const { return descriptor_ >= 0; }
  bool write(const std::string& record) const {
    return ::write(descriptor_, record.data(), record.size()) ==
           static_cast<ssize_t>(record.size());
  }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace

Result<RecordCost> measure_record_cost(const std::string& path, std::size_t length, Clock& clock) {
  const CalibrationFile file(path);
  const auto failure = [&] {
    return Error{fmt::format("cannot be written: {}", std::strerror(errno)), path, ""};
  };
  if (!file.is_open()) return failure();
  const std::string record(std::clamp<std::size_t>(length, 1, kMaxLength), ' ');
  std::vector<Nanoseconds> batches;
  for (std::size_t i = 0; i < kBatches; ++i) {
    const Nanoseconds begin = clock.now();
    for (std::size_t j = 0; j < kWritesOfBatch; ++j) {
      if (!file.write(record)) return failure();
    }
    batches.push_back(clock.now() - begin);
  }
  std::ranges::nth_element(batches, batches.begin() + kBatches / 2);
  const Nanoseconds each = batches[kBatches / 2] / kWritesOfBatch;
  return RecordCost{each, fmt::format("the median of {} writes of {} bytes at the end of the "
                                      "profile, without the time to format them",
                                      kBatches * kWritesOfBatch, record.size())};
}

}  // namespace bench
