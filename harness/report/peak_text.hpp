// SPDX-License-Identifier: Apache-2.0
// The ceilings of a machine as text and JSON.
#pragma once

#include "harness/report/console.hpp"
#include "harness/store/peak_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// What is known about a GPU besides its measured ceilings.
struct GpuPeakFacts {
  std::string gpu;
  // Theoretical bandwidth of the GPU's memory: memory clock times bus width.
  std::optional<BytesPerSecond> theoretical_bandwidth;
  // Ceilings that the GPU does not have, each with the reason: "gemm_f64: ...".
  std::vector<std::string> left_out;
};

// Returns a sentence about a ceiling of all threads that was measured below that of one thread,
// whose value counts instead.
std::string raised_ceiling_note(const Ceiling& measured, const CeilingValue& one_thread);

// Returns a sentence with the CPU's highest rate of f32 arithmetic and highest memory bandwidth. If
// the records have a GPU, adds a sentence with the GPU's ceilings. Omits a ceiling that was not
// measured; if both of the CPU's are missing, the sentence says so.
std::string peak_sentence(const std::vector<PeakRecord>& records);
// Returns a table with a row per ceiling. The columns are one thread, all threads, and the GPU, as
// far as the records have them.
std::string peak_table(const std::vector<PeakRecord>& records, const ConsoleOptions& console);
// Returns the fraction of the theoretical bandwidth that the GPU's memory reached, as a sentence.
// Empty without a GPU.
std::string gpu_bandwidth_note(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts);
// Returns a list of the GPU's left-out ceilings for below the table. Empty if there are none.
std::string left_out_ceilings(const GpuPeakFacts& facts, const ConsoleOptions& console);
// Returns {"peaks": [...], "left_out": [...]}. `peaks` contains the records as the store has them.
std::string peak_json(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts = {});

}  // namespace bench
