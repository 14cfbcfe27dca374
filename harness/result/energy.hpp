// SPDX-License-Identifier: Apache-2.0
// The energy of a case: from what its processes read of the machine's energy counters.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>

namespace bench {

// The detail of a case that says why it has no energy: "n/a: REASON".
inline constexpr const char* kEnergyDetail = "energy";
// Energy counters are updated about once per millisecond (RAPL) or slower (NVML), so short readings
// are valid only as a sum. Over this time, an update more or less is at most 2 % on a CPU.
inline constexpr Nanoseconds kMinEnergyTime = std::chrono::milliseconds(50);

// Adds the reading of a further round of the same process.
void add_energy(std::optional<ProcessEnergy>& to, const ProcessEnergy& round);

// Returns why a process's readings are not valid, or nullopt if they are.
std::optional<std::string> energy_obstacle(const ProcessEnergy& energy);

// Returns the energy of one iteration, over all samples of the processes that have valid readings
// of the same counters. Their mean power applies to the time of their samples: the time between
// samples, in which canaries run, counts with neither its energy nor its time. `flops`: of one
// iteration. nullopt if no process has valid readings.
std::optional<Energy> compute_energy(std::span<const ProcessRecord* const> processes,
                                     std::optional<std::int64_t> flops);

// Sets the record's energy; if it has one, removes the detail with the reason of a single process.
void fill_energy(CaseRecord& record, std::span<const ProcessRecord* const> processes);

}  // namespace bench
