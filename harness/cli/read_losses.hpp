// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/arguments.hpp"
#include "profiler/reader.hpp"

#include <iosfwd>
#include <string_view>

namespace bench {

// Says what of a profile was not read, and why: never dropped in silence.
void report_losses(std::string_view command, const ReadReport& report, Verbosity verbosity,
                   std::ostream& err);

}  // namespace bench
