// SPDX-License-Identifier: Apache-2.0
// Merges what programs recorded under `bench profile` into one profile.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "harness/cli/profile_messages.hpp"
#include "profiler/activity_file.hpp"

#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view kSpoolSuffix = ".spool";  // appended to the name of the profile

struct CaptureFiles {
  std::string profile;  // the user's file
  // Exists while the program runs, and after a kill. An absolute path, in the folder of the profile
  // unless that is a device.
  std::string spool;
};

// Returns the spool, or a file of GPU records next to it, if one exists.
std::optional<std::string> left_over_spool(const CaptureFiles& files);
// Removes the spool and the GPU records next to it; only regular files.
void remove_spools(const CaptureFiles& files);

// Writes the profile and removes its sources. `header` needs no facts about the recording. On an
// error there is no profile, and all sources remain.
Result<CaptureOutcome> merge_capture(const CaptureFiles& files, Existing existing,
                                     ProfileHeader header, const CaptureQuestion& question);

}  // namespace bench
