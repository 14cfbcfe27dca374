// SPDX-License-Identifier: Apache-2.0
#include "harness/run/speed_watch.hpp"

#include "base/text.hpp"
#include "harness/host/placement.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/stats/equal_speed.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace bench {
namespace {

// A state is a local peak among this many neighbouring classes on each side. It has the samples of
// its own class and of the next one on each side: +-3 %.
constexpr std::int64_t kPeakClasses = 2;
constexpr double kMinStateShare = 0.05;
// Rows of the histogram, and the fraction of samples that they show separately; a few samples
// during which the machine did something else are up to a thousand times slower.
constexpr std::int64_t kMaxBars = 11;
constexpr double kShownSamples = 0.98;
constexpr std::size_t kBarWidth = 50;

// The few samples that are faster than the others are noise of the measurement.
constexpr double kFastest = 0.05;
// A sample that loses more time was interrupted by more than the interrupts of its own system: the
// host ran something else on the processor.
constexpr Nanoseconds kMaxInterruptTime = std::chrono::microseconds(20);
// Slower canaries and chains than these fractions count as slow.
constexpr double kCanaryTolerance = 0.05;
constexpr double kClockTolerance = 0.03;

// With at most kGoodPrecision, runs show changes that matter. Above kPoorPrecision, they hide most.
constexpr double kGoodPrecision = 0.03;
constexpr double kPoorPrecision = 0.10;
// Fraction of undisturbed samples from which on the machine counts as steady.
constexpr double kMostlySteady = 0.8;
// Causes of fewer samples would be shown as 0 %.
constexpr double kMinShownShare = 0.005;
// Time in addition to the watch until a worker must have replied: it starts and fills memory.
constexpr Nanoseconds kReplyLimit = std::chrono::seconds(20);
constexpr double kPercent = 100;

bool exceeds(Nanoseconds time, Nanoseconds usual, double tolerance) {
  return static_cast<double>(time.count()) > (1 + tolerance) * static_cast<double>(usual.count());
}

// The samples of all processes, in their order.
struct SpeedSamples {
  std::vector<Nanoseconds> canaries, chains, lost;
};

SpeedSamples join_samples(std::span<const WatchedReply> processes) {
  SpeedSamples samples;
  for (const WatchedReply& process : processes) {
    const std::size_t count =
        std::min({process.canaries.size(), process.chains.size(), process.lost.size()});
    for (std::size_t i = 0; i < count; ++i) {
      if (process.canaries[i].count() <= 0) continue;
      samples.canaries.push_back(process.canaries[i]);
      samples.chains.push_back(process.chains[i]);
      samples.lost.push_back(process.lost[i]);
    }
  }
  return samples;
}

void count_causes(const SpeedSamples& samples, SpeedWatch& watch) {
  const Nanoseconds canary = *quantile(samples.canaries, kFastest);
  const Nanoseconds chain = *quantile(samples.chains, kFastest);
  const double part = 1 / static_cast<double>(watch.samples);
  for (std::size_t i = 0; i < samples.canaries.size(); ++i) {
    if (samples.lost[i] > kMaxInterruptTime) {
      watch.interrupted += part;
    } else if (exceeds(samples.canaries[i], canary, kCanaryTolerance)) {
      (exceeds(samples.chains[i], chain, kClockTolerance) ? watch.slow_clock : watch.neighbour) +=
          part;
    }
  }
}

// Number of samples by class of the canary.
using ClassCounts = std::map<std::int64_t, std::int64_t>;

// Returns the number of samples in this class and the next one on each side, and in the class
// itself.
std::pair<std::int64_t, std::int64_t> height(const ClassCounts& counts, std::int64_t place) {
  const auto at = [&](std::int64_t i) { return counts.contains(i) ? counts.at(i) : 0; };
  return {at(place - 1) + at(place) + at(place + 1), at(place)};
}
// Whether no neighbour is higher. If neighbours are equal, the fastest is the peak.
bool is_peak(const ClassCounts& counts, std::int64_t place) {
  const auto own = height(counts, place);
  for (std::int64_t i = 1; i <= kPeakClasses; ++i) {
    if (height(counts, place - i) >= own || height(counts, place + i) > own) return false;
  }
  return true;
}

// `recent`: number of samples of the last second.
std::vector<SpeedState> find_states(std::span<const Nanoseconds> canaries, std::size_t recent) {
  ClassCounts counts;
  for (const Nanoseconds canary : canaries) ++counts[speed_stratum(canary)];
  std::vector<SpeedState> states;
  std::int64_t most_recent = 0;
  SpeedState* present = nullptr;
  states.reserve(counts.size());
  for (const auto& [place, count] : counts) {
    const double share =
        static_cast<double>(height(counts, place).first) / static_cast<double>(canaries.size());
    if (share < kMinStateShare || !is_peak(counts, place)) continue;
    const auto is_own = [place = place](Nanoseconds canary) {
      return std::abs(speed_stratum(canary) - place) <= 1;
    };
    std::vector<Nanoseconds> own;
    std::ranges::copy_if(canaries, std::back_inserter(own), is_own);
    SpeedState& state = states.emplace_back(SpeedState{*median(own), share});
    const std::int64_t own_recent = std::ranges::count_if(canaries.last(recent), is_own);
    if (own_recent > most_recent) present = &state;
    most_recent = std::max(most_recent, own_recent);
  }
  if (present != nullptr) present->is_present = true;
  return states;
}

std::vector<SpeedBar> make_bars(std::span<const Nanoseconds> canaries) {
  const std::int64_t first = speed_stratum(std::ranges::min(canaries));
  const std::int64_t last = speed_stratum(*quantile(canaries, kShownSamples));
  const std::int64_t classes_per_bar = (last - first) / kMaxBars + 1;
  const std::int64_t bars = (last - first) / classes_per_bar + 1;
  std::vector<SpeedBar> result;
  for (std::int64_t i = 0; i < bars; ++i) {
    const double begin = stratum_begin(first + i * classes_per_bar);
    result.push_back({Nanoseconds(std::llround(std::ceil(std::exp(begin)))), 0});
  }
  for (const Nanoseconds canary : canaries) {
    const std::int64_t bar = std::min((speed_stratum(canary) - first) / classes_per_bar, bars - 1);
    result[static_cast<std::size_t>(bar)].share += 1 / static_cast<double>(canaries.size());
  }
  return result;
}

// Returns the precision for the times that `work` selects.
std::optional<double> expect_precision(std::span<const WatchedReply> processes,
                                       std::vector<Nanoseconds> WatchedReply::*work) {
  std::vector<SpeedProcess> views;
  for (const WatchedReply& process : processes) {
    const auto usable = std::ranges::count_if(
        process.*work, [](Nanoseconds time) { return time > Nanoseconds(0); });
    if (static_cast<std::size_t>(usable) < kMinWatchSamples) continue;
    views.push_back({process.*work, process.canaries, 1, process.join});
  }
  if (std::ssize(views) < kMinWatchProcesses) return std::nullopt;
  const auto times = group_by_speed(views);
  if (!times) return std::nullopt;
  return std::expm1(difference_at_equal_speed(*times, *times).half_width());
}

std::string list_states(const SpeedWatch& watch) {
  std::string text;
  for (const SpeedState& state : watch.states) {
    text += fmt::format("{}{} ({:.0f} %{}{})", text.empty() ? ": the same work took " : ", ",
                        format_time(state.canary), kPercent * state.share,
                        text.empty() ? " of the time" : "", state.is_present ? ", now" : "");
  }
  return text;
}

std::string list_causes(const SpeedWatch& watch) {
  std::string text;
  const auto add_cause = [&](double share, std::string_view cause) {
    if (share < kMinShownShare) return;
    text += fmt::format("{}{} ({:.0f} %)", text.empty() ? "; slower because of " : ", ", cause,
                        kPercent * share);
  };
  add_cause(watch.neighbour, "a neighbour on the core");
  add_cause(watch.slow_clock, "a lower clock");
  add_cause(watch.interrupted, "a processor taken away");
  return text;
}

Finding states_finding(const SpeedWatch& watch, Nanoseconds time) {
  const double steady = 1 - watch.interrupted - watch.slow_clock - watch.neighbour;
  Finding finding{Finding::Level::good, "speeds", "", "", ""};
  const std::size_t count = watch.states.size();
  const std::string number = count == 0   ? "no usual speed"
                             : count == 1 ? "one speed"
                                          : fmt::format("{} speeds", count);
  finding.found = fmt::format("{} in {}{}{}", number, format_time(time), list_states(watch),
                              list_causes(watch));
  if (steady >= kMostlySteady) return finding;
  finding.level = Finding::Level::note;
  finding.consequence =
      "`bench` compares only samples that were taken at the same speed, and needs more of them";
  finding.remedy =
      watch.interrupted > watch.neighbour
          ? "stop what else runs here: see top; ask the host's owner for processors of your own"
          : "ask the host's owner for whole cores, or switch SMT off";
  return finding;
}

Finding precision_finding(const SpeedWatch& watch, Nanoseconds time) {
  Finding finding{Finding::Level::note, "precision", "", "", ""};
  if (!watch.compute_precision || !watch.memory_precision) {
    finding.found = fmt::format("n/a: {} do not suffice for {} processes with {} samples each",
                                format_time(time), kMinWatchProcesses, kMinWatchSamples);
    finding.consequence = "it is unknown whether two runs can be compared here";
    finding.remedy = "watch longer: --watch 10s";
    return finding;
  }
  const auto [best, worst] = std::minmax({*watch.compute_precision, *watch.memory_precision});
  const bool is_compute_best = *watch.compute_precision <= *watch.memory_precision;
  finding.found =
      best <= kPoorPrecision && worst > kPoorPrecision
          ? fmt::format(
                "two runs can be compared here for {}-bound cases, to about +-{:.1f} %, but "
                "hardly for {}-bound cases: +-{:.1f} %",
                is_compute_best ? "compute" : "memory", kPercent * best,
                is_compute_best ? "memory" : "compute", kPercent * worst)
          : fmt::format(
                "two runs can {}be compared here: to about +-{:.1f} % for compute-bound and "
                "+-{:.1f} % for memory-bound cases",
                worst > kPoorPrecision ? "hardly " : "", kPercent * *watch.compute_precision,
                kPercent * *watch.memory_precision);
  if (worst <= kGoodPrecision) {
    finding.level = Finding::Level::good;
    return finding;
  }
  if (worst > kPoorPrecision) finding.level = Finding::Level::problem;
  finding.consequence = "`bench compare` calls smaller changes between two runs `unclear`";
  finding.remedy =
      "`bench gate --base FOLDER` and `bench duet` measure both sides in turn and see smaller "
      "changes";
  return finding;
}

}  // namespace

