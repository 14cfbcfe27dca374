// SPDX-License-Identifier: Apache-2.0
// Finds out which cases of a plan can run on this machine, without measuring them.
#pragma once

#include "base/env.hpp"
#include "base/table.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/wire/cuda_support.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace bench {

// Text for a case that can run on this machine; also CudaSupport::runs for a supported case.
inline constexpr std::string_view kRunsHere = "yes";

// Why `run` would skip cases or report them as unsupported; key: case id.
using UnsupportedReasons = std::map<std::string, std::string>;

// What decides whether cases can run on this machine.
struct CaseAvailability {
  std::set<std::string> devices;               // names of this machine's devices
  std::map<std::string, std::string> missing;  // reasons; key: missing backend of a plugin
  CudaSupports cuda;                           // for cases on a GPU, if a worker could answer
  UnsupportedReasons unsupported;

  // Returns "yes" or "no: REASON".
  std::string format_runs_here(const CaseRecord& record) const;
};

// Asks a worker and the CPU's library. Prints an error of `command` to env.err if a worker cannot
// answer.
CaseAvailability find_availability(const Plan& plan, std::string_view command, Env& env);

// Returns what would run each operator on a GPU. Skips networks, whose layers can be listed as
// cases. If the worker fails, prints the error and returns an empty map.
CudaSupports query_gpu_support(const Plan& plan, std::string_view command, Env& env);

// Returns why `run` would skip cases or report them as unsupported. Prints an error of `command` if
// the loaded oneDNN lacks functions of this program, so that it cannot be asked.
UnsupportedReasons unsupported_reasons(const Plan& plan, std::string_view command, Env& env);

// Where a table shows why a case cannot run. In a file or a pipe, each case has only one line, so
// the row contains the reason.
enum class ReasonPlacement { in_row, below_row };

// Returns where the reasons belong in a table of this width.
ReasonPlacement reason_placement(std::size_t width);

// Appends the cell for `runs_here`, a text of CaseAvailability, to the row.
void add_runs_here(const std::string& runs_here, ReasonPlacement placement, TextRow& row);

}  // namespace bench
