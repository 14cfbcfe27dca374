// SPDX-License-Identifier: Apache-2.0
// The ceilings for the rows of `analyze`.
#pragma once

#include "profiler/analysis/query.hpp"
#include "profiler/reader.hpp"

#include <string>

namespace bench {

// Looks for ceilings in this order: those that the case records of a result file state; those in
// `store` for the machine class that the file names; if it names none, those of this machine.
// `path` as for open_text(), whose result is `source`; nothing of it is consumed. The note says
// where they come from, or that there are none and which command measures them.
CeilingKnowledge find_row_ceilings(const std::string& path, TextSource& source,
                                   const std::string& store);

}  // namespace bench
