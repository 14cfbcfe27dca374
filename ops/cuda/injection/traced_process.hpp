// SPDX-License-Identifier: Apache-2.0
// Traces a program that uses CUDA under `bench profile`. CUPTI traces it from its first call on.
// The records are written to a file repeatedly, so a killed program leaves its records up to then.
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

// Returns nullopt if `bench profile` did not request tracing; the library then does nothing.
// Unreadable switches get their defaults.
std::optional<InjectionSettings> injection_settings(const Variables& variables);

// The file of one traced process, beside the spool file of `bench profile`. Opens it for each
// append, because programs may close descriptors that are not theirs.
class GpuSpoolWriter {
 public:
  // Creates a file named `spool` plus the suffix of `pid` (profiler/capture/spool_format.hpp). If
  // the process ran another program before (exec), the name may be taken; a number is then added.
  static Result<GpuSpoolWriter> create(const std::string& spool, std::int64_t pid);

  // Appends all of the text, or a truncated part if the disk is full.
  Status append(std::string_view text) const;
  const std::string& path() const { return path_; }

 private:
  explicit GpuSpoolWriter(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Writes lines of bench.gpu_records/1: the session, its records as they arrive, session_end. If
// tracing is impossible, the session's tracer is capture::kNoTracer and its only fault states the
// reason.
class TracedProcess {
 public:
  explicit TracedProcess(GpuSpoolWriter file) : file_(std::move(file)) {}

  // `process` must outlive this object.
  void begin(const std::function<Result<CuptiLibrary>()>& load, const CuptiOptions& options,
             CuptiProcess& process);
  bool traces() const { return collector_ != nullptr; }
  // Writes the records that are complete. Must not run at the same time as another call.
  void dump();
  // Writes the remaining records and session_end, and stops tracing. This must be the last call.
  void end();

 private:
  void write(GpuSession& session);
  void write_end();
  void fail(const Error& error);

  const GpuSpoolWriter file_;
  std::optional<CuptiLibrary> library_;
  std::unique_ptr<CuptiCollector> collector_;
  std::set<std::string> faults_;  // each is written once, although every dump reports it again
  std::int64_t dropped_ = 0;
};

// Calls dump() once per period on its own thread, in which all signals are blocked.
class DumpThread {
 public:
  DumpThread(TracedProcess& process, Nanoseconds period);
  // Returns true if no more dumps will follow. Returns false if a dump has not returned within
  // `patience`; the TracedProcess must then not be used. Idempotent. The thread itself ends
  // with the process.
  bool stop(Nanoseconds patience);

 private:
  void run(Nanoseconds period);

  TracedProcess& process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool stopped_ = false;
};

}  // namespace bench::ops::cuda
