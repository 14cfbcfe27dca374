// SPDX-License-Identifier: Apache-2.0
// Looks up the ceilings that `bench peak` has stored. An explanation and a table of a profile are
// complete without ceilings, so a store that cannot be read has none and is not an error.
#pragma once

#include "base/env.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/ceilings.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/reader.hpp"

#include <string>

namespace bench {

// The ceilings of this machine's CPU in a store.
Ceilings ceilings_here(const std::string& store);

// The ceilings of the case's device on this machine, in the default store.
Ceilings ceilings_for(const Case& spec, Env& env);

// Looks for ceilings in this order: those that the case records of a result file state; those in
// `store` for the machine class that the file names; if it names none, those of this machine.
// `path` as for open_text(), whose result is `source`; nothing of it is consumed. The note says
// where they come from, or that there are none and which command measures them.
CeilingKnowledge find_row_ceilings(const std::string& path, TextSource& source,
                                   const std::string& store);

}  // namespace bench