SpeedWatch judge_speed(std::span<const WatchedReply> processes, Nanoseconds time) {
  SpeedWatch watch;
  const SpeedSamples samples = join_samples(processes);
  watch.samples = std::ssize(samples.canaries);
  if (samples.canaries.empty()) return watch;
  count_causes(samples, watch);
  const double second = 1e9 / static_cast<double>(std::max<std::int64_t>(time.count(), 1));
  const double recent = std::min(1.0, second) * static_cast<double>(watch.samples);
  watch.states = find_states(samples.canaries, static_cast<std::size_t>(std::ceil(recent)));
  watch.bars = make_bars(samples.canaries);
  watch.compute_precision = expect_precision(processes, &WatchedReply::compute);
  watch.memory_precision = expect_precision(processes, &WatchedReply::memory);
  return watch;
}

std::vector<Finding> speed_findings(const SpeedWatch& watch, Nanoseconds time) {
  return {states_finding(watch, time), precision_finding(watch, time)};
}

std::string format_speed_histogram(const SpeedWatch& watch) {
  if (watch.bars.empty()) return "";
  const double largest = std::ranges::max(watch.bars, {}, &SpeedBar::share).share;
  std::string text =
      fmt::format("How long the same work took in {} samples:\n", format_count(watch.samples));
  for (std::size_t i = 0; i < watch.bars.size(); ++i) {
    const SpeedBar& bar = watch.bars[i];
    const bool is_last = i + 1 == watch.bars.size();
    const bool is_present = std::ranges::any_of(watch.states, [&](const SpeedState& state) {
      return state.is_present && state.canary >= bar.from &&
             (is_last || state.canary < watch.bars[i + 1].from);
    });
    const auto width = std::llround(static_cast<double>(kBarWidth) * bar.share / largest);
    const std::string line = std::string(static_cast<std::size_t>(width), '#');
    text += fmt::format("  {:>9} {:>4.0f} %{}{}{}\n", format_time(bar.from), kPercent * bar.share,
                        line.empty() ? "" : "  ", line, is_present ? " now" : "");
  }
  return text;
}

Result<std::vector<WatchedReply>> watch_speed(const std::string& worker_program, Nanoseconds time,
                                              std::optional<Bytes> last_level_cache, Env& env) {
  WorkerSession session(process_workers({worker_program, {}, allowed_cores()}, env),
                        {kProtocolVersion, Bytes{0}, last_level_cache}, nullptr, *env.clock);
  std::vector<WatchedReply> processes;
  for (int i = 0; i < kWatchProcesses; ++i) {
    BENCH_RETURN_IF_ERROR(session.ensure({}));
    auto reply = session.ask(WatchRequest{time / kWatchProcesses}, time + kReplyLimit);
    session.finish();
    if (!reply) return Error{reply.error().reason, "", ""};
    processes.push_back(std::move(*reply));
  }
  return processes;
}

}  // namespace bench
