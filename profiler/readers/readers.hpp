// SPDX-License-Identifier: Apache-2.0
// The rows of the table of readers, each defined in its own source file, and what those of
// result files and profiles share: both are JSON lines with `activity` records.
#pragma once

#include "base/json_reader.hpp"
#include "profiler/reader.hpp"

#include <map>
#include <string>
#include <string_view>

namespace bench {

extern const ActivityReader result_reader;         // bench.result/1
extern const ActivityReader profile_reader;        // bench.profile/1
extern const ActivityReader onednn_reader;         // verbose output of oneDNN
extern const ActivityReader capture_reader;        // the spool that a killed `bench profile` left
extern const ActivityReader pyprof_reader;         // PyProf's table
extern const ActivityReader pyprof_dict_reader;    // the kernels that PyProf's parse prints
extern const ActivityReader nvprof_reader;         // nvprof's trace of the GPU
extern const ActivityReader nsys_reader;           // Nsight Systems' trace of the GPU
extern const ActivityReader gpu_records_reader;    // bench.gpu_records/1
extern const ActivityReader kineto_reader;         // torch.profiler's Chrome trace
extern const ActivityReader benchmark_reader;      // reports of other benchmarks in JSON
extern const ActivityReader nvprof_sqlite_reader;  // SQLite file of nvprof
extern const ActivityReader nsys_sqlite_reader;    // SQLite export of Nsight Systems

// Stores numbers and texts of nested objects under their joined names: "cpu.cores". Ignores levels
// deeper than any header.
void flatten_facts(JsonValue value, const std::string& name,
                   std::map<std::string, std::string>& facts);

// Returns whether the head contains a schema "FAMILY/..." such as "bench.result" or
// "bench.profile".
bool names_schema(std::string_view head, std::string_view family);

// Returns the name of the first GPU that the head of a trace of Kineto states; empty if it states
// none, or is of another format.
std::string find_kineto_gpu(std::string_view head);

// Forwards every activity to `sink`. Takes facts from other records. Counts and notes incomplete,
// binary and foreign lines. Returns an error if the schema version is not supported or the sink
// fails.
Result<ReadReport> read_json_lines(std::string_view format, TextSource& source, ActivitySink& sink);

}  // namespace bench
