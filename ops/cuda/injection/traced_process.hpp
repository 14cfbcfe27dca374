// SPDX-License-Identifier: Apache-2.0
// Traces a program that uses CUDA under `bench profile`. CUPTI records from the program's first
// CUDA call on. The records are written to a file periodically, so a killed program loses only the
// latest.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/library_search.hpp"
#include "profiler/cupti/collector.hpp"
#include "profiler/cupti/cupti_api.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/switches.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace bench::ops::cuda {

// Settings that `bench profile` passes, in environment variables, to the library that the driver
// loads (profiler/capture/spool_format.hpp).
struct InjectionSettings {
  std::string spool;
  std::set<RecordGroup> groups;
  Nanoseconds dump_period{0};
};

// Reads the settings. Returns nullopt if `bench profile` did not request tracing; the library then
// does nothing. Replaces unreadable values by their defaults.
std::optional<InjectionSettings> injection_settings(const Variables& variables);

// Writes the file of one traced process, which is in the folder of `bench profile`'s spool file.
// Opens the file for each append, because programs may close descriptors that are not theirs.
class GpuSpoolWriter {
 public:
  // Creates a file named `spool` plus a suffix with `pid` (profiler/capture/spool_format.hpp). The
  // name is taken if the process ran another program before (exec); then a number is appended.
  static Result<GpuSpoolWriter> create(const std::string& spool, std::int64_t pid);

  // Appends the text. After an error, for example a full disk, the file may contain a part of it.
  Status append(std::string_view text) const;
  const std::string& path() const { return path_; }

 private:
  explicit GpuSpoolWriter(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Writes the session of this process as lines of bench.gpu_records/1: the session, its records as
// they arrive, session_end. If tracing is impossible, the session's tracer is capture::kNoTracer,
// and its only fault states the reason.
class TracedProcess {
 public:
  explicit TracedProcess(GpuSpoolWriter file) : file_(std::move(file)) {}

  // Starts tracing with the CUPTI that `load` returns. `process` must outlive this object.
  void begin(const std::function<Result<CuptiLibrary>()>& load, const CuptiOptions& options,
             CuptiProcess& process);
  bool is_tracing() const { return collector_ != nullptr; }
  // Writes the records that are complete. No other function may run at the same time.
  void dump();
  // Writes the remaining records and session_end, and stops tracing. This must be the last call.
  void end();

 private:
  void write(GpuSession& session);
  void write_end();
  void write_failure(const Error& error);

  const GpuSpoolWriter file_;
  std::optional<CuptiLibrary> library_;
  std::unique_ptr<CuptiCollector> collector_;
  std::set<std::string> faults_;  // a set, because every dump reports all faults again
  std::int64_t dropped_ = 0;
};

// Calls dump() once per period on its own thread, in which all signals are blocked.
class DumpThread {
 public:
  DumpThread(TracedProcess& process, Nanoseconds period);
  // Stops the dumps. Returns false if a dump has not returned within `grace_period`; the
  // TracedProcess must then not be used. Idempotent. A thread whose dump hangs ends with the
  // process.
  bool stop(Nanoseconds grace_period);

 private:
  void run(Nanoseconds period);

  TracedProcess& process_;
  std::mutex mutex_;
  std::condition_variable state_changed_;
  bool stopping_ = false;
  bool stopped_ = false;
};

}  // namespace bench::ops::cuda
