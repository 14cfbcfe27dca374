// SPDX-License-Identifier: Apache-2.0
// The ceilings of one machine class as a file of the store: FOLDER/MACHINE_CLASS/peak.jsonl, one
// line per ceiling and run of `bench peak` (schema bench.peak/1). docs/peak.schema.json.
#pragma once

#include "base/result.hpp"
#include "harness/result/ceilings.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kPeakSchema = "bench.peak/1";
inline constexpr std::string_view kPeakFile = "peak.jsonl";
// The file keeps this many values of each ceiling. More would keep a state of the machine that is
// gone.
inline constexpr std::size_t kPeakValues = 5;

struct PeakRecord {
  std::string run_id;
  std::string time;  // start of the run, UTC
  std::string machine_class;
  std::string cpu;  // model name
  std::string gpu;  // name of the GPU that has this ceiling; empty: it is the CPU's
  std::string tool_version, commit;
  std::string id;              // the case that measured it
  std::string implementation;  // "read:avx512"
  Ceiling ceiling;             // the median over the processes
  // Quartiles over all iterations, in the unit of the ceiling.
  CeilingValue low, high;
  friend bool operator==(const PeakRecord&, const PeakRecord&) = default;
};

// Returns one line without a newline.
std::string to_json_line(const PeakRecord& record);
Result<PeakRecord> peak_from_json_line(std::string_view line);

struct PeakHistory {
  std::string path;
  std::vector<PeakRecord> records;    // in the order of the file
  std::vector<std::string> problems;  // "path:3: ...": lines that were not read
};
PeakHistory parse_peaks(std::string_view text, const std::string& path);

// The last kPeakValues records of each ceiling, in their order.
std::vector<PeakRecord> last_values(std::vector<PeakRecord> records);

// The ceilings of a machine's CPU: of each, the highest of its last values (the shortest time),
// since a ceiling is what the machine was seen to reach. `caches` as in Ceilings.
Ceilings stored_ceilings(const std::vector<PeakRecord>& records, int threads,
                         std::map<std::string, Bytes, std::less<>> caches);
// The same of its GPU. `gpu` has everything but the rows; other GPUs' records do not count.
Ceilings stored_gpu_ceilings(const std::vector<PeakRecord>& records, Ceilings gpu);

}  // namespace bench
