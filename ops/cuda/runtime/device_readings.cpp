// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/device_readings.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bench::ops::cuda {
namespace {

// The period is at least this many times the duration of a reading: reading takes at most a
// twentieth of the time.
constexpr std::int64_t kMinPeriodFactor = 20;
// At this number of readings, every second one is dropped and the period is doubled. A long trace
// therefore has fewer points per second; a timeline cannot show more.
constexpr std::size_t kMaxReadings = 20'000;

class StoppablePacer final : public Pacer {
 public:
  bool wait(Nanoseconds period) override {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, period, [this] { return is_stopped_; });
  }
  void stop() override {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
};

// Returns the memory of the process: as the driver lists it, else the growth of the memory in use
// on the device. If that decreased, another process freed memory, and the result is nullopt.
std::optional<GpuProcessMemory> process_memory(const DeviceState& state,
                                               std::optional<std::int64_t> used_before) {
  if (state.process_bytes) return GpuProcessMemory{*state.process_bytes, GpuMemorySource::process};
  if (!state.used_bytes || !used_before || *state.used_bytes < *used_before) return std::nullopt;
  return GpuProcessMemory{*state.used_bytes - *used_before, GpuMemorySource::growth};
}

}  // namespace

std::shared_ptr<Pacer> make_pacer() { return std::make_shared<StoppablePacer>(); }

DeviceReadings::~DeviceReadings() { stop(); }

void DeviceReadings::begin() {
  auto reader = make_reader_();
  if (!reader) {
    unavailable_reason_ = reader.error().message();
    return;
  }
  reader_ = *std::move(reader);
  if (const auto state = reader_()) used_before_ = state->used_bytes;
  {
    const std::lock_guard lock(mutex_);
    read();
  }
  thread_ = std::thread([this] { run(); });
}

void DeviceReadings::run() {
  const auto period = [this] {
    const std::lock_guard lock(mutex_);
    return period_;
  };
  while (pacer_->wait(period())) {
    const std::lock_guard lock(mutex_);
    read();
  }
}

void DeviceReadings::read() {
  const Nanoseconds begin = clock_();
  const auto state = reader_();
  period_ = std::max(period_, (clock_() - begin) * kMinPeriodFactor);
  if (!state) return;
  readings_.push_back(
      {0, begin, state->sm_clock_hz, state->power_milliwatt, process_memory(*state, used_before_)});
  if (readings_.size() < kMaxReadings) return;
  std::size_t number = 0;
  std::erase_if(readings_, [&](const GpuReading&) { return number++ % 2 == 1; });
  period_ *= 2;
}

void DeviceReadings::open_window() {
  if (!reader_) return;
  const std::lock_guard lock(mutex_);
  readings_.clear();
  read();
}

void DeviceReadings::stop() {
  if (!thread_.joinable()) return;
  pacer_->stop();
  thread_.join();
}

std::vector<GpuRecord> DeviceReadings::finish() {
  stop();
  if (reader_) {
    const std::lock_guard lock(mutex_);
    read();
    if (readings_.empty()) unavailable_reason_ = "the driver no longer answers";
  }
  std::vector<GpuRecord> records(readings_.begin(), readings_.end());
  if (records.empty() && !unavailable_reason_.empty()) {
    records.emplace_back(
        GpuNote{"clock, power and memory of the device are unknown: " + unavailable_reason_});
  }
  return records;
}

}  // namespace bench::ops::cuda
