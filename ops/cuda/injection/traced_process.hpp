// SPDX-License-Identifier: Apache-2.0
// What happens below `bench profile` in a program that uses CUDA: CUPTI traces it from its first
// call on, and what was recorded goes to a file again and again, so that a program that is killed
// leaves what it did until then.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/injection/gpu_spool_writer.hpp"
#include "profiler/cupti/collector.hpp"
#include "profiler/cupti/cupti_api.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace bench::ops::cuda {

// Lines of bench.gpu_records/1: the session, its records as they come, session_end. Where nothing
// can be traced the session's tracer is capture::kNoTracer and its one fault says why.
class TracedProcess {
 public:
  explicit TracedProcess(GpuSpoolWriter file) : file_(std::move(file)) {}

  // `process` outlives this.
  void begin(const std::function<Result<CuptiLibrary>()>& load, const CuptiOptions& options,
             CuptiProcess& process);
  bool traces() const { return collector_ != nullptr; }
  // Writes what is complete. Not while another call goes on.
  void dump();
  // Writes the rest and the end, and traces no more. The last call.
  void end();

 private:
  void write(GpuSession& session);
  void write_end();
  void fail(const Error& error);

  const GpuSpoolWriter file_;
  std::optional<CuptiLibrary> library_;
  std::unique_ptr<CuptiCollector> collector_;
  std::set<std::string> faults_;  // each once, though it comes back with each dump
  std::int64_t dropped_ = 0;
};

// Calls dump() each period on a thread of its own, which takes no signal of the program's.
class DumpThread {
 public:
  DumpThread(TracedProcess& process, Nanoseconds period);
  // True: it dumps no more. False: it has not come back from a dump within `patience`, and the
  // process it dumps must not be touched. Idempotent; the thread itself ends with the process.
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
