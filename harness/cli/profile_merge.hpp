// SPDX-License-Identifier: Apache-2.0
// Merges the records of programs that ran under `bench profile` into one profile.
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
  // Absolute path of the file that receives the records while the program runs. It remains if the
  // program is killed. It is in the folder of the profile, unless the profile is a device.
  std::string spool;
};

// Returns the spool or a file of GPU records next to it; nullopt if there is no such file.
std::optional<std::string> find_leftover_spool(const CaptureFiles& files);
// Removes the spool and the GPU records next to it. Removes only regular files.
void remove_spools(const CaptureFiles& files);

// Writes the profile and removes its sources. The profile's header is `header` with facts about the
// recording. On an error there is no profile, and all sources remain.
Result<CaptureOutcome> merge_capture(const CaptureFiles& files, Existing existing,
                                     ProfileHeader header, const CaptureSettings& settings);

}  // namespace bench
