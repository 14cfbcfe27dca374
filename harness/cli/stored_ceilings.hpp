// SPDX-License-Identifier: Apache-2.0
// Looks up the ceilings that `bench peak` has stored. The output of `explain` and `analyze` is
// useful without ceilings. Therefore a store that cannot be read is not an error; it counts as
// empty.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/ceilings.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/text_source.hpp"

#include <optional>
#include <string>

namespace bench {

struct FoundCeilings {
  Ceilings ceilings;
  std::string store;  // the store that contains them
};

// Returns the ceilings of this machine's CPU in a store or, if it has none, in the default store.
FoundCeilings find_cpu_ceilings(const std::string& store);

// Returns the ceilings of the case's device on this machine in a store or, if it has none, in the
// default store.
Ceilings find_case_ceilings(const Case& spec, const std::string& store, Env& env);

// Checks --baseline ahead of work, so that a wrong name is reported before it.
Status check_named_store(const Arguments& arguments);

// Returns the ceilings that `stated` states. Else returns those that the case records of a result
// file state. If there are none, returns those of the CPU and of the GPU in `store` or the default
// store for the machine class that the file names. If the file names no class, returns those of
// this machine, and if it names no GPU, those of the only GPU that the store has. `source` is the
// result of open_text(path); this function consumes nothing of it. The note states where the
// ceilings come from, or which command measures them.
CeilingKnowledge find_row_ceilings(const std::string& path, TextSource& source,
                                   const std::string& store, const AnalysisOptions& stated);

}  // namespace bench
