// SPDX-License-Identifier: Apache-2.0
// A profile on disk, written as a stream: whole lines only, so that a killed process leaves a valid
// file up to the last flush.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace bench {

// What a profile says of itself in its first record.
struct ProfileHeader {
  std::string tool_version;
  std::string started;                         // UTC
  std::map<std::string, std::string> details;  // "command", "pid", "library.onednn.version", ...
};

// Appends activities to a profile (schema bench.profile/1). Buffers lines and writes them when the
// buffer is full, on flush() and at the end. Thread-safe.
class ActivityFile final : public ActivitySink {
 public:
  // Error: there is no new file.
  static Result<std::unique_ptr<ActivityFile>> create(const std::string& path, Existing existing,
                                                      const ProfileHeader& header);
  ~ActivityFile() override;

  Status take(const Activity& activity) override;
  Status flush();
  // Removes the file, so that what ends somewhere does not pass for a whole profile. What is no
  // regular file stays. Nothing is taken after it.
  void remove();
  const std::string& path() const;

 private:
  struct State;
  explicit ActivityFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bench
