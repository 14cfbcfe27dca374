// SPDX-License-Identifier: Apache-2.0
// The ceilings of a machine as text and JSON.
#pragma once

#include "harness/report/console.hpp"
#include "harness/store/peak_file.hpp"

#include <string>
#include <vector>

namespace bench {

// The most that the machine computes in f32 and reads from memory, as one sentence. Without these
// ceilings it says which are missing.
std::string peak_sentence(const std::vector<PeakRecord>& records);
// One row per ceiling, a column for one thread and one for all.
std::string peak_table(const std::vector<PeakRecord>& records, const ConsoleOptions& console);
// {"peaks": [...]}: the records as they are stored.
std::string peak_json(const std::vector<PeakRecord>& records);

}  // namespace bench
