// SPDX-License-Identifier: Apache-2.0
// From what programs left behind below `bench profile` to its one profile.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "harness/cli/profile_messages.hpp"
#include "profiler/activity_file.hpp"

#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view kSpoolSuffix = ".spool";  // behind the name of the profile

struct CaptureFiles {
  std::string profile;  // what the user gets
  // While the program runs, and after a kill: absolute, beside the profile unless that is a device.
  std::string spool;
};

// The spool, or a file of GPUs beside it, if there is one.
std::optional<std::string> left_over_spool(const CaptureFiles& files);
// Removes the spool and what lies beside it of GPUs; only regular files.
void remove_spools(const CaptureFiles& files);

// Writes the profile and removes what it was made of. `header` needs no facts of what was recorded.
// Error: there is no profile, and all that it would be made of is left where it is.
Result<CaptureOutcome> merge_capture(const CaptureFiles& files, Existing existing,
                                     ProfileHeader header, const CaptureQuestion& question);

}  // namespace bench
