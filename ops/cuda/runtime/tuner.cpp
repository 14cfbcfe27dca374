// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/tuner.hpp"

#include "base/text.hpp"
#include "ops/cuda/runtime/sampler.hpp"
#include "ops/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <utility>

namespace bench::ops::cuda {
namespace {

constexpr std::size_t kRounds = 5;
constexpr Nanoseconds kSampleTime = std::chrono::milliseconds(2);
constexpr std::int64_t kMaxIterations = 200;
// A sample that a condition of the device spoils is taken again, up to this number of tries.
constexpr int kMaxTries = 3;
// A candidate wins only if it needs less than this share of the default's cycles in every round.
constexpr double kWinningShare = 0.98;
// A candidate whose first execution takes this many times as long as the fastest one is not
// measured further. The first execution is single, so its time is too high by a constant.
constexpr double kHopelessFactor = 4;

struct Trial {
  std::int64_t iterations = 1;
  bool is_measured = false;           // took part in all rounds
  std::vector<double> times, cycles;  // ns and cycles of one execution in each round
  bool has_cycles = true;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Nanoseconds to_nanoseconds(double value) {
  return Nanoseconds(static_cast<std::int64_t>(std::llround(value)));
}

Result<DeviceSample> take_sample(const TuningCandidate& candidate, std::int64_t iterations) {
  for (int tries = 1;; ++tries) {
    auto sample = candidate.sample(iterations);
    if (!sample || sample->verdict != SampleVerdict::voided || tries == kMaxTries) return sample;
  }
}

// Measures candidates in rounds.
class Tournament {
 public:
  explicit Tournament(std::span<const TuningCandidate> candidates)
      : candidates_(candidates), trials_(candidates.size()) {
    for (const TuningCandidate& candidate : candidates)
      choice_.candidates.push_back({candidate.name, std::nullopt, ""});
  }

  Result<TunedChoice> run() && {
    estimate();
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < trials_.size(); ++i) {
        if (trials_[i].is_measured) measure(i);
      }
    }
    return choose();
  }

 private:
  void fail(std::size_t index, const Error& error) {
    if (!first_error_) first_error_ = error;
    choice_.candidates[index].failure = error.message();
    choice_.candidates[index].time.reset();
    trials_[index].is_measured = false;
  }

  // Executes each candidate once and derives the iterations of its samples.
  void estimate() {
    std::optional<std::int64_t> fastest;
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      const auto sample = take_sample(candidates_[i], 1);
      if (!sample) {
        fail(i, sample.error());
        continue;
      }
      const std::int64_t single = std::max<std::int64_t>(sample->device.count(), 1);
      trials_[i].iterations =
          std::clamp<std::int64_t>(kSampleTime.count() / single, 1, kMaxIterations);
      choice_.candidates[i].time = Nanoseconds(single);
      fastest = std::min(fastest.value_or(single), single);
    }
    bool is_default = true;  // measured even if it is slow, because the others compete with it
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      const auto& time = choice_.candidates[i].time;
      if (!time) continue;
      trials_[i].is_measured = is_default || static_cast<double>(time->count()) <=
                                                 kHopelessFactor * static_cast<double>(*fastest);
      is_default = false;
    }
  }

  void measure(std::size_t index) {
    Trial& trial = trials_[index];
    const auto sample = take_sample(candidates_[index], trial.iterations);
    if (!sample) return fail(index, sample.error());
    const double time =
        static_cast<double>(sample->device.count()) / static_cast<double>(trial.iterations);
    trial.times.push_back(time);
    if (!sample->clock_hz) trial.has_cycles = false;
    constexpr double kNanosecondsPerSecond = 1e9;
    trial.cycles.push_back(time * static_cast<double>(sample->clock_hz.value_or(0)) /
                           kNanosecondsPerSecond);
  }

  // Whether the candidate beats the default in every round, and by its median time. Compares times
  // if the clock of a round is unknown. A kernel that needs fewer cycles may draw more power, and
  // then runs at a lower clock: on an H100 one with 6 % fewer cycles took 1 % more time.
  bool beats(const Trial& trial, const Trial& standard) const {
    if (median(trial.times) >= kWinningShare * median(standard.times)) return false;
    const bool has_cycles = trial.has_cycles && standard.has_cycles;
    const auto& scores = has_cycles ? trial.cycles : trial.times;
    const auto& standards = has_cycles ? standard.cycles : standard.times;
    for (std::size_t round = 0; round < kRounds; ++round) {
      if (scores[round] >= kWinningShare * standards[round]) return false;
    }
    return true;
  }

  Result<TunedChoice> choose() {
    const auto standard = std::ranges::find_if(trials_, &Trial::is_measured);
    if (standard == trials_.end())
      return first_error_.value_or(Error{"there is nothing to choose from", "", ""});
    choice_.default_index = static_cast<std::size_t>(standard - trials_.begin());
    choice_.best = choice_.default_index;
    // Ratios to the default of the same rounds are comparable between candidates.
    double best_ratio = 1;
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      const Trial& trial = trials_[i];
      if (!trial.is_measured) continue;
      choice_.candidates[i].time = to_nanoseconds(median(trial.times));
      if (!beats(trial, *standard)) continue;
      const bool has_cycles = trial.has_cycles && standard->has_cycles;
      const double ratio = has_cycles ? median(trial.cycles) / median(standard->cycles)
                                      : median(trial.times) / median(standard->times);
      if (ratio >= best_ratio) continue;
      best_ratio = ratio;
      choice_.best = i;
    }
    return std::move(choice_);
  }

  std::span<const TuningCandidate> candidates_;
  std::vector<Trial> trials_;
  TunedChoice choice_;
  std::optional<Error> first_error_;
};

