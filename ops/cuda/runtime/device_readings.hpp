// SPDX-License-Identifier: Apache-2.0
// Reads a device's clock, power and memory periodically while a trace is recorded, on its own
// thread. Never used while times are measured.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/runtime/conditions.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace bench::ops::cuda {

// State at one moment. A value that the driver does not report is nullopt.
struct DeviceState {
  std::optional<std::int64_t> sm_clock_hz;
  std::optional<std::int64_t> power_milliwatt;
  std::optional<std::int64_t> used_bytes;     // device memory used by all processes
  std::optional<std::int64_t> process_bytes;  // device memory used by this process
};
// Returns nullopt if there is no answer now. Called from one thread at a time.
using StateReader = std::function<std::optional<DeviceState>()>;
// Returns a reader. Error: why no state can be read.
using StateReaderMaker = std::function<Result<StateReader>()>;

// Waits between two readings until it is stopped.
class Pacer {
 public:
  virtual ~Pacer() = default;
  // Waits for `period`. Returns false if stopped.
  virtual bool wait(Nanoseconds period) = 0;
  virtual void stop() = 0;  // may be called from another thread at any time
};
std::shared_ptr<Pacer> make_pacer();

// Time between two readings. Power sensors update about as often, and the cost is negligible.
inline constexpr Nanoseconds kReadingPeriod = std::chrono::milliseconds(10);

class DeviceReadings {
 public:
  DeviceReadings(StateReaderMaker make_reader, std::shared_ptr<Pacer> pacer, HostClock clock)
      : make_reader_(std::move(make_reader)), pacer_(std::move(pacer)), clock_(std::move(clock)) {}
  ~DeviceReadings();
  DeviceReadings(const DeviceReadings&) = delete;
  DeviceReadings& operator=(const DeviceReadings&) = delete;

  // Call this once, before this process has memory on the device: growth counts from here. Reads
  // immediately, then every kReadingPeriod. Reads less often if a reading takes more than a
  // twentieth of that.
  void begin();
  void open_window();  // discards earlier readings and reads once
  // Reads a last time and stops. Returns GpuReadings of device 0 ordered by time, and a GpuNote if
  // there are none.
  std::vector<GpuRecord> finish();

 private:
  void stop();
  void run();
  void read();  // the caller holds mutex_

  StateReaderMaker make_reader_;
  std::shared_ptr<Pacer> pacer_;
  HostClock clock_;
  StateReader reader_;                       // empty if nothing can be read
  std::string unavailable_reason_;           // why nothing can be read
  std::optional<std::int64_t> used_before_;  // memory in use when begin() was called
  std::mutex mutex_;                         // protects readings_ and period_
  std::vector<GpuReading> readings_;
  Nanoseconds period_ = kReadingPeriod;
  std::thread thread_;
};

}  // namespace bench::ops::cuda
