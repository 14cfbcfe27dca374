// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/rotation.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cassert>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

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

namespace {

using ops::BufferRole;

// The buffers that rotate over one region, and their layout.
struct Rotating {
  std::vector<std::size_t> indices;
  std::vector<Bytes> sizes;
  SetLayout layout;
  std::byte* region = nullptr;

  void put(std::int64_t set, std::vector<void*>& buffers) const {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      buffers[indices[i]] = region + set * layout.stride.count + layout.offsets[i].count;
    }
  }
};

Rotating pick(const ops::Kernel& kernel, std::span<const BufferRole> roles) {
  Rotating rotating;
  const auto buffers = kernel.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (std::find(roles.begin(), roles.end(), buffers[i].role) == roles.end()) continue;
    rotating.indices.push_back(i);
    rotating.sizes.push_back(buffers[i].size);
  }
  return rotating;
}

Result<std::unique_ptr<Rotation>> bind_own(ops::Kernel& kernel, std::span<void* const> own) {
  std::vector<std::unique_ptr<ops::Invocation>> invocations;
  BENCH_ASSIGN_OR_RETURN(invocations.emplace_back(), kernel.bind(own));
  return std::make_unique<Rotation>(std::move(invocations));
}

// Returns the number of sets over which all of `parts` can rotate together; 1 if one of them
// cannot.
std::int64_t lay_out_all(std::span<Rotating* const> parts, const Arena& arena, Bytes distance) {
  std::int64_t sets = kMaxSets;
  for (Rotating* part : parts) {
    std::optional<SetLayout> layout = lay_out(part->sizes, arena.size(), distance, arena.unit());
    if (!layout) return 1;
    part->layout = std::move(*layout);
    sets = std::min(sets, part->layout.sets);
  }
  return sets;
}

Result<std::unique_ptr<Rotation>> bind_sets(ops::Kernel& kernel, std::span<void* const> own,
                                            std::span<Rotating* const> parts, std::int64_t sets) {
  std::vector<std::unique_ptr<ops::Invocation>> invocations;
  invocations.reserve(static_cast<std::size_t>(sets));
  std::vector<void*> buffers(own.begin(), own.end());
  for (std::int64_t set = 0; set < sets; ++set) {
    for (const Rotating* part : parts) part->put(set, buffers);
    BENCH_ASSIGN_OR_RETURN(invocations.emplace_back(), kernel.bind(buffers));
  }
  return std::make_unique<Rotation>(std::move(invocations));
}

}  // namespace

Result<std::unique_ptr<Rotation>> bind_rotation(ops::Kernel& kernel, std::span<void* const> own,
                                                CacheMode cache, std::optional<Bytes> distance,
                                                Arena* arena,
                                                std::map<std::string, std::string>& details) {
  if (cache == CacheMode::hot) return bind_own(kernel, own);
  assert(arena != nullptr);
  static constexpr BufferRole kWeights[] = {BufferRole::weights};
  static constexpr BufferRole kInputs[] = {BufferRole::input, BufferRole::weights};
  static constexpr BufferRole kOutputs[] = {BufferRole::output};
  const bool all = cache == CacheMode::cold;
  Rotating read = all ? pick(kernel, kInputs) : pick(kernel, kWeights);
  Rotating write = all ? pick(kernel, kOutputs) : Rotating{};
  std::vector<Rotating*> parts;
  if (!read.indices.empty()) parts.push_back(&read);
  if (!write.indices.empty()) parts.push_back(&write);

  details["arena.bytes"] = std::to_string(arena->size().count);
  if (arena->memory() != nullptr) details["arena.memory"] = "of the device";
  const Bytes reach = all ? arena->size() : distance.value_or(arena->size());
  const std::int64_t sets = parts.empty() ? 1 : lay_out_all(parts, *arena, reach);
  details["cold.sets"] = std::to_string(sets);
  if (sets == 1) {
    details["cold.note"] = parts.empty()
                               ? "the case has no weights: its own buffers"
                               : "the arena does not hold two sets of buffers: its own buffers";
    return bind_own(kernel, own);
  }
  read.region = arena->read_region();
  if (!write.indices.empty()) {
    BENCH_ASSIGN_OR_RETURN(write.region, arena->write_region());
  }
  std::int64_t bytes = 0;
  for (const Rotating* part : parts) bytes += sets * part->layout.stride.count;
  details["cold.bytes"] = std::to_string(bytes);
  return bind_sets(kernel, own, parts, sets);
}

}  // namespace bench
