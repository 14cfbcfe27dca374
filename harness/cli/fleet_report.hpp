// SPDX-License-Identifier: Apache-2.0
// `bench report NODE*.jsonl --by machine`: reads the results of many machines.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/judge/fleet.hpp"
#include "harness/report/fleet_text.hpp"
#include "harness/result/record.hpp"

#include <string>
#include <string_view>

namespace bench {

// Returns the format of this name, or an error if a fleet has no report in it.
Result<const FleetFormat*> choose_fleet_format(std::string_view name);

// Adds a result file to the fleet. A file may contain runs of several machines, one after the
// other. `patterns`: only cases whose id matches one of them; empty: all cases.
Status add_result_file(std::string_view text, const std::string& name,
                       const std::vector<std::string>& patterns, Fleet& fleet);

// Reads the operands one after the other and judges them. Prints the warnings. Returns an error if
// a file cannot be read, or if an option does not apply.
Result<FleetVerdict> read_fleet(const Arguments& arguments, Env& env);

// With --fail-on regression: regression if a machine is slow, not_measured if one lacks a case,
// undecided if one could not be judged. Otherwise success.
ExitStatus fleet_status(const FleetVerdict& verdict, const Arguments& arguments);

}  // namespace bench
