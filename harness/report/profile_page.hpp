// SPDX-License-Identifier: Apache-2.0
// The page of a profile of a program: how much of its time the profile shows, and where it went.
#pragma once

#include "profiler/analysis/summary.hpp"

#include <string>

namespace bench {

struct ProfileView {
  const Summary& summary;
  std::string name = {};  // name of the file, only for display
  // HTML document that the page embeds; empty if it would be too large.
  std::string timeline = {};
};

std::string profile_page(const ProfileView& view);

}  // namespace bench
