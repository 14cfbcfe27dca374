// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/sampler.hpp"

#include "harness/result/device_samples.hpp"
#include "harness/stats/running_median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace bench {

void CanaryBracket::open() {
  if (canary_ == nullptr) return;
  if (!last_) last_ = canary_->take();
  if (threads_ == ops::KernelThreads::own) canary_->let_threads_sleep();
  preemptions_ = canary_->preemptions();
}

void CanaryBracket::close(Nanoseconds time, RoundSamples& out) {
  if (canary_ == nullptr) return;
  const bool preempted = canary_->preemptions() - preemptions_ > time / kTimeOfOnePreemption;
  const Nanoseconds after = canary_->take();
  out.canaries.push_back(preempted ? Nanoseconds(0) : std::max(*last_, after));
  last_ = after;
  if (const auto join = canary_->join()) out.joins.push_back(*join);
}

namespace {

template <class ClockType>
class HostSampler final : public Sampler {
 public:
  HostSampler(Rotation& rotation, ClockType& clock, const SamplerOptions& options)
      : rotation_(rotation),
        clock_(clock),
        slowdown_(options.slowdown),
        canaries_(options.canary, options.threads) {}

  BatchLimits batch_limits() const override { return kHostBatch; }
  std::optional<Nanoseconds> warm(std::int64_t iterations) override {
    return on_page_boundary([&] { return take_sample(rotation_, iterations, clock_); });
  }
  void begin_round() override { canaries_.begin_round(); }
  void leave_out_canaries() override { canaries_.leave_out(); }
  Taken take(std::int64_t iterations, RoundSamples& out) override {
    canaries_.open();
    const std::optional<Nanoseconds> sample = on_page_boundary([&] {
      return slowdown_ ? take_slowed_sample(rotation_, iterations, clock_, *slowdown_)
                       : take_sample(rotation_, iterations, clock_);
    });
    if (!sample) return Taken::failed;
    out.samples.push_back(*sample);
    out.timed += *sample;
    canaries_.close(*sample, out);
    return Taken::counted;
  }
  std::string failure() const override { return rotation_.failure(); }

 private:
  Rotation& rotation_;
  ClockType& clock_;
  std::optional<double> slowdown_;
  CanaryBracket canaries_;
};

double gigahertz(std::int64_t hertz) { return static_cast<double>(hertz) / 1e9; }

class DeviceSampler final : public Sampler {
 public:
  DeviceSampler(ops::Kernel& kernel, Rotation& rotation, SamplerOptions options)
      : kernel_(kernel), rotation_(rotation), options_(std::move(options)) {}

  BatchLimits batch_limits() const override { return kDeviceBatch; }
  std::optional<Nanoseconds> warm(std::int64_t iterations) override {
    const auto sample = draw_sample(iterations, options_.method);
    if (!sample) return std::nullopt;
    method_ = sample->method;
    warm_clock_hz_ = sample->clock_hz;
    return sample->device;
  }
  std::optional<std::int64_t> warm_clock_hz() const override { return warm_clock_hz_; }
  void begin_round() override { voids_in_a_row_ = pauses_ = 0; }
  Taken take(std::int64_t iterations, RoundSamples& out) override {
    for (;;) {
      // Uses the method of the warm-up's last sample: two sampling methods do not make one series.
      const auto sample = draw_sample(iterations, method_);
      if (!sample) return Taken::failed;
      const std::optional<std::string> fault = why_void(*sample);
      if (!fault) {
        count(*sample, out);
        if (sample->clock_hz) clocks_.add(*sample->clock_hz);
        return Taken::counted;
      }
      add_remark(out.device.voided, *fault);
      if (!wait_for_device()) return Taken::exhausted;
    }
  }
  std::string failure() const override { return failure_; }

 private:
  std::optional<ops::DeviceSample> draw_sample(std::int64_t iterations, ops::SampleMethod method);
  static std::optional<std::string> why_void(const ops::DeviceSample& sample);
  std::optional<std::string> find_low_clock(const ops::DeviceSample& sample) const;
  void count(const ops::DeviceSample& sample, RoundSamples& out);
  bool wait_for_device();

