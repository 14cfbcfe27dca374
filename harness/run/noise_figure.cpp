// SPDX-License-Identifier: Apache-2.0
#include "harness/run/noise_figure.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "harness/host/placement.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/stats/fast_quarter.hpp"
#include "harness/stats/median.hpp"
#include "harness/wire/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ostream>

namespace bench {
namespace {

// Time limit of a round, which usually takes 60 ms. A machine that swaps still succeeds.
constexpr Nanoseconds kNoiseRoundLimit = std::chrono::seconds(10);

// If the figure is at most kLowNoise, a comparison can call two equal runs `same`, which excludes a
// change of 3 %. Above kHighNoise, a comparison misses relevant changes.
constexpr double kLowNoise = 0.03;
constexpr double kHighNoise = 0.10;

constexpr double kLowerQuartile = 0.25;
constexpr double kPercent = 100;

struct NoiseWorkload {
  std::string_view name;
  Nanoseconds Canaries::*time;
};
// The canaries except reads of the clock, because cases do not consist of such reads.
constexpr std::array<NoiseWorkload, 3> kNoiseWorkloads = {
    {{"arithmetic", &Canaries::fma}, {"L2 cache", &Canaries::l2}, {"memory", &Canaries::dram}}};

// Returns the logarithm of each process's lower quartile.
std::vector<double> compute_log_times(std::span<const CanaryRounds> processes,
                                      Nanoseconds Canaries::*time) {
  std::vector<double> log_times;
  for (const CanaryRounds& rounds : processes) {
    std::vector<double> times;
    for (const Canaries& round : rounds) {
      times.push_back(static_cast<double>((round.*time).count()));
    }
    const auto quartile = quantile(times, kLowerQuartile);
    if (quartile && *quartile > 0) log_times.push_back(std::log(*quartile));
  }
  return log_times;
}

}  // namespace

double NoiseFigure::max_fraction() const {
  return std::ranges::max(workloads, {}, &Workload::fraction).fraction;
}

std::optional<NoiseFigure> noise_figure(std::span<const CanaryRounds> processes) {
  NoiseFigure figure;
  for (const NoiseWorkload& workload : kNoiseWorkloads) {
    const std::vector<double> log_times = compute_log_times(processes, workload.time);
    const auto quarter = fast_quarter(log_times);
    if (!quarter) return std::nullopt;
    figure.processes = log_times.size();
    figure.workloads.push_back({workload.name, std::expm1(minimum_detectable_effect(*quarter))});
  }
  return figure;
}

Finding noise_finding(const NoiseFigure& figure) {
  std::string list;
  for (const NoiseFigure::Workload& workload : figure.workloads) {
    list += fmt::format("{}{} {:.1f} %", list.empty() ? "" : ", ", workload.name,
                        kPercent * workload.fraction);
  }
  Finding finding;
  finding.subject = "noise";
  finding.found =
      fmt::format("differences below about {:.0f} % will not be seen here with {} processes ({})",
                  std::ceil(kPercent * figure.max_fraction()), figure.processes, list);
  finding.level = figure.max_fraction() <= kLowNoise    ? Finding::Level::good
                  : figure.max_fraction() <= kHighNoise ? Finding::Level::note
                                                        : Finding::Level::problem;
  if (finding.level == Finding::Level::good) return finding;
  finding.consequence = "`bench compare` calls smaller changes between two runs `unclear`";
  finding.remedy =
      "stop what else runs here, see top; `bench gate --base FOLDER` measures both sides in turn "
      "and sees smaller changes";
  return finding;
}

Finding no_noise_finding(Nanoseconds limit) {
  return {
      Finding::Level::note, "noise",
      fmt::format("n/a: {} do not suffice for {} processes", format_time(limit), kMinFastProcesses),
      "it is unknown which differences can be seen here", "allow more time: --watch 10s"};
}

Result<std::vector<CanaryRounds>> measure_noise(const std::string& worker_program,
                                                Nanoseconds limit, Env& env) {
  const WorkerProgram program{worker_program, {}, allowed_cores(), {}, {}};
  WorkerSession session(
      [&](std::optional<int> threads) {
        return start_process_link(program, threads, *env.clock,
                                  [&env](const std::string& text) { print_lines(*env.err, text); });
      },
      {kProtocolVersion, Bytes{0}, std::nullopt}, nullptr, *env.clock);
  std::vector<CanaryRounds> processes;
  const Nanoseconds start = env.clock->now();
  while (processes.size() < kNoiseProcesses && env.clock->now() - start < limit) {
    BENCH_RETURN_IF_ERROR(session.ensure(1));
    CanaryRounds& rounds = processes.emplace_back();
    while (rounds.size() < kNoiseRounds && env.clock->now() - start < limit) {
      const auto reply = session.ask<CanariesReply>(CanaryRequest{}, kNoiseRoundLimit);
      if (!reply) return Error{reply.error().reason, "", ""};
      rounds.push_back(reply->time);
    }
    session.finish();
  }
  return processes;
}

}  // namespace bench
