// SPDX-License-Identifier: Apache-2.0
// Asks the driver for a device's clock, power and memory now and then while a trace is recorded, in
// a thread of its own. Never used where times are taken.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/runtime/condition_watch.hpp"
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

// At one moment. Absent: the driver does not say.
struct DeviceState {
  std::optional<std::int64_t> sm_clock_hz;
  std::optional<std::int64_t> power_milliwatt;
  std::optional<std::int64_t> used_bytes;     // of the device's memory, by everybody
  std::optional<std::int64_t> process_bytes;  // by this process
};
// Absent: no answer now. Called from one thread at a time.
using StateReader = std::function<std::optional<DeviceState>()>;
// Error: why nothing can be asked.
using StateReaderMaker = std::function<Result<StateReader>()>;

// Waits between two readings, until it is stopped.
class Pacer {
 public:
  virtual ~Pacer() = default;
  // After so long; false: stopped.
  virtual bool wait(Nanoseconds period) = 0;
  virtual void stop() = 0;  // from another thread, at any time
};
std::shared_ptr<Pacer> make_pacer();

// As often as a power sensor has something new to say, and so seldom that it costs nothing.
inline constexpr Nanoseconds kReadingPeriod = std::chrono::milliseconds(10);

class DeviceReadings {
 public:
  DeviceReadings(StateReaderMaker make, std::shared_ptr<Pacer> pacer, HostClock now)
      : make_(std::move(make)), pacer_(std::move(pacer)), now_(std::move(now)) {}
  ~DeviceReadings();
  DeviceReadings(const DeviceReadings&) = delete;
  DeviceReadings& operator=(const DeviceReadings&) = delete;

  // Once, before this process has memory on the device: growth counts from here. Reads at once, and
  // then every kReadingPeriod; less often where a reading takes more than a twentieth of that.
  void begin();
  void open_window();  // forgets what was read, and reads
  // Reads a last time and ends. GpuReadings of device 0 by time, and a GpuNote where there are
  // none.
  std::vector<GpuRecord> finish();

 private:
  void stop();
  void run();
  void read();  // mutex_ is held

  StateReaderMaker make_;
  std::shared_ptr<Pacer> pacer_;
  HostClock now_;
  StateReader reader_;   // empty: there is nobody to ask
  std::string absence_;  // why
  std::optional<std::int64_t> used_before_;
  std::mutex mutex_;  // of what follows
  std::vector<GpuReading> readings_;
  Nanoseconds period_ = kReadingPeriod;
  std::thread thread_;
};

}  // namespace bench::ops::cuda
