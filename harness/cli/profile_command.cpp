// SPDX-License-Identifier: Apache-2.0
// `bench profile`: any program, unchanged, below the capture library.
#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/run/process.hpp"
#include "ops/framework_operator.hpp"
#include "profiler/activity_file.hpp"
#include "profiler/capture/launch.hpp"
#include "profiler/capture/spool_format.hpp"
#include "profiler/capture/spool_reader.hpp"
#include "profiler/capture/symbols.hpp"
#include "profiler/capture/window.hpp"
#include "profiler/recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <ostream>

namespace bench {
namespace {

namespace fs = std::filesystem;

// What shells and wrappers such as env(1) use: the program was not found, or could not be run.
constexpr int kNotFound = 127;

struct Profile {
  std::string file;   // what the user gets
  std::string spool;  // beside it while the program runs, and after a kill
};

ExitStatus refuse(const Error& error, Env& env, ExitStatus status) {
  *env.err << "bench profile: " << error.message() << '\n';
  return status;
}

// Beside this program, in an installed tree or in a build.
Result<std::string> find_capture_library() {
  const fs::path folder = fs::path(own_path()).parent_path();
  std::vector<std::string> tried;
  for (const char* place : {"../lib/bench", "lib/bench"}) {
    const std::string file = (folder / place / "libbench_capture.so").lexically_normal().string();
    if (fs::exists(file)) {
      // The loader takes both for separators in LD_PRELOAD, and knows no way to write them.
      if (file.find_first_of(" :") == std::string::npos) return file;
      return Error{
          "lies in a folder whose name has a space or a colon, which LD_PRELOAD cannot say", file,
          "install this tool elsewhere"};
    }
    tried.push_back(file);
  }
  return Error{"the capture library is missing", fmt::format("{}", fmt::join(tried, ", ")),
               "install it with this program (`cmake --install`), or build all of the project"};
}

Result<Profile> prepare_files(const Arguments& arguments) {
  const std::string file =
      arguments.out.value_or(fmt::format("profile-{}.jsonl", current_process()));
  if (!arguments.force && fs::exists(file)) {
    return Error{"exists already", file, "choose another --out, or replace it with --force"};
  }
  const Profile profile{file, fs::absolute(file + ".spool").string()};
  // Made here, so that a folder that cannot be written to is known before the program runs.
  BENCH_ASSIGN_OR_RETURN([[maybe_unused]] RecordFile spool,
                         RecordFile::create(profile.spool, Existing::replace));
  return profile;
}

ProfileHeader header_of(const Arguments& arguments, const ReadReport& read,
                        const std::string& started) {
  ProfileHeader header{std::string(tool_version()), started, read.facts};
  header.details["command"] = fmt::format("{}", fmt::join(arguments.inputs, " "));
  if (!arguments.windows.empty()) {
    header.details["window"] = fmt::format("{}", fmt::join(arguments.windows, " "));
  }
  return header;
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Why nothing lay in the window.
std::string reason_of_window(const CaptureWindow& window, const SpoolReport& report) {
  if (report.window_was_open) {
    return fmt::format("nothing began in the window ({})", describe(window));
  }
  if (window.kind == CaptureWindow::Kind::profiler_api) {
    return "cudaProfilerStart was never seen: the program does not call it, or does not link the "
           "CUDA runtime as a shared library";
  }
  return fmt::format("the window ({}) never opened: {} NVTX range{} began", describe(window),
                     report.ranges_seen, report.ranges_seen == 1 ? "" : "s");
}

// Why a profile holds no activity, for the user.
std::string reason_of_nothing(const CaptureWindow& window, const SpoolReport& report) {
  if (report.processes == 0) {
    return "the program did not load the capture library; a program that is static, setuid or "
           "clears its environment cannot be profiled";
  }
  const bool is_windowed = window.kind != CaptureWindow::Kind::everything;
  if (is_windowed && (report.ranges_seen > 0 || report.lines_of_onednn > 0)) {
    return reason_of_window(window, report);
  }
  if (report.lines_of_onednn > 0) {
    return "oneDNN was loaded but executed no primitive that its verbose mode, as set, tells of";
  }
  if (!report.onednn.empty()) {
    return fmt::format(
        "{} printed nothing: it was never used, was built without verbose mode, or "
        "knows no such level as --onednn-verbose gives",
        *report.onednn.begin());
  }
  return fmt::format("{} process{} ran, and none of them used oneDNN or NVTX", report.processes,
                     report.processes == 1 ? "" : "es");
}

// Takes activities into memory-less nowhere: facts stand in the header, before all activities.
class NoSink final : public ActivitySink {
 public:
  Status take(const Activity&) override { return Done{}; }
};

Result<SpoolReport> read_facts(const std::string& spool) {
  BENCH_ASSIGN_OR_RETURN(auto source, open_text(spool));
  NoSink sink;
  return read_spool(*source, sink, {});
}

// A first pass for what stands behind what it explains.
SpoolOptions options_of(const CaptureWindow& window, NvtxFacts facts, FrameNames& names) {
  SpoolOptions options;
  options.frame_name = [&names](std::string_view frame) { return names.name(frame); };
  options.window = window;
  options.work_of = ops::make_framework_work_of();
  options.facts = std::move(facts);
  return options;
}

Result<SpoolReport> write_profile(const Arguments& arguments, const CaptureWindow& window,
                                  const Profile& profile, const std::string& started) {
  BENCH_ASSIGN_OR_RETURN(SpoolReport facts, read_facts(profile.spool));
  BENCH_ASSIGN_OR_RETURN(
      auto file,
      ActivityFile::create(profile.file, arguments.force ? Existing::replace : Existing::refuse,
                           header_of(arguments, facts.read, started)));
  BENCH_ASSIGN_OR_RETURN(auto source, open_text(profile.spool));
  FrameNames names;
  BENCH_ASSIGN_OR_RETURN(
      SpoolReport report,
      read_spool(*source, *file, options_of(window, std::move(facts.facts), names)));
  BENCH_RETURN_IF_ERROR(file->flush());
  std::error_code ignored;
  fs::remove(profile.spool, ignored);
  return report;
}

void summarise(const SpoolReport& report, const CaptureWindow& window, const Profile& profile,
               Env& env) {
  for (const std::string& note : report.read.notes) *env.err << "bench profile: " << note << '\n';
  if (report.read.damaged + report.read.unknown > 0) {
    *env.err << fmt::format("bench profile: {} damaged and {} unknown lines\n", report.read.damaged,
                            report.read.unknown);
  }
  if (report.read.activities == 0) {
    *env.err << fmt::format("bench profile: nothing captured: {}\n",
                            reason_of_nothing(window, report));
    return;
  }
  std::vector<std::string> parts;
  if (report.executed > 0) {
    parts.push_back(fmt::format("{} executed in {}", counted(report.executed, "primitive"),
                                format_time(report.executed_time)));
  }
  if (report.ranges > 0) parts.push_back(counted(report.ranges, "NVTX range"));
  parts.push_back(fmt::format("{} activit{} in {}", report.read.activities,
                              report.read.activities == 1 ? "y" : "ies", profile.file));
  // Without a primitive the usual table is empty.
  *env.err << fmt::format("bench profile: {}; next: bench analyze {}{}\n", fmt::join(parts, ", "),
                          profile.file, report.executed > 0 ? "" : " --kind range");
}

// Runs the program. Where nothing can be preloaded it runs all the same.
Result<int> run_below_capture(const Arguments& arguments, const std::string& program,
                              const std::optional<std::string>& obstacle, const Profile& profile,
                              Env& env) {
  auto environment = inherited_environment();
  if (!obstacle) {
    CaptureRequest request;
    request.command = arguments.inputs;
    BENCH_ASSIGN_OR_RETURN(request.library, find_capture_library());
    request.spool = profile.spool;
    request.verbose = arguments.onednn_verbose.value_or(kCaptureVerbose);
    request.backtrace = arguments.backtrace ? Backtrace::yes : Backtrace::no;
    const auto other = other_nvtx_tool(request, environment);
    if (other && arguments.verbosity == Verbosity::normal) {
      *env.err << fmt::format(
          "bench profile: {} names {}, which gets the NVTX ranges; unset it to have them here\n",
          capture::kNvtxVariable, *other);
    }
    environment = capture_environment(request, std::move(environment));
  }
  return run_program_to_end(program, arguments.inputs, environment);
}

}  // namespace

ExitStatus profile_command(const Arguments& arguments, Env& env) {
  const auto program =
      find_executable(arguments.inputs[0], env.variable("PATH").value_or("/usr/bin:/bin"));
  if (!program.ok()) {
    return refuse(program.error(), env, static_cast<ExitStatus>(kNotFound));
  }
  const auto window = parse_capture_window(arguments.windows);
  if (!window.ok()) return refuse(window.error(), env, ExitStatus::usage);
  const auto obstacle = preload_obstacle(*program);
  const auto profile = prepare_files(arguments);
  if (!profile.ok()) return refuse(profile.error(), env, ExitStatus::usage);
  const std::string started = env.utc_now();
  const auto status = run_below_capture(arguments, *program, obstacle, *profile, env);
  if (!status.ok() || obstacle) {
    std::error_code ignored;
    fs::remove(profile->spool, ignored);
  }
  if (!status.ok()) return refuse(status.error(), env, ExitStatus::usage);
  // The program's status is ours, whatever becomes of the profile.
  const auto end = static_cast<ExitStatus>(*status);
  if (obstacle) {
    *env.err << fmt::format("bench profile: nothing captured: {}\n", *obstacle);
    return end;
  }
  const auto report = write_profile(arguments, *window, *profile, started);
  if (!report.ok()) return refuse(report.error(), env, end);
  if (arguments.verbosity == Verbosity::normal) summarise(*report, *window, *profile, env);
  return end;
}

}  // namespace bench
