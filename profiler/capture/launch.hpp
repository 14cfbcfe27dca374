// SPDX-License-Identifier: Apache-2.0
// Runs an unmodified program with the capture library preloaded.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/capture/spool_format.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

class InheritedSignals;  // base/inherited_signals.hpp

enum class Backtrace { no, yes };
enum class ResidentMemory { no, yes };  // whether to record it with each oneDNN line

struct CaptureRequest {
  std::vector<std::string> command;
  std::string library;  // path of libbench_capture.so
  std::string spool;    // absolute path of an existing file
  std::string verbose;  // value of ONEDNN_VERBOSE, see kCaptureVerbose
  Backtrace backtrace = Backtrace::no;
  ResidentMemory resident = ResidentMemory::no;
  // The library that the CUDA driver loads (libbench_cuda_injection.so); empty to record no GPU
  // work.
  std::string cuda_library;
  std::optional<Nanoseconds> sample_period;  // CPU time of a thread; nullopt: no samples
  std::string kinds;                         // switches for GPU records, as on a command line
  std::string dump_period;
};

using capture::kCaptureVerbose;

// What takes the samples of a program. perf_events: the system, from outside (PerfRecorder). timer:
// the preloaded library, by a timer of each thread.
enum class SampleSource { perf_events, timer };

// Returns the program's environment: `inherited` plus what the capture needs. Keeps a verbose mode,
// an NVTX tool or a CUDA tool that the user has set.
std::map<std::string, std::string> capture_environment(
    const CaptureRequest& request, std::map<std::string, std::string> inherited);

// Returns the tool that the user selected for NVTX ranges, or nullopt. If there is one, ranges are
// not captured.
std::optional<std::string> other_nvtx_tool(const CaptureRequest& request,
                                           const std::map<std::string, std::string>& inherited);
// The same for CUDA, if GPU work is to be recorded.
std::optional<std::string> other_cuda_tool(const CaptureRequest& request,
                                           const std::map<std::string, std::string>& inherited);

// Returns the file that a shell would run for `name`. Returns an error if there is none or it is
// not executable.
Result<std::string> find_executable(const std::string& name, const std::string& search_path);

// Returns why the loader will not, or must not, preload the library into this program, worded for
// the user. Reasons: static, setuid, or built for another machine or C library. For a script, its
// interpreter is checked.
std::optional<std::string> preload_obstacle(const std::string& file);

// Runs `program` with `command` as its argv and this process's standard streams, and waits. Signals
// from the terminal reach the program directly; SIGTERM and SIGHUP are forwarded to it. The program
// starts with `signals`, or with this process's signal state if that is nullptr. Returns its exit
// status, or 128 + the number of the signal that ended it, as a shell does. Returns an error if it
// cannot be started, or if the system does not report how it ended.
Result<int> run_program_to_end(const std::string& program, const std::vector<std::string>& command,
                               const std::map<std::string, std::string>& environment,
                               const InheritedSignals* signals = nullptr);

}  // namespace bench
