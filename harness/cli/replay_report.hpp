// SPDX-License-Identifier: Apache-2.0
// `bench report --replay RESULT PROFILE`: a program beside the suite that was imported from it.
#pragma once

#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/import/imported.hpp"
#include "harness/report/replay.hpp"
#include "harness/result/report.hpp"

namespace bench {

// Finds the cases of the program in the result, whatever their backend, caches and threads. Of
// several that compute the same, the first one with a time counts.
Replay match_replay(const Report& result, const Imported& program);

// Reads RESULT and PROFILE, the operands, and returns the comparison. Error: one of them cannot be
// read or has no cases, or the number of operands is another one.
Result<Replay> read_replay(const Arguments& arguments);

}  // namespace bench
