// SPDX-License-Identifier: Apache-2.0
#include "harness/run/quiet_watch.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "harness/host/placement.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/stats/summary.hpp"
#include "harness/wire/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace bench {
namespace {

// Fractions of quiet observations. From kMostlyQuiet on, runs wait little for quiet samples. Below
// kHardlyQuiet, they mostly wait in vain.
constexpr double kMostlyQuiet = 0.8;
constexpr double kHardlyQuiet = 0.2;
// Time in addition to the watch until the worker must have replied.
constexpr Nanoseconds kReplyLimit = std::chrono::seconds(20);

double compute_fraction(std::int64_t count, const QuietWatch& watch) {
  return watch.observations == 0
             ? 0
             : static_cast<double>(count) / static_cast<double>(watch.observations);
}

}  // namespace

QuietWatch judge_watch(const WatchedReply& watched, QuietLevels levels) {
  levels.learn(watched.threads, watched.canaries);
  QuietWatch watch;
  const std::optional<Nanoseconds> level = levels.level(watched.threads);
  const std::optional<Nanoseconds> chain = quantile(watched.chains, kQuietQuantile);
  if (!level || !chain) return watch;
  const std::size_t observations =
      std::min({watched.canaries.size(), watched.chains.size(), watched.lost.size()});
  watch.observations = static_cast<std::int64_t>(observations);
  for (std::size_t i = 0; i < observations; ++i) {
    const bool is_slow = static_cast<double>(watched.chains[i].count()) >
                         (1 + kClockTolerance) * static_cast<double>(chain->count());
    if (watched.lost[i] > kMaxInterruptTime) {
      ++watch.interrupted;
    } else if (is_quiet(watched.canaries[i], *level)) {
      ++watch.quiet;
    } else {
      ++(is_slow ? watch.slow_clock : watch.neighbour);
    }
  }
  return watch;
}

Finding quiet_finding(const QuietWatch& watch, Nanoseconds time) {
  const double quiet = compute_fraction(watch.quiet, watch);
  Finding finding;
  finding.subject = "quiet time";
  finding.found = fmt::format("{:.0f} % of {}", 100 * quiet, format_time(time));
  std::string causes;
  const auto add_cause = [&](std::int64_t count, std::string_view cause) {
    if (count == 0) return;
    causes += fmt::format("{}{} {:.0f} %", causes.empty() ? "; " : ", ", cause,
                          100 * compute_fraction(count, watch));
  };
  add_cause(watch.neighbour, "a neighbour on the core");
  add_cause(watch.slow_clock, "a lower clock");
  add_cause(watch.interrupted, "a processor taken away");
  finding.found += causes;
  if (quiet >= kMostlyQuiet) {
    finding.level = Finding::Level::good;
    return finding;
  }
  finding.level = quiet >= kHardlyQuiet ? Finding::Level::note : Finding::Level::problem;
  finding.consequence =
      "only samples between quiet canaries count: a run waits for them, up to twice its time";
  finding.remedy =
      watch.interrupted > watch.neighbour
          ? "stop what else runs here: see top; ask the host's owner for processors of "
            "your own"
          : "ask the host's owner for whole cores, or switch SMT off";
  return finding;
}

Result<WatchedReply> watch_machine(const std::string& worker_program, Nanoseconds time, Env& env) {
  const WorkerProgram program{worker_program, {}, allowed_cores(), {}, {}};
  WorkerSession session(
      [&](std::optional<int> threads) {
        return start_process_link(program, threads, *env.clock,
                                  [&env](const std::string& text) { print_lines(*env.err, text); });
      },
      {kProtocolVersion, Bytes{0}, std::nullopt}, nullptr, *env.clock);
  BENCH_RETURN_IF_ERROR(session.ensure(std::nullopt));
  auto reply = session.ask<WatchedReply>(WatchRequest{time}, time + kReplyLimit);
  session.finish();
  if (!reply) return Error{reply.error().reason, "", ""};
  return std::move(*reply);
}

}  // namespace bench
