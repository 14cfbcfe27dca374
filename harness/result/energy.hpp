// SPDX-License-Identifier: Apache-2.0
// Computes the energy of a case from the machine's energy counters, which its processes read.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>

namespace bench {

// Name of the detail that states why a case has no energy: "n/a: REASON".
inline constexpr const char* kEnergyDetail = "energy";
// Minimum duration of a process's readings together. Counters are updated about once per
// millisecond (RAPL) or more slowly (NVML). Over this time, one update more or less changes the
// energy of a CPU by at most 2 %.
inline constexpr Nanoseconds kMinEnergyTime = std::chrono::milliseconds(50);

// Adds the reading of a further round of the same process.
void add_energy(std::optional<ProcessEnergy>& sum, const ProcessEnergy& round);

// Returns why a process's readings are not valid, or nullopt if they are.
std::optional<std::string> energy_unavailable_reason(const ProcessEnergy& energy);

// Returns the mean energy of one iteration over all samples of the processes that have valid
// readings of the same counters. The energy of a process is its mean power times the time of its
// samples. This excludes the time between samples, in which canaries run. `flops`: operations of
// one iteration. Returns nullopt if no process has valid readings.
std::optional<Energy> compute_energy(std::span<const ProcessRecord* const> processes,
                                     std::optional<std::int64_t> flops);

// Sets the record's energy. If it has one, removes the detail in which a process without valid
// readings stated the reason.
void fill_energy(CaseRecord& record, std::span<const ProcessRecord* const> processes);

}  // namespace bench
