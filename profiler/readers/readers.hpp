// SPDX-License-Identifier: Apache-2.0
// The rows of the table of readers; each is defined in its own source file.
#pragma once

#include "profiler/reader.hpp"

namespace bench {

extern const ActivityReader result_reader;       // bench.result/1
extern const ActivityReader profile_reader;      // bench.profile/1
extern const ActivityReader onednn_reader;       // verbose output of oneDNN
extern const ActivityReader capture_reader;      // the spool that a killed `bench profile` left
extern const ActivityReader pyprof_reader;       // PyProf's table
extern const ActivityReader gpu_records_reader;  // bench.gpu_records/1

}  // namespace bench