// Bytes of random numbers that the host makes; longer buffers repeat them.
constexpr std::int64_t kPatternBytes = std::int64_t{1} << 20;

std::vector<std::uint16_t> make_pattern() {
  constexpr std::uint64_t kSeed = 49;
  std::vector<std::uint16_t> units(static_cast<std::size_t>(kPatternBytes) / sizeof(std::uint16_t));
  fill_any_type(units.data(), units.size(), kSeed);
  return units;
}

Status fill_with_pattern(Runtime& runtime, const DeviceBuffer& buffer,
                         const std::vector<std::uint16_t>& pattern) {
  auto* const bytes = static_cast<std::uint8_t*>(buffer.data());
  const std::int64_t size = buffer.size().count;
  std::int64_t filled = std::min(size, kPatternBytes);
  if (filled == 0) return Done{};
  BENCH_RETURN_IF_ERROR(runtime.copy_in(bytes, pattern.data(), {filled}));
  while (filled < size) {
    const std::int64_t next = std::min(filled, size - filled);
    BENCH_RETURN_IF_ERROR(runtime.copy_within(bytes + filled, bytes, {next}));
    filled += next;
  }
  return Done{};
}

// Fills a buffer with numbers that no kernel processes slowly. Indices become 0, which is valid for
// every tensor.
Status fill_for_trial(Runtime& runtime, const DeviceBuffer& buffer, BufferRole role,
                      const std::vector<std::uint16_t>& pattern) {
  if (role != BufferRole::index) return fill_with_pattern(runtime, buffer, pattern);
  return buffer.size().count == 0 ? Status(Done{}) : runtime.fill(buffer.data(), 0, buffer.size());
}

// Describes buffers that are large enough for each of the kernels.
std::vector<KernelBuffer> common_buffers(std::span<const std::unique_ptr<Kernel>> kernels) {
  std::vector<KernelBuffer> common;
  for (const std::unique_ptr<Kernel>& kernel : kernels) {
    const auto buffers = kernel->buffers();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (i == common.size()) common.push_back(buffers[i]);
      common[i].size = std::max(common[i].size, buffers[i].size);
    }
  }
  return common;
}

// Binding a kernel to a set takes some microseconds, and a graph contains the whole rotation.
constexpr std::int64_t kMaxTrialSets = 1024;
constexpr std::int64_t kTrialAlignment = 256;  // that of the device's allocator

std::string_view name_of(CacheState state) {
  constexpr std::string_view kNames[] = {"hot", "cold", "cold weights"};
  return kNames[static_cast<std::size_t>(state)];
}

// Whether each execution of a rotation reads or writes another copy of the buffer.
bool rotates(const KernelBuffer& buffer, CacheState state) {
  if (buffer.role == BufferRole::index) return false;
  switch (state) {
    case CacheState::hot:
      return false;
    case CacheState::cold:
      return buffer.role != BufferRole::activation;
    case CacheState::cold_weights:
      break;
  }
  return buffer.role == BufferRole::weights;
}

// Bytes from one copy of a buffer to the next: an odd multiple of the alignment, so that
// neighbouring copies begin at different offsets in a page.
std::int64_t find_stride(const KernelBuffer& buffer) {
  const std::int64_t units = (buffer.size.count + kTrialAlignment - 1) / kTrialAlignment;
  return (units % 2 == 0 ? units + 1 : units) * kTrialAlignment;
}

