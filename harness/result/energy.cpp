// SPDX-License-Identifier: Apache-2.0
#include "harness/result/energy.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <numeric>

namespace bench {
namespace {

constexpr double kMicro = 1e-6;

double to_joules(const ProcessEnergy& energy) {
  return kMicro * static_cast<double>(energy.microjoules);
}

}  // namespace

void add_energy(std::optional<ProcessEnergy>& sum, const ProcessEnergy& round) {
  if (!sum) {
    sum = round;
    return;
  }
  sum->microjoules += round.microjoules;
  sum->time += round.time;
}

std::optional<std::string> energy_unavailable_reason(const ProcessEnergy& energy) {
  if (energy.time < kMinEnergyTime) {
    return fmt::format(
        "a process ran for {}, and the energy counter needs {}: raise measure.min_iterations",
        format_time(energy.time), format_time(kMinEnergyTime));
  }
  if (energy.microjoules <= 0) return "the energy counter did not change";
  return std::nullopt;
}

std::optional<Energy> compute_energy(std::span<const ProcessRecord* const> processes,
                                     std::optional<std::int64_t> flops) {
  Energy energy;
  double joules = 0, iterations = 0;
  for (const ProcessRecord* process : processes) {
    if (!process->energy || energy_unavailable_reason(*process->energy) || process->samples.empty())
      continue;
    if (energy.source.empty()) energy.source = process->energy->source;
    if (process->energy->source != energy.source) continue;
    const Nanoseconds sampled =
        std::accumulate(process->samples.begin(), process->samples.end(), Nanoseconds(0));
    joules += to_joules(*process->energy) * static_cast<double>(sampled.count()) /
              static_cast<double>(process->energy->time.count());
    iterations += static_cast<double>(process->samples.size()) *
                  static_cast<double>(process->iterations_per_sample);
  }
  if (joules <= 0 || iterations <= 0) return std::nullopt;
  energy.joules_per_iteration = joules / iterations;
  if (flops && *flops > 0) {
    energy.flops_per_joule = static_cast<double>(*flops) / energy.joules_per_iteration;
  }
  return energy;
}

void fill_energy(CaseRecord& record, std::span<const ProcessRecord* const> processes) {
  record.energy =
      compute_energy(processes, record.work ? std::optional(record.work->flops) : std::nullopt);
  if (record.energy) record.details.erase(kEnergyDetail);
}

}  // namespace bench
