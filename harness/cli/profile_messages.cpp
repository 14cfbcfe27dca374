// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_messages.hpp"

#include "base/quote.hpp"
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

// Explains why the window contains no activity.
std::string explain_empty_window(const CaptureWindow& window, const SpoolReport& report) {
  if (report.window_was_open) {
    return fmt::format("nothing began in the window ({})", describe(window));
  }
  if (window.kind == CaptureWindow::Kind::profiler_api) {
    return "cudaProfilerStart was not observed: the program does not call it, or has a static CUDA "
           "runtime, which is observed only if GPUs are traced";
  }
  return fmt::format("the window ({}) never opened: {} began", describe(window),
                     pluralise(report.ranges_seen, "NVTX range"));
}

// Explains why the profile contains no activity.
std::string explain_empty_profile(const CaptureOutcome& outcome, const CaptureSettings& settings) {
  const SpoolReport& report = outcome.spool;
  if (report.processes == 0) {
    return "the program did not load the capture library; a program that is static, setuid or "
           "clears its environment cannot be profiled";
  }
  const bool is_windowed = settings.window.kind != CaptureWindow::Kind::all;
  if (is_windowed &&
      (report.ranges_seen > 0 || report.lines_of_onednn > 0 || outcome.gpu.processes > 0)) {
    return explain_empty_window(settings.window, report);
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
  return fmt::format("{} ran, and none of them used oneDNN, NVTX or CUDA",
                     pluralise(report.processes, "process"));
}

// Explains why a process loaded the CUDA driver but has no recorded GPU session.
std::string explain_missing_session(const std::string& driver, const CudaCapture& cuda) {
  if (cuda.library.empty()) {
    return "this build has no libbench_cuda_injection.so, which needs the CUDA toolkit";
  }
  if (cuda.other_tool) {
    return fmt::format("{} names {}", capture::kCudaVariable, *cuda.other_tool);
  }
  return fmt::format("{} was loaded but never initialised", driver);
}

// Explains why the profile contains no GPU activity. Returns nullopt if it contains some, if they
// were not requested, or if no program used CUDA.
std::optional<std::string> explain_missing_gpu_rows(const CaptureOutcome& outcome,
                                                    const CaptureSettings& settings) {
  if (!records_devices(settings.kinds)) return std::nullopt;
  if (!outcome.gpu.untraced_reasons.empty()) {
    return fmt::format("{}", fmt::join(outcome.gpu.untraced_reasons, "; "));
  }
  if (outcome.gpu.processes > 0) {
    if (outcome.gpu.activities > 0) return std::nullopt;
    return settings.window.kind == CaptureWindow::Kind::all
               ? "the program initialised CUDA, but no GPU activity was recorded"
               : "no GPU activity is in the window";
  }
  if (outcome.spool.cuda.empty()) return std::nullopt;
  return explain_missing_session(*outcome.spool.cuda.begin(), settings.cuda);
}

std::string format_devices(const GpuRowsReport& gpu) {
  std::string text;
  for (const GpuDeviceSummary& device : gpu.devices) {
    if (device.kernels == 0) continue;
    const std::string process =
        gpu.processes > 1 ? fmt::format(" of process {}", device.pid) : std::string();
    text += fmt::format("{}: GPU {}{}: {} in {}", kTool, device.device, process,
                        pluralise(device.kernels, "kernel"), format_time(device.kernel_union));
    if (device.busy_share) {
      text += fmt::format(", busy {:.1f} % of the time from the first to the last kernel",
                          100 * *device.busy_share);
    }
    text += '\n';
  }
  return text;
}

std::string format_capture_notes(const CaptureOutcome& outcome) {
  const ReadReport& read = outcome.spool.read;
  std::string text;
  for (const std::string& note : read.notes) text += fmt::format("{}: {}\n", kTool, note);
  if (read.malformed + read.unknown > 0) {
    text += fmt::format("{}: {} and {}\n", kTool, pluralise(read.malformed, "malformed line"),
                        pluralise(read.unknown, "unknown line"));
  }
  if (outcome.spool.sampling.lost > 0) {
    text += fmt::format("{}: {} lost, because they were not written fast enough\n", kTool,
                        pluralise(outcome.spool.sampling.lost, "sample"));
  }
  if (outcome.is_incomplete) {
    text += fmt::format(
        "{}: the profile is incomplete: records could not be written while the program ran, "
        "because "
        "the disk was full or its limit of file sizes (ulimit -f) was reached\n",
        kTool);
  }
  for (const std::string& note : outcome.gpu.notes) text += fmt::format("{}: {}\n", kTool, note);
  return text + format_devices(outcome.gpu);
}

std::int64_t count_kernels(const GpuRowsReport& gpu) {
  std::int64_t kernels = 0;
  for (const GpuDeviceSummary& device : gpu.devices) kernels += device.kernels;
  return kernels;
}

// Returns the option with which `bench analyze` shows the recorded activities: none if there are
// primitives, otherwise --kind kernel or --kind range.
std::string_view choose_kind_option(const CaptureOutcome& outcome) {
  if (outcome.spool.executed > 0) return "";
  if (!outcome.samples.empty() && outcome.spool.ranges == 0) return " --summary";
  return count_kernels(outcome.gpu) > 0 ? " --kind kernel" : " --kind range";
}

std::string describe_contents(const CaptureOutcome& outcome, const CaptureSettings& settings,
                              const std::string& file) {
  const SpoolReport& report = outcome.spool;
  std::vector<std::string> parts;
  const bool has_operators = settings.kinds.contains(RecordGroup::operators);
  if (has_operators && report.executed > 0) {
    parts.push_back(fmt::format("{} executed in {}", pluralise(report.executed, "primitive"),
                                format_time(report.executed_time)));
  }
  if (const auto kernels = count_kernels(outcome.gpu); kernels > 0) {
    parts.push_back(pluralise(kernels, "kernel"));
  }
  if (has_operators && report.ranges > 0) parts.push_back(pluralise(report.ranges, "NVTX range"));
  parts.push_back(fmt::format("{} in {}", pluralise(outcome.activities, "activity"), file));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

bool records_devices(const std::set<RecordGroup>& kinds) {
  constexpr std::array kGroups = {RecordGroup::api, RecordGroup::memory, RecordGroup::device};
  return std::ranges::any_of(kGroups, [&](RecordGroup group) { return kinds.contains(group); });
}

std::string merge_failure(const Error& error, const CaptureSettings& settings,
                          const std::string& spool) {
  return fmt::format(
      "{0}: {1}\n{0}: the records are kept in {2}: `{3} analyze {4}` and `{3} trace {4}` "
      "read it; remove it afterwards\n",
      kTool, error.message(), spool, settings.program, shell_quoted(spool));
}

std::string capture_summary(const CaptureOutcome& outcome, const CaptureSettings& settings,
                            const std::string& file) {
  std::string text = format_capture_notes(outcome);
  if (settings.obstacle) {
    text += fmt::format("{}: oneDNN, NVTX ranges and GPUs are invisible: {}\n", kTool,
                        *settings.obstacle);
  }
  const auto device_reason = explain_missing_gpu_rows(outcome, settings);
  const std::string device_note =
      device_reason ? fmt::format("; no device rows: {}", *device_reason) : "";
  if (outcome.recorded == 0) {
    return text + fmt::format("{}: nothing captured: {}; {} contains only when the process ran{}\n",
                              kTool, explain_empty_profile(outcome, settings), file, device_note);
  }
  if (const std::string answer = describe_coverage(outcome.coverage); !answer.empty()) {
    const std::string samples = outcome.samples.empty()
                                    ? ""
                                    : fmt::format("{0}: {1}\n{0}: samples by {2}\n", kTool,
                                                  outcome.samples, settings.sampled_by);
    text = fmt::format("{}: {}\n{}{}", kTool, answer, samples, text);
  }
  if (!outcome.verdict.empty()) text += fmt::format("{}: {}", kTool, outcome.verdict);
  return text + fmt::format("{}: {}; next: {} analyze {}{}{}\n", kTool,
                            describe_contents(outcome, settings, file), settings.program,
                            shell_quoted(file), choose_kind_option(outcome), device_note);
}

}  // namespace bench
