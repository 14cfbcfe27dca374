// SPDX-License-Identifier: Apache-2.0
#include "harness/run/sampling.hpp"

#include <benchmark/benchmark.h>

#include <cassert>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

namespace bench {

Rotation::Rotation(std::vector<std::unique_ptr<ops::Invocation>> invocations)
    : invocations_(std::move(invocations)) {
  assert(!invocations_.empty());
}

std::string Rotation::failure() const { return invocations_[next_]->error(); }

namespace {

// Google Benchmark writes progress and errors to its reporter's streams.
class NullBuffer final : public std::streambuf {
 protected:
  int overflow(int character) override { return traits_type::not_eof(character); }
};

class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  SilentReporter() : null_(&buffer_) {
    SetOutputStream(&null_);
    SetErrorStream(&null_);
  }
  bool ReportContext(const Context&) override { return true; }  // NOLINT: its naming
  void ReportRuns(const std::vector<Run>&) override {}          // NOLINT: its naming

 private:
  NullBuffer buffer_;
  std::ostream null_;
};

struct Round {
  Rotation* rotation;
  std::int64_t iterations;
  std::vector<Nanoseconds>* out;
  std::optional<double> slowdown;
  bool failed = false;
};

// Never leaves the loop early: Google Benchmark 1.7.1 aborts the process when a benchmark with a
// fixed number of iterations does. After a failure it only counts.
template <class Take>
void drive(benchmark::State& state, Round& round, Take take) {
  for (auto _ : state) {
    if (round.failed) {
      state.SetIterationTime(0);
      continue;
    }
    const std::optional<Nanoseconds> sample = take();
    round.failed = !sample;
    if (sample) round.out->push_back(*sample);
    state.SetIterationTime(std::chrono::duration<double>(sample.value_or(Nanoseconds(0))).count());
  }
}

// The way of taking a sample is chosen here, outside of the loop.
template <class ClockType>
void drive_by(benchmark::State& state, Round& round, ClockType& clock) {
  if (round.slowdown) {
    drive(state, round, [&] {
      return take_slowed_sample(*round.rotation, round.iterations, clock, *round.slowdown);
    });
  } else {
    drive(state, round, [&] { return take_sample(*round.rotation, round.iterations, clock); });
  }
}

}  // namespace

Status run_round(Rotation& rotation, std::int64_t samples, std::int64_t iterations, Clock& clock,
                 std::vector<Nanoseconds>& out, std::optional<double> slowdown) {
  assert(samples > 0 && iterations > 0);
  out.reserve(out.size() + static_cast<std::size_t>(samples));
  Round round{&rotation, iterations, &out, slowdown};
  // The real clock is called directly: a virtual call would stand between its two reads.
  auto* real = dynamic_cast<MonotonicClock*>(&clock);
  benchmark::RegisterBenchmark("round",
                               [&](benchmark::State& state) {
                                 if (real != nullptr) {
                                   drive_by(state, round, *real);
                                 } else {
                                   drive_by(state, round, clock);
                                 }
                               })
      ->UseManualTime()
      ->Iterations(samples)
      ->Repetitions(1);
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (round.failed) return Error{rotation.failure(), "", ""};
  return Done{};
}

}  // namespace bench
