// SPDX-License-Identifier: Apache-2.0
// Runs a program unchanged with the capture library preloaded.
#pragma once

#include "base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

enum class Backtrace { no, yes };
enum class ResidentMemory { no, yes };  // of the process, with each line of oneDNN

struct CaptureRequest {
  std::vector<std::string> command;
  std::string library;  // path of libbench_capture.so
  std::string spool;    // absolute path of an existing file
  std::string verbose;  // value of ONEDNN_VERBOSE, see kCaptureVerbose
  Backtrace backtrace = Backtrace::no;
  ResidentMemory resident = ResidentMemory::no;
  // What the CUDA driver loads, libbench_cuda_injection.so; empty: nothing of GPUs is recorded.
  std::string cuda_library;
  std::string kinds;  // switches of GPU records, as on a command line
  std::string dump_period;
};

// Creation and execution: "2" of all versions. Written so that nobody else writes it, since the
// library tells a user's own setting by its text; all versions take it for 2.
inline constexpr char kCaptureVerbose[] = "2,2";

// The environment of the program: `inherited` and what the capture needs. A verbose mode, or a tool
// for NVTX or CUDA, that the user has set stays as it is.
std::map<std::string, std::string> capture_environment(
    const CaptureRequest& request, std::map<std::string, std::string> inherited);

// The tool that the user has chosen for NVTX ranges, which hence are not captured; absent: none.
std::optional<std::string> other_nvtx_tool(const CaptureRequest& request,
                                           const std::map<std::string, std::string>& inherited);
// The same for CUDA, where something of GPUs is to be recorded.
std::optional<std::string> other_cuda_tool(const CaptureRequest& request,
                                           const std::map<std::string, std::string>& inherited);

// The file that a shell would run for `name`. Error: none, or one that may not be executed.
Result<std::string> find_executable(const std::string& name, const std::string& search_path);

// Why the loader will not, or must not, preload the library into this program, in words for the
// user: static, setuid, of another machine or C library. A script is judged by its interpreter.
std::optional<std::string> preload_obstacle(const std::string& file);

// Runs `program` with `command` as its argv, with our own standard streams, and waits. What the
// terminal sends goes to the program; SIGTERM and SIGHUP are passed on to it. Returns its exit
// status, or 128 + the number of the signal that ended it, as a shell does. Error: it cannot be
// started.
Result<int> run_program_to_end(const std::string& program, const std::vector<std::string>& command,
                               const std::map<std::string, std::string>& environment);

}  // namespace bench
