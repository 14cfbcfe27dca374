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

// A round takes about 60 ms; a machine that swaps still succeeds.
constexpr Nanoseconds kNoiseRoundLimit = std::chrono::seconds(10);

// Up to the first, a comparison can call two equal runs `same`, which excludes a change of 3 %.
// Above the second, changes that matter go unseen.
constexpr double kLowNoise = 0.03;
constexpr double kHighNoise = 0.10;

constexpr double kLowerQuartile = 0.25;
constexpr double kPercent = 100;

struct NoiseWorkload {
  std::string_view name;
  Nanoseconds Canaries::*time;
};
// The reads of the clock are left out, because no case consists of them.
constexpr std::array<NoiseWorkload, 3> kNoiseWorkloads = {
    {{"arithmetic", &Canaries::fma}, {"L2 cache", &Canaries::l2}, {"memory", &Canaries::dram}}};

// Returns the logarithm of each process's lower quartile.
std::vector<double> process_levels(std::span<const CanaryRounds> processes,
                                   Nanoseconds Canaries::*time) {
  std::vector<double> levels;
  for (const CanaryRounds& rounds : processes) {
    std::vector<double> times;
    for (const Canaries& round : rounds) {
      times.push_back(static_cast<double>((round.*time).count()));
    }
    const auto level = quantile(times, kLowerQuartile);
    if (level && *level > 0) levels.push_back(std::log(*level));
  }
  return levels;
}

}  // namespace

double NoiseFigure::share() const { return std::ranges::max(parts, {}, &Part::share).share; }

std::optional<NoiseFigure> noise_figure(std::span<const CanaryRounds> processes) {
  NoiseFigure figure;
  for (const NoiseWorkload& workload : kNoiseWorkloads) {
    const std::vector<double> levels = process_levels(processes, workload.time);
    const auto quarter = fast_quarter(levels);
    if (!quarter) return std::nullopt;
    figure.processes = levels.size();
    figure.parts.push_back({workload.name, std::expm1(minimum_detectable_effect(*quarter))});
  }
  return figure;
}

Finding noise_finding(const NoiseFigure& figure) {
  std::string parts;
  for (const NoiseFigure::Part& part : figure.parts) {
    parts += fmt::format("{}{} {:.1f} %", parts.empty() ? "" : ", ", part.workload,
                         kPercent * part.share);
  }
  Finding finding;
  finding.subject = "noise";
  finding.found =
      fmt::format("differences below about {:.0f} % will not be seen here with {} processes ({})",
                  std::ceil(kPercent * figure.share()), figure.processes, parts);
  finding.level = figure.share() <= kLowNoise    ? Finding::Level::good
                  : figure.share() <= kHighNoise ? Finding::Level::note
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
