// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of the harness itself in a timing pass: `run_round`, which executes samples,
// with an invocation that does nothing. `own_ns` is its cost per sample of one iteration, inside
// and outside the timed region, without the two clock reads; the goal is at most 60.
#include "base/env.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/sampler.hpp"
#include "ops/backend/kernel.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

// Nanoseconds with a fraction: durations over many samples are divided by their number.
using FractionalNanoseconds = std::chrono::duration<double, std::nano>;

constexpr FractionalNanoseconds kGoal(60);
constexpr std::int64_t kSamples = 100'000;  // makes a round's fixed cost of microseconds negligible
constexpr int kRepetitions = 25;            // the median over these is shown

class NoInvocation final : public bench::ops::Invocation {
 public:
  bool run() noexcept override { return true; }
  std::string error() const override { return {}; }
};

bench::Rotation build_rotation(std::int64_t size) {
  std::vector<std::unique_ptr<bench::ops::Invocation>> invocations;
  for (std::int64_t i = 0; i < size; ++i) invocations.push_back(std::make_unique<NoInvocation>());
  return bench::Rotation(std::move(invocations));
}

bench::Nanoseconds time_round(bench::Sampler& sampler, bench::Clock& clock, std::int64_t samples,
                              bench::RoundSamples& out) {
  out = {};
  const auto start = clock.now();
  if (!bench::run_round(sampler, samples, 1, out) ||
      static_cast<std::int64_t>(out.samples.size()) != samples) {
    std::fputs("harness_overhead: a round failed\n", stderr);
    std::exit(3);
  }
  return clock.now() - start;
}

bench::Nanoseconds time_clock_pairs(std::int64_t pairs) {
  bench::MonotonicClock clock;
  const auto start = clock.now();
  for (std::int64_t i = 0; i < pairs; ++i) {
    benchmark::DoNotOptimize(clock.now());
    benchmark::DoNotOptimize(clock.now());
  }
  return clock.now() - start;
}

// Returns the median duration divided by `count`, the number of equal parts of each.
FractionalNanoseconds median_per_part(std::vector<bench::Nanoseconds> durations,
                                      std::int64_t count) {
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  return FractionalNanoseconds(*middle) / static_cast<double>(count);
}

struct RoundCost {
  FractionalNanoseconds sample;       // one sample of one iteration, clock reads included
  FractionalNanoseconds clock_reads;  // two of them
  FractionalNanoseconds own;  // per sample: median of (a round - the clock reads right after it)
  FractionalNanoseconds one_sample;  // a round of one sample, with its registration
};

// Call this before registering a benchmark: each round registers one of its own and then clears
// all.
RoundCost measure_rounds() {
  bench::MonotonicClock clock;
  bench::Rotation rotation = build_rotation(1);
  const auto sampler = bench::make_host_sampler(rotation, clock);
  bench::RoundSamples out;
  std::vector<bench::Nanoseconds> rounds, clock_pairs, differences, singles;
  time_round(*sampler, clock, kSamples, out);  // warm-up of the code
  for (int i = 0; i < kRepetitions; ++i) {
    rounds.push_back(time_round(*sampler, clock, kSamples, out));
    clock_pairs.push_back(time_clock_pairs(kSamples));
    differences.push_back(rounds.back() - clock_pairs.back());
    singles.push_back(time_round(*sampler, clock, 1, out));
  }
  return {median_per_part(rounds, kSamples), median_per_part(clock_pairs, kSamples),
          median_per_part(differences, kSamples), median_per_part(singles, 1)};
}

void register_measured(const char* name, FractionalNanoseconds time,
                       std::optional<FractionalNanoseconds> own) {
  const auto report = [=](benchmark::State& state) {
    for (auto _ : state) state.SetIterationTime(std::chrono::duration<double>(time).count());
    if (!own) return;
    state.counters["own_ns"] = own->count();
    state.SetLabel(*own <= kGoal ? "goal met" : "goal missed");
  };
  benchmark::RegisterBenchmark(name, report)->UseManualTime()->Iterations(1);
}

// The part inside the timed region, per iteration of a batched sample.
void iterations_of_a_sample(benchmark::State& state) {
  constexpr std::int64_t kIterations = 1'000;
  bench::Rotation rotation = build_rotation(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(rotation.run(kIterations));
  state.counters["per_iteration"] = benchmark::Counter(
      static_cast<double>(kIterations),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace

int main(int argc, char** argv) {
  const RoundCost cost = measure_rounds();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  register_measured("two_clock_reads", cost.clock_reads, std::nullopt);
  register_measured("round/per_sample", cost.sample, cost.own);
  register_measured("round/one_sample", cost.one_sample, std::nullopt);
  benchmark::RegisterBenchmark("rotation/1000_iterations", iterations_of_a_sample)
      ->ArgName("buffer_sets")
      ->Arg(1)
      ->Arg(8);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
