// SPDX-License-Identifier: Apache-2.0
// What the library that `bench profile` preloads left in its spool (spool_format.hpp), as
// activities.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/reader.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace bench {

struct SpoolReport {
  ReadReport read;
  std::int64_t processes = 0;        // programs that loaded the library
  std::set<std::string> onednn;      // files that held oneDNN in processes that ended themselves
  std::int64_t lines_of_onednn = 0;  // verbose lines of any kind
  std::int64_t executed = 0;         // primitives
  Nanoseconds executed_time{0};      // their sum
};

// Turns a frame "FILE+0xADDRESS" of a backtrace into text for people. A spool from elsewhere must
// not make us open the files that it names: empty leaves frames as they are.
using FrameName = std::function<std::string(std::string_view frame)>;

// Activities in the order in which they ended. Error: the sink's, or the source cannot be read.
Result<SpoolReport> read_spool(TextSource& source, ActivitySink& sink, const FrameName& frame_name);

}  // namespace bench
