// SPDX-License-Identifier: Apache-2.0
// A profile on disk, written as a stream. Only complete lines are written, so a killed process
// leaves a valid file up to its last flush.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace bench {

// Contents of a profile's first record.
struct ProfileHeader {
  std::string tool_version;
  std::string started;                         // UTC
  std::map<std::string, std::string> details;  // "command", "pid", "library.onednn.version", ...
};

// Appends activities to a profile (schema bench.profile/1). It buffers lines and writes them when
// the buffer is full, on flush() and on destruction. Thread-safe.
class ActivityFile final : public ActivitySink {
 public:
  // Returns an error if the file cannot be created.
  static Result<std::unique_ptr<ActivityFile>> create(const std::string& path, Existing existing,
                                                      const ProfileHeader& header);
  ~ActivityFile() override;

  Status consume(const Activity& activity) override;
  Status flush();
  // Appends the last record, which states the number of activities and, as details, what is known
  // only at the end, and writes everything. Do not call consume() afterwards. A profile without it
  // was not finished (kEndFact).
  Status finish(const std::map<std::string, std::string>& details);
  // Removes the file, so that an incomplete profile is not mistaken for a complete one. A file that
  // is not a regular file is kept. Do not call consume() afterwards.
  void remove();
  const std::string& path() const;

 private:
  struct State;
  explicit ActivityFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bench