  ops::Kernel& kernel_;
  Rotation& rotation_;
  SamplerOptions options_;
  ops::SampleMethod method_ = ops::SampleMethod::any;
  RunningMedian clocks_{kRecentClocks};  // clocks of the samples that count
  std::optional<std::int64_t> warm_clock_hz_;
  int voids_in_a_row_ = 0, pauses_ = 0;
  std::string failure_;
};

std::optional<ops::DeviceSample> DeviceSampler::draw_sample(std::int64_t iterations,
                                                            ops::SampleMethod method) {
  ops::SampleRequest request;
  request.rotation = rotation_.invocations();
  request.first = static_cast<std::int64_t>(rotation_.next());
  request.iterations = iterations;
  request.method = method;
  Result<ops::DeviceSample> sample = kernel_.sample(request);
  if (!sample) {
    failure_ = sample.error().message();
    return std::nullopt;
  }
  rotation_.advance(iterations);
  return std::move(sample).value();
}

std::optional<std::string> DeviceSampler::why_void(const ops::DeviceSample& sample) {
  if (sample.verdict == ops::SampleVerdict::voided) {
    return sample.reason.empty() ? std::string("the device gives no reason") : sample.reason;
  }
  if (sample.device <= Nanoseconds(0)) return std::string("no time passed on the device's clock");
  return std::nullopt;
}

// Returns the remark on a sample whose clock is far below the recent ones.
std::optional<std::string> DeviceSampler::find_low_clock(const ops::DeviceSample& sample) const {
  if (!sample.clock_hz || clocks_.size() < kClocksToJudge) return std::nullopt;
  const std::int64_t median = *clocks_.value();
  const double share = static_cast<double>(*sample.clock_hz) / static_cast<double>(median);
  if (share >= kMinClockShare) return std::nullopt;
  return fmt::format("SM clock {:.2f} GHz, {:.0f} % of the recent median {:.2f} GHz",
                     gigahertz(*sample.clock_hz), 100 * share, gigahertz(median));
}

void DeviceSampler::count(const ops::DeviceSample& sample, RoundSamples& out) {
  voids_in_a_row_ = 0;
  // A device has no loop to slow down, so its time is increased arithmetically.
  const auto own = static_cast<double>(sample.device.count());
  out.samples.push_back(sample.device +
                        Nanoseconds(std::llround(own * options_.slowdown.value_or(0))));
  out.timed += sample.device;
  DeviceSamples& device = out.device;
  if (sample.host) device.host_launch.push_back(*sample.host);
  if (sample.clock_hz) device.clock_hz.push_back(*sample.clock_hz);
  if (!device.sample_method) {
    device.sample_method = to_string(sample.method);
  }
  if (sample.verdict == ops::SampleVerdict::throttled) add_remark(device.throttled, sample.reason);
  if (sample.verdict == ops::SampleVerdict::unsteady) {
    add_remark(device.unsteady_clock, sample.reason);
  }
  if (sample.verdict != ops::SampleVerdict::counted) return;
  if (const auto low_clock = find_low_clock(sample)) add_remark(device.unsteady_clock, *low_clock);
}

// Returns false if it has waited long enough in this round.
bool DeviceSampler::wait_for_device() {
  if (++voids_in_a_row_ % kVoidsBeforePause != 0) return true;
  if (pauses_ == kMaxPauses) return false;
  options_.pause(kFirstPause * (1 << pauses_));
  ++pauses_;
  return true;
}

}  // namespace

std::unique_ptr<Sampler> make_host_sampler(Rotation& rotation, Clock& clock,
                                           const SamplerOptions& options) {
  // Calls the real clock directly: a virtual call would add time between its two reads.
  if (auto* real = dynamic_cast<MonotonicClock*>(&clock)) {
    return std::make_unique<HostSampler<MonotonicClock>>(rotation, *real, options);
  }
  return std::make_unique<HostSampler<Clock>>(rotation, clock, options);
}

std::unique_ptr<Sampler> make_sampler(ops::Kernel& kernel, Rotation& rotation, Clock& clock,
                                      SamplerOptions options) {
  options.threads = kernel.threads();
  if (!kernel.has_device_clock()) return make_host_sampler(rotation, clock, options);
  if (!options.pause) options.pause = [](Nanoseconds time) { std::this_thread::sleep_for(time); };
  return std::make_unique<DeviceSampler>(kernel, rotation, std::move(options));
}

}  // namespace bench
