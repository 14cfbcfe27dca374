// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_messages.hpp"

#include "base/shell.hpp"
#include "base/text.hpp"
#include "profiler/capture/spool_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view kTool = "bench profile";

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Explains why the window contains nothing.
std::string reason_of_window(const CaptureWindow& window, const SpoolReport& report) {
  if (report.window_was_open) {
    return fmt::format("nothing began in the window ({})", describe(window));
  }
  if (window.kind == CaptureWindow::Kind::profiler_api) {
    return "cudaProfilerStart was not observed: the program does not call it, or has a static CUDA "
           "runtime, which is observed only if GPUs are traced";
  }
  return fmt::format("the window ({}) never opened: {} NVTX range{} began", describe(window),
                     report.ranges_seen, report.ranges_seen == 1 ? "" : "s");
}

// Explains to the user why a profile contains no activity.
std::string reason_of_nothing(const CaptureOutcome& outcome, const CaptureQuestion& question) {
  const SpoolReport& report = outcome.spool;
  if (report.processes == 0) {
    return "the program did not load the capture library; a program that is static, setuid or "
           "clears its environment cannot be profiled";
  }
  const bool is_windowed = question.window.kind != CaptureWindow::Kind::all;
  if (is_windowed &&
      (report.ranges_seen > 0 || report.lines_of_onednn > 0 || outcome.gpu.processes > 0)) {
    return reason_of_window(question.window, report);
  }
  if (report.lines_of_onednn > 0) {
    return "oneDNN was loaded but executed no primitive that its verbose mode, as set, reports";
  }
  if (!report.onednn.empty()) {
    return fmt::format(
        "{} printed nothing: it was never used, was built without verbose mode, or "
        "does not support the level of --onednn-verbose",
        *report.onednn.begin());
  }
  return fmt::format("{} process{} ran, and none of them used oneDNN, NVTX or CUDA",
                     report.processes, report.processes == 1 ? "" : "es");
}

// Explains why a process that loaded the driver has no session.
std::string reason_of_no_session(const std::string& driver, const CudaCapture& cuda) {
  if (cuda.library.empty()) {
    return "this build has no libbench_cuda_injection.so, which needs the CUDA toolkit";
  }
  if (cuda.other_tool) {
    return fmt::format("{} names {}", capture::kCudaVariable, *cuda.other_tool);
  }
  return fmt::format("{} was loaded but never initialised", driver);
}

// Returns nullopt if there are such activities, they were not requested, or no program used CUDA.
std::optional<std::string> reason_of_no_device(const CaptureOutcome& outcome,
                                               const CaptureQuestion& question) {
  if (!records_devices(question.kinds)) return std::nullopt;
  if (!outcome.gpu.untraced_reasons.empty()) {
    return fmt::format("{}", fmt::join(outcome.gpu.untraced_reasons, "; "));
  }
  if (outcome.gpu.processes > 0) {
    if (outcome.gpu.activities > 0) return std::nullopt;
    return question.window.kind == CaptureWindow::Kind::all
               ? "the program initialised CUDA, but no GPU activity was recorded"
               : "no GPU activity is in the window";
  }
  if (outcome.spool.cuda.empty()) return std::nullopt;
  return reason_of_no_session(*outcome.spool.cuda.begin(), question.cuda);
}

std::string device_lines(const GpuRowsReport& gpu) {
  std::string text;
  for (const GpuDeviceSummary& device : gpu.devices) {
    if (device.kernels == 0) continue;
    const std::string whose =
        gpu.processes > 1 ? fmt::format(" of process {}", device.pid) : std::string();
    text += fmt::format("{}: GPU {}{}: {} in {}", kTool, device.device, whose,
                        counted(device.kernels, "kernel"), format_time(device.kernel_union));
    if (device.busy_share) text += fmt::format(", busy {:.1f} %", 100 * *device.busy_share);
    text += '\n';
  }
  return text;
}

std::string remarks(const CaptureOutcome& outcome) {
  const ReadReport& read = outcome.spool.read;
  std::string text;
  for (const std::string& note : read.notes) text += fmt::format("{}: {}\n", kTool, note);
  if (read.malformed + read.unknown > 0) {
    text +=
        fmt::format("{}: {} malformed and {} unknown lines\n", kTool, read.malformed, read.unknown);
  }
  if (outcome.is_incomplete) {
    text += fmt::format(
        "{}: the profile is incomplete: records could not be written while the program ran, "
        "because "
        "the disk was full or its limit of file sizes (ulimit -f) was reached\n",
        kTool);
  }
  for (const std::string& note : outcome.gpu.notes) text += fmt::format("{}: {}\n", kTool, note);
  return text + device_lines(outcome.gpu);
}

std::int64_t count_kernels(const GpuRowsReport& gpu) {
  std::int64_t kernels = 0;
  for (const GpuDeviceSummary& device : gpu.devices) kernels += device.kernels;
  return kernels;
}

// The usual table shows primitives and kernels.
std::string_view further_option(const CaptureOutcome& outcome) {
  if (outcome.spool.executed > 0) return "";
  return count_kernels(outcome.gpu) > 0 ? " --kind kernel" : " --kind range";
}

std::string describe_parts(const CaptureOutcome& outcome, const CaptureQuestion& question,
                           const std::string& file) {
  const SpoolReport& report = outcome.spool;
  std::vector<std::string> parts;
  const bool has_operators = question.kinds.contains(RecordGroup::operators);
  if (has_operators && report.executed > 0) {
    parts.push_back(fmt::format("{} executed in {}", counted(report.executed, "primitive"),
                                format_time(report.executed_time)));
  }
  if (const auto kernels = count_kernels(outcome.gpu); kernels > 0) {
    parts.push_back(counted(kernels, "kernel"));
  }
  if (has_operators && report.ranges > 0) parts.push_back(counted(report.ranges, "NVTX range"));
  parts.push_back(fmt::format("{} activit{} in {}", outcome.activities,
                              outcome.activities == 1 ? "y" : "ies", file));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

bool records_devices(const std::set<RecordGroup>& kinds) {
  constexpr std::array kGroups = {RecordGroup::api, RecordGroup::memory, RecordGroup::device};
  return std::ranges::any_of(kGroups, [&](RecordGroup group) { return kinds.contains(group); });
}

std::string merge_failure(const Error& error, const CaptureQuestion& question,
                          const std::string& spool) {
  return fmt::format(
      "{0}: {1}\n{0}: the records are kept in {2}: `{3} analyze {4}` and `{3} trace {4}` "
      "read it; remove it afterwards\n",
      kTool, error.message(), spool, question.program, shell_quoted(spool));
}

std::string capture_summary(const CaptureOutcome& outcome, const CaptureQuestion& question,
                            const std::string& file) {
  std::string text = remarks(outcome);
  const auto device = reason_of_no_device(outcome, question);
  const std::string missing = device ? fmt::format("; no device rows: {}", *device) : "";
  if (outcome.activities == 0) {
    return text + fmt::format("{}: nothing captured: {}{}\n", kTool,
                              reason_of_nothing(outcome, question), missing);
  }
  return text + fmt::format("{}: {}; next: {} analyze {}{}{}\n", kTool,
                            describe_parts(outcome, question, file), question.program,
                            shell_quoted(file), further_option(outcome), missing);
}

}  // namespace bench
