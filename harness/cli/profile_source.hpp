// SPDX-License-Identifier: Apache-2.0
// Opens profiles of programs so that their readers can compute the work of a framework's operators.
#pragma once

#include "base/result.hpp"
#include "profiler/profile_set.hpp"
#include "profiler/text_source.hpp"

#include <memory>
#include <span>
#include <string>

namespace bench {

// Returns what TextSource::work_factory() needs: this program's model of the operators.
TextSource::WorkFactory operator_work();
// Opens a file as open_profile() does.
Result<std::unique_ptr<TextSource>> open_profile_with_work(const std::string& path);
// Opens files as ProfileSet::open() does. Returns an error if one file should be aligned by starts.
Result<ProfileSet> open_profiles(std::span<const std::string> paths, Alignment alignment);

}  // namespace bench
