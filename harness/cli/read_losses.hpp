// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/arguments.hpp"
#include "profiler/reader.hpp"

#include <iosfwd>
#include <string_view>

namespace bench {

// Reports which parts of a profile were not read, and why; nothing is dropped silently.
void report_losses(std::string_view command, const ReadReport& report, Verbosity verbosity,
                   std::ostream& err);

}  // namespace bench