// The invocations of one kernel, one for each set of buffers.
class BoundRotation {
 public:
  // Does nothing if the kernel is bound already.
  Status bind(Kernel& kernel, const TrialBuffers& buffers) {
    if (!pointers_.empty()) return Done{};
    std::vector<std::unique_ptr<Invocation>> invocations;
    for (std::size_t set = 0; set < buffers.sets(); ++set) {
      const std::vector<void*> addresses = buffers.addresses(set);
      const auto own = std::span(addresses).first(kernel.buffers().size());
      if (set == 0) BENCH_RETURN_IF_ERROR(kernel.prepare(own));
      BENCH_ASSIGN_OR_RETURN(invocations.emplace_back(), kernel.bind(own));
    }
    invocations_ = std::move(invocations);
    for (const auto& invocation : invocations_) pointers_.push_back(invocation.get());
    return Done{};
  }
  std::span<Invocation* const> pointers() const { return pointers_; }

 private:
  std::vector<std::unique_ptr<Invocation>> invocations_;
  std::vector<Invocation*> pointers_;
};

TunedChoice keep_first(std::string reason) {
  TunedChoice choice;
  choice.reason = std::move(reason);
  return choice;
}

BackendError to_failure(const Error& error) {
  return {BackendError::Kind::failed, error.message()};
}

}  // namespace

std::string TunedChoice::text() const {
  if (!reason.empty()) return "no: " + reason;
  if (!fixed.empty()) return "as chosen before for the case: " + fixed;
  const auto time_of = [&](std::size_t index) {
    return format_time(candidates[index].time.value_or(Nanoseconds(0)));
  };
  const std::string place = fmt::format("{} of {}", best + 1, candidates.size());
  if (best == default_index) return fmt::format("default {}, kept: {}", time_of(best), place);
  return fmt::format("default {}, chosen {}: {}", time_of(default_index), time_of(best), place);
}

std::string TunedChoice::candidates_text() const {
  std::string text;
  for (const Measured& candidate : candidates) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : "; ", candidate.name,
                    candidate.time ? format_time(*candidate.time) : "failed: " + candidate.failure);
  }
  return text;
}

void TunedChoice::add_to(std::map<std::string, std::string>& details) const {
  details["tuned"] = text();
  if (std::string all = candidates_text(); !all.empty()) details["tuned_candidates"] = all;
  if (!caches.empty()) details["tuned_caches"] = caches;
}

Result<TunedChoice> choose_fastest(std::span<const TuningCandidate> candidates) {
  return Tournament(candidates).run();
}

std::string tuned_caches_key(const TunedCaches& caches) {
  if (caches.state == CacheState::hot) return "";
  return fmt::format(" {}", name_of(caches.state));
}

std::string format_tuned_caches(const TunedCaches& caches) {
  if (caches.state == CacheState::hot) return "";
  return fmt::format("{}: executions rotate over {}", name_of(caches.state),
                     format_bytes(caches.rotation));
}

Result<std::vector<DeviceBuffer>, BackendError> allocate_trial_buffers(
    Runtime& runtime, std::span<const KernelBuffer> buffers) {
  const std::vector<std::uint16_t> pattern = make_pattern();
  std::vector<DeviceBuffer> trial;
  for (const KernelBuffer& buffer : buffers) {
    BENCH_ASSIGN_OR_RETURN(DeviceBuffer memory,
                           DeviceBuffer::create(runtime, buffer.size, "tuning"));
    if (const Status filled = fill_for_trial(runtime, memory, buffer.role, pattern); !filled)
      return to_failure(filled.error());
    trial.push_back(std::move(memory));
  }
  return trial;
}

std::vector<void*> buffer_addresses(std::span<const DeviceBuffer> buffers) {
  std::vector<void*> addresses;
  addresses.reserve(buffers.size());
  for (const DeviceBuffer& buffer : buffers) addresses.push_back(buffer.data());
  return addresses;
}

Result<TrialBuffers, BackendError> TrialBuffers::create(Runtime& runtime,
                                                        std::span<const KernelBuffer> buffers) {
  const TunedCaches& caches = runtime.tuned_caches();
  TrialBuffers trial;
  std::int64_t bytes = 0;  // sum over one set
  for (const KernelBuffer& buffer : buffers) {
    trial.strides_.push_back(rotates(buffer, caches.state) ? find_stride(buffer) : 0);
    bytes += trial.strides_.back();
  }
  const std::int64_t sets =
      bytes == 0 ? 1 : std::clamp<std::int64_t>(caches.rotation.count / bytes, 1, kMaxTrialSets);
  trial.sets_ = static_cast<std::size_t>(sets);
  std::vector<KernelBuffer> all_sets(buffers.begin(), buffers.end());
  for (std::size_t i = 0; i < all_sets.size(); ++i)
    all_sets[i].size.count += trial.strides_[i] * (sets - 1);
  BENCH_ASSIGN_OR_RETURN(trial.buffers_, allocate_trial_buffers(runtime, all_sets));
  return trial;
}

