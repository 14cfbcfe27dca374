// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/recorder.hpp"
#include "tests/fakes/fake_gpu/device.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <variant>

namespace bench::fake_gpu {
namespace {

constexpr std::int64_t kContext = 1;
constexpr std::int64_t kStream = 7;

// Returns whether a record stays when the window opens: memory allocated before still exists in it.
bool outlives_warmup(const GpuRecord& record) {
  return std::holds_alternative<GpuAllocation>(record);
}

GpuDevice describe(const DeviceScript& script) {
  GpuDevice device;
  device.name = script.name;
  device.limits = {script.major, script.minor, 32, 64, 32, 1024, 65536, 65536, 233472};
  device.multiprocessors = script.multiprocessors;
  device.memory_bytes = script.memory.count;
  return device;
}

// Offset from a time on CLOCK_MONOTONIC to the same time on CLOCK_REALTIME.
Nanoseconds since_1970_to_start() {
  const Nanoseconds realtime =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  return realtime - monotonic_now();
}

GpuReading make_reading(const ReadingScript& script, Nanoseconds window) {
  GpuReading reading;
  reading.at = window + script.after;
  reading.sm_clock_hz = script.sm_clock_hz;
  reading.power_milliwatt = script.power_milliwatt;
  if (script.memory_bytes) {
    reading.memory = GpuProcessMemory{*script.memory_bytes, script.memory_source};
  }
  return reading;
}

}  // namespace

Status Tracer::begin(std::uint32_t groups) {
  const auto absent = gpu_.script().absent.find("CUPTI");
  if (absent != gpu_.script().absent.end()) {
    return Error{fmt::format("CUPTI cannot be used: {}", absent->second), "", "see `bench doctor`"};
  }
  const std::string& other = gpu_.script().tracer.conflict;
  if (!other.empty()) {
    return Error{fmt::format("another profiler is attached to this process: {}", other), "",
                 "end it: CUPTI serves one at a time"};
  }
  groups_ = groups;
  realtime_ = gpu_.has_context() || gpu_.script().tracer.realtime;
  recording_ = true;
  window_begin_ = monotonic_now();
  return Done{};
}

Status Tracer::open_window() {
  std::erase_if(records_, [](const GpuRecord& record) { return !outlives_warmup(record); });
  window_begin_ = monotonic_now();
  return gpu_.check_usable();
}

Result<std::string> Tracer::finish() {
  recording_ = false;  // the synchronisation below is not recorded
  GpuSession session;
  session.pid = current_process();
  session.tracer = "fake CUPTI 13.0.1";
  gpu_.wait();
  session.clock.monotonic = monotonic_now();
  session.clock.realtime = session.clock.monotonic + since_1970_to_start();
  session.dropped = gpu_.script().tracer.dropped;
  session.faults = gpu_.script().tracer.faults;
  session.records = std::move(records_);
  session.records.emplace_back(describe(gpu_.device()));
  session.records.emplace_back(GpuContext{kContext, 0});
  for (const ReadingScript& reading : gpu_.script().tracer.readings) {
    session.records.emplace_back(make_reading(reading, window_begin_));
  }
  for (const std::string& note : gpu_.script().tracer.notes) {
    session.records.emplace_back(GpuNote{note});
  }
  if (const Status usable = gpu_.check_usable(); !usable) {
    session.faults.push_back(fmt::format("the device did not finish: {}", usable.error().what));
  }
  return format_gpu_session(session);
}

// Calls identify the owner of a kernel, so they are recorded for every group.
std::uint64_t Tracer::record_call(std::string name, GpuInterval time) {
  if (!recording_) return 0;
  GpuApiCall call;
  call.name = std::move(name);
  call.time = time;
  call.thread = current_thread();
  call.correlation = ++correlations_;
  if (!regions_.empty()) {
    records_.emplace_back(
        GpuExternalId{GpuExternalKind::operation, regions_.back(), correlations_});
  }
  records_.emplace_back(std::move(call));
  return correlations_;
}

template <class Record>
void Tracer::record_device_work(Record record) {
  if (!records(ops::kTraceDevice)) return;
  record.place = {0, kContext, kStream};
  if (realtime_) {
    record.time->start += since_1970_to_start();
    record.time->end += since_1970_to_start();
  }
  records_.emplace_back(std::move(record));
}

void Tracer::add(GpuKernel kernel) { record_device_work(std::move(kernel)); }
void Tracer::add(GpuMemcpy copy) { record_device_work(copy); }
void Tracer::add(GpuMemset fill) { record_device_work(fill); }

void Tracer::add(GpuSynchronisation wait) {
  if (!records(ops::kTraceDevice)) return;
  wait.context = kContext;
  wait.stream = kStream;
  records_.emplace_back(wait);
}

void Tracer::add(GpuAllocation allocation) {
  if (!records(ops::kTraceMemory)) return;
  allocation.memory = GpuMemoryKind::device;
  allocation.place = {0, kContext, 0};
  allocation.at = monotonic_now();
  records_.emplace_back(std::move(allocation));
}

}  // namespace bench::fake_gpu
