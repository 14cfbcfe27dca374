// SPDX-License-Identifier: Apache-2.0
// The file of the store with the ceilings of one machine class: FOLDER/MACHINE_CLASS/peak.jsonl. It
// has one line per ceiling and run of `bench peak` (schema bench.peak/1, docs/peak.schema.json).
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
// Maximum number of values of each ceiling that the file keeps, the latest ones. Older values may
// describe a former state of the machine.
inline constexpr std::size_t kMaxPeakValues = 5;

// One ceiling as one run of `bench peak` measured it.
struct PeakRecord {
  std::string run_id;
  std::string time;  // start of the run, UTC
  std::string machine_class;
  std::string cpu;  // model name
  std::string gpu;  // name of the GPU that has this ceiling; empty for a ceiling of the CPU
  std::string tool_version, commit;
  std::string id;              // the case that measured it
  std::string implementation;  // "read:avx512"
  Ceiling ceiling;             // its value is the median over the processes
  // Quartiles over all iterations, in the unit of the ceiling
  CeilingValue low, high;
  // The other measurements of `bench` that ran on the machine at the same time.
  std::vector<std::string> beside = {};
  friend bool operator==(const PeakRecord&, const PeakRecord&) = default;
};

// Returns one line without a newline.
std::string to_json_line(const PeakRecord& record);
// Parses such a line; skips unknown fields. Returns an error for a ceiling that no machine has
// (find_ceiling_violation()).
Result<PeakRecord> peak_from_json_line(std::string_view line);

struct PeakHistory {
  std::string path;
  std::vector<PeakRecord> records;    // in the order of the file
  std::vector<std::string> problems;  // bad lines and why: "path:3: ceiling refused: ..."
};
// Parses the text of the file; `path` is for messages. `folder_name` is the name of its folder, so
// that a ceiling of another machine class is a bad line (store_name()).
PeakHistory parse_peaks(std::string_view text, const std::string& path,
                        std::string_view folder_name);

// Returns the last kMaxPeakValues records of each ceiling, in their order.
std::vector<PeakRecord> select_last_values(std::vector<PeakRecord> records);

// Returns the ceilings of a machine's CPU. The value of a ceiling is the highest of its last values
// (for a time, the shortest), because a ceiling is the most that the machine has reached. `caches`
// is as in Ceilings.
Ceilings stored_ceilings(const std::vector<PeakRecord>& records, int threads,
                         std::map<std::string, Bytes, std::less<>> caches);
// Returns `gpu`, the ceilings of a GPU, with rows from the records of this GPU. Without a name in
// `gpu`, returns it unchanged.
Ceilings stored_gpu_ceilings(const std::vector<PeakRecord>& records, Ceilings gpu);

}  // namespace bench
