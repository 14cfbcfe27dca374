// SPDX-License-Identifier: Apache-2.0
// Adds cases that a killed run measured but did not summarise. Private to this folder.
#pragma once

#include "harness/result/report.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>

namespace bench {

// Adds a case (outcome ok, flag interrupted) for each id with samples but no case record. Does the
// same if no case record is ok and samples follow the last one. Uses the processes of the last run
// with that id and of the runs that it resumes. For each process number, the last record counts.
// `last_case_record`: id -> number of process records before its last case record.
void add_interrupted_cases(Report& report,
                           const std::unordered_map<std::string, std::size_t>& last_case_record);

}  // namespace bench
