// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/rotation.hpp"

#include "harness/result/roofline.hpp"

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
  bool ReportContext(const Context&) override { return true; }  // NOLINT: the library's naming
  void ReportRuns(const std::vector<Run>&) override {}          // NOLINT: the library's naming

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

// Takes the samples of a round. Never leaves the loop early, because Google Benchmark 1.7.1 aborts
// the process if a benchmark with a fixed number of iterations does so. After a sample that was not
// counted, the loop continues without taking samples.
void take_samples(benchmark::State& state, Round& round) {
  for (auto _ : state) {
    if (round.last == Sampler::Taken::counted) {
      round.last = round.sampler->take(round.iterations, *round.out);
    }
    const bool is_counted = round.last == Sampler::Taken::counted;
    const Nanoseconds time = is_counted ? round.out->samples.back() : Nanoseconds(0);
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
  benchmark::RegisterBenchmark("round",
                               [&](benchmark::State& state) { take_samples(state, round); })
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

// The buffers that rotate over one region of the arena, and their layout.
struct RotatingBuffers {
  std::vector<std::size_t> indices;  // in Kernel::buffers()
  std::vector<Bytes> sizes;
  SetLayout layout;
  std::byte* region = nullptr;

  // Replaces the addresses of these buffers in `addresses` by those in the set.
  void assign_set(std::int64_t set, std::vector<void*>& addresses) const {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      addresses[indices[i]] = region + set * layout.stride.count + layout.offsets[i].count;
    }
  }
};

RotatingBuffers select_buffers(const ops::Kernel& kernel, std::span<const BufferRole> roles) {
  RotatingBuffers rotating;
  const auto buffers = kernel.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (std::find(roles.begin(), roles.end(), buffers[i].role) == roles.end()) continue;
    rotating.indices.push_back(i);
    rotating.sizes.push_back(buffers[i].size);
  }
  return rotating;
}

Result<std::unique_ptr<Rotation>> bind_own_buffers(ops::Kernel& kernel,
                                                   std::span<void* const> own) {
  std::vector<std::unique_ptr<ops::Invocation>> invocations;
  BENCH_ASSIGN_OR_RETURN(invocations.emplace_back(), kernel.bind(own));
  return std::make_unique<Rotation>(std::move(invocations));
}

// Lays out all groups. Returns the number of sets over which they can rotate together; 1 if a group
// does not fit.
std::int64_t lay_out_all(std::span<RotatingBuffers* const> groups, const Arena& arena,
                         Bytes distance) {
  std::int64_t sets = kMaxSets;
  for (RotatingBuffers* group : groups) {
    std::optional<SetLayout> layout =
        lay_out(group->sizes, arena.size(), distance, arena.alignment());
    if (!layout) return 1;
    group->layout = std::move(*layout);
    sets = std::min(sets, group->layout.sets);
  }
  return sets;
}

Result<std::unique_ptr<Rotation>> bind_sets(ops::Kernel& kernel, std::span<void* const> own,
                                            std::span<RotatingBuffers* const> groups,
                                            std::int64_t sets) {
  std::vector<std::unique_ptr<ops::Invocation>> invocations;
  invocations.reserve(static_cast<std::size_t>(sets));
  std::vector<void*> buffers(own.begin(), own.end());
  for (std::int64_t set = 0; set < sets; ++set) {
    for (const RotatingBuffers* group : groups) group->assign_set(set, buffers);
    BENCH_ASSIGN_OR_RETURN(invocations.emplace_back(), kernel.bind(buffers));
  }
  return std::make_unique<Rotation>(std::move(invocations));
}

}  // namespace

Result<std::unique_ptr<Rotation>> bind_rotation(ops::Kernel& kernel, std::span<void* const> own,
                                                CacheMode cache, std::optional<Bytes> distance,
                                                Arena* arena,
                                                std::map<std::string, std::string>& details) {
  if (cache == CacheMode::hot) return bind_own_buffers(kernel, own);
  assert(arena != nullptr);
  static constexpr BufferRole kWeights[] = {BufferRole::weights};
  static constexpr BufferRole kInputs[] = {BufferRole::input, BufferRole::weights};
  static constexpr BufferRole kOutputs[] = {BufferRole::output};
  const bool rotates_all = cache == CacheMode::cold;
  RotatingBuffers read =
      rotates_all ? select_buffers(kernel, kInputs) : select_buffers(kernel, kWeights);
  RotatingBuffers write = rotates_all ? select_buffers(kernel, kOutputs) : RotatingBuffers{};
  std::vector<RotatingBuffers*> groups;
  if (!read.indices.empty()) groups.push_back(&read);
  if (!write.indices.empty()) groups.push_back(&write);

  details["arena.bytes"] = std::to_string(arena->size().count);
  if (arena->memory() != nullptr) details["arena.memory"] = "of the device";
  const Bytes rotated = rotates_all ? arena->size() : distance.value_or(arena->size());
  const std::int64_t sets = groups.empty() ? 1 : lay_out_all(groups, *arena, rotated);
  details[kColdSetsDetail] = std::to_string(sets);
  if (sets == 1) {
    details["cold.note"] = groups.empty()
                               ? "the case has no weights: its own buffers"
                               : "the arena does not hold two sets of buffers: its own buffers";
    return bind_own_buffers(kernel, own);
  }
  read.region = arena->read_region();
  if (!write.indices.empty()) {
    BENCH_ASSIGN_OR_RETURN(write.region, arena->write_region());
  }
  std::int64_t bytes = 0;
  for (const RotatingBuffers* group : groups) bytes += sets * group->layout.stride.count;
  details[kColdBytesDetail] = std::to_string(bytes);
  return bind_sets(kernel, own, groups, sets);
}

ops::TunedCaches find_tuned_caches(CacheMode cache, std::optional<Bytes> distance,
                                   ops::DeviceMemory* device, Bytes host_arena) {
  if (cache == CacheMode::hot) return {};
  const Bytes arena =
      device == nullptr ? host_arena : device_arena_size(*device, distance.value_or(Bytes{0}));
  if (cache == CacheMode::cold) return {ops::CacheState::cold, arena};
  return {ops::CacheState::cold_weights, distance.value_or(arena)};
}

void set_candidates(ops::Backend& backend, const PrepareRequest& request, CacheMode cache,
                    Bytes host_arena) {
  backend.set_tuning(request.tuning);
  backend.set_tuned_caches(
      find_tuned_caches(cache, request.reuse_distance, backend.memory(), host_arena));
  backend.set_choices(request.choices);
}

}  // namespace bench
