// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/sampling.hpp"

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
  pointers_.reserve(invocations_.size());
  for (const auto& invocation : invocations_) pointers_.push_back(invocation.get());
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
  Sampler* sampler;
  std::int64_t iterations;
  RoundSamples* out;
  Sampler::Taken last = Sampler::Taken::counted;
};

// Never leaves the loop early: Google Benchmark 1.7.1 aborts the process if a benchmark with a
// fixed number of iterations does. When no more samples come, the loop only counts.
void drive(benchmark::State& state, Round& round) {
  for (auto _ : state) {
    if (round.last == Sampler::Taken::counted) {
      round.last = round.sampler->take(round.iterations, *round.out);
    }
    const bool taken = round.last == Sampler::Taken::counted;
    const Nanoseconds time = taken ? round.out->samples.back() : Nanoseconds(0);
    state.SetIterationTime(std::chrono::duration<double>(time).count());
  }
}

}  // namespace

Status run_round(Sampler& sampler, std::int64_t samples, std::int64_t iterations,
                 RoundSamples& out) {
  assert(samples > 0 && iterations > 0);
  out.samples.reserve(out.samples.size() + static_cast<std::size_t>(samples));
  sampler.begin_round();
  Round round{&sampler, iterations, &out};
  benchmark::RegisterBenchmark("round", [&](benchmark::State& state) { drive(state, round); })
      ->UseManualTime()
      ->Iterations(samples)
      ->Repetitions(1);
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (round.last == Sampler::Taken::failed) return Error{sampler.failure(), "", ""};
  return Done{};
}

}  // namespace bench
