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
  // What its memory moves by its clock and the width of its bus.
  std::optional<BytesPerSecond> memory_by_clock;
  // "gemm_f64: the reason": the ceilings that it cannot have.
  std::vector<std::string> left_out;
};

// The most that the machine computes in f32 and reads from memory, as one sentence, and another one
// for its GPU. Without these ceilings it says which are missing.
std::string peak_sentence(const std::vector<PeakRecord>& records);
// One row per ceiling, a column for one thread and one for all, and one for the GPU if it has any.
std::string peak_table(const std::vector<PeakRecord>& records, const ConsoleOptions& console);
// Lines below the table: how much of its bandwidth by the clock the GPU's memory reached, and which
// ceilings were left out. Empty without a GPU.
std::string gpu_peak_notes(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts,
                           const ConsoleOptions& console);
// {"peaks": [...], "left_out": [...]}: the records as they are stored.
std::string peak_json(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts = {});

}  // namespace bench