std::vector<void*> TrialBuffers::addresses(std::size_t set) const {
  std::vector<void*> addresses = buffer_addresses(buffers_);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] == nullptr) continue;
    addresses[i] =
        static_cast<std::uint8_t*>(addresses[i]) + strides_[i] * static_cast<std::int64_t>(set);
  }
  return addresses;
}

Result<DeviceSample> sample_rotation(
    const std::function<Result<DeviceSample>(const SampleRequest& request)>& sample,
    std::span<Invocation* const> rotation, std::int64_t iterations) {
  const auto sets = static_cast<std::int64_t>(rotation.size());
  const std::int64_t executions = iterations == 1 ? 1 : (iterations + sets - 1) / sets * sets;
  BENCH_ASSIGN_OR_RETURN(DeviceSample taken,
                         sample({rotation, 0, executions, SampleMethod::graph}));
  if (executions != iterations) {
    taken.device =
        to_nanoseconds(static_cast<double>(taken.device.count()) / static_cast<double>(executions) *
                       static_cast<double>(iterations));
  }
  return taken;
}

TuningCandidate make_candidate(const DeviceParts& device, std::string name,
                               std::vector<Invocation*> rotation) {
  auto sampling = std::make_shared<KernelSampling>(device.runtime);
  return {std::move(name), [sampler = device.sampler, sampling = std::move(sampling),
                            rotation = std::move(rotation)](std::int64_t iterations) {
            return sample_rotation(
                [&](const SampleRequest& request) { return sampler->sample(*sampling, request); },
                rotation, iterations);
          }};
}

std::optional<TunedChoice> Tuner::find(const std::string& key,
                                       std::span<const std::string> names) const {
  std::optional<TunedChoice> known;
  const auto fixed = runtime_->choices().find_fixed(key);
  const auto name = fixed ? std::ranges::find(names, *fixed) : names.end();
  if (name != names.end()) {
    known.emplace();
    known->best = static_cast<std::size_t>(name - names.begin());
    known->fixed = *fixed;
    known->caches = format_tuned_caches(runtime_->tuned_caches());
  } else if (const auto choice = choices_.find(key); choice != choices_.end()) {
    known = choice->second;
  }
  if (known) runtime_->choices().note(key, names[known->best]);
  return known;
}

Result<TunedChoice, BackendError> Tuner::remember(const std::string& key,
                                                  Result<TunedChoice> choice) {
  if (!choice) return to_failure(choice.error());
  if (runtime_->lost()) {
    return BackendError{BackendError::Kind::failed,
                        "the device was lost while candidates were measured"};
  }
  choice->caches = format_tuned_caches(runtime_->tuned_caches());
  runtime_->choices().note(key, choice->candidates[choice->best].name);
  return choices_.emplace(key, *std::move(choice)).first->second;
}

Result<TunedChoice, BackendError> Tuner::choose(const std::string& key,
                                                std::span<const TuningCandidate> candidates) {
  std::vector<std::string> names;
  for (const TuningCandidate& candidate : candidates) names.push_back(candidate.name);
  if (auto known = find(key, names)) return *std::move(known);
  return remember(key, choose_fastest(candidates));
}

Result<TunedChoice, BackendError> Tuner::choose(const std::string& key,
                                                std::span<const std::unique_ptr<Kernel>> kernels,
                                                std::span<const std::string> names) {
  assert(names.size() == kernels.size());
  if (auto known = find(key, names)) return *std::move(known);
  const auto buffers = TrialBuffers::create(*runtime_, common_buffers(kernels));
  if (!buffers && buffers.error().kind == BackendError::Kind::skipped)
    return keep_first(buffers.error().reason);
  if (!buffers) return buffers.error();
  std::vector<BoundRotation> rotations(kernels.size());
  std::vector<TuningCandidate> candidates;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    // Bound at the first sample, so that a kernel that cannot be bound is a candidate that fails.
    const auto sample = [&, i](std::int64_t iterations) -> Result<DeviceSample> {
      Kernel& kernel = *kernels[i];
      BENCH_RETURN_IF_ERROR(rotations[i].bind(kernel, *buffers));
      return sample_rotation(
          [&kernel](const SampleRequest& request) { return kernel.sample(request); },
          rotations[i].pointers(), iterations);
    };
    candidates.push_back({names[i], sample});
  }
  return remember(key, choose_fastest(candidates));
}

}  // namespace bench::ops::cuda
