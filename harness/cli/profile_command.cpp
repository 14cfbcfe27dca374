// SPDX-License-Identifier: Apache-2.0
// `bench profile`: runs any program, unchanged, with the capture library.
#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/profile_merge.hpp"
#include "harness/cli/profile_messages.hpp"
#include "harness/cli/profile_output.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/process.hpp"
#include "profiler/capture/launch.hpp"
#include "profiler/capture/spool_format.hpp"
#include "profiler/nvtx/window.hpp"
#include "profiler/recorder.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

namespace fs = std::filesystem;

// Used by shells and wrappers such as env(1): the program was not found, or could not be run.
constexpr int kNotFound = 127;

// Searches near this program, in an installed tree or in a build.
Result<std::string> find_library(std::string_view name) {
  const fs::path folder = fs::path(own_path()).parent_path();
  std::vector<std::string> tried;
  for (const char* place : {"../lib/bench", "lib/bench"}) {
    const std::string file = (folder / place / name).lexically_normal().string();
    if (fs::exists(file)) return file;
    tried.push_back(file);
  }
  return Error{
      "the capture library is missing", fmt::format("{}", fmt::join(tried, ", ")),
      "./bench in the source checkout builds it; `cmake --install` installs it with the program"};
}

Result<std::string> find_capture_library() {
  BENCH_ASSIGN_OR_RETURN(std::string file, find_library("libbench_capture.so"));
  // The loader treats both as separators in LD_PRELOAD and has no escape for them.
  if (file.find_first_of(" :") == std::string::npos) return file;
  return Error{
      "is in a folder whose name has a space or a colon, which LD_PRELOAD does not support", file,
      "install this tool elsewhere"};
}

// The path of the spool while the program runs: in the folder of the profile, so that it is found
// after a kill. If the profile is a device, it is in another folder.
std::string spool_path(const std::string& profile, const Env& env) {
  std::error_code code;
  const fs::file_status status = fs::status(profile, code);
  if (!fs::exists(status) || fs::is_regular_file(status)) {
    return fs::absolute(profile + std::string(kSpoolSuffix)).string();
  }
  const std::string name = fmt::format("profile-{}.jsonl{}", current_process(), kSpoolSuffix);
  return fs::absolute(fs::path(scratch_folder(env)) / name).string();
}

Result<CaptureFiles> prepare_files(const Arguments& arguments, const ProfileSwitches& switches,
                                   const Env& env) {
  const std::string file =
      arguments.out.value_or(fmt::format("profile-{}.jsonl", current_process()));
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  BENCH_RETURN_IF_ERROR(check_output(file, existing));
  BENCH_RETURN_IF_ERROR(check_profile_files(file, switches, arguments));
  CaptureFiles files{file, spool_path(file, env)};
  if (const auto left = left_over_spool(files); left && !arguments.force) {
    return Error{"was left by a profile that was killed", *left,
                 "`bench analyze` reads it; replace it with --force or choose another --out"};
  }
  remove_spools(files);
  // Created here, so that an unwritable folder is detected before the program runs.
  BENCH_RETURN_IF_ERROR(write_file(files.spool, "", Existing::replace));
  return files;
}

ProfileHeader make_header(const Arguments& arguments, const CaptureQuestion& question,
                          const std::string& started) {
  ProfileHeader header{std::string(tool_version()), started, {}};
  // `bench analyze` finds the ceilings of the machine by its class.
  header.details["machine_class"] = machine_class(read_cpu(SystemRoot{}));
  header.details["command"] = fmt::format("{}", fmt::join(arguments.inputs, " "));
  if (question.window.kind != CaptureWindow::Kind::all) {
    header.details["window"] = describe(question.window);
  }
  if (question.sample_rate > 0) {
    header.details["sample_rate"] = fmt::format("{}", question.sample_rate);
  }
  return header;
}

// The groups to record: from the environment, then from the options.
Result<ProfileSwitches> make_switches(const Arguments& arguments, const Env& env) {
  ProfileSwitches switches;
  BENCH_RETURN_IF_ERROR(apply_environment(env.variable, switches));
  for (const auto& [name, value] : arguments.profile.switches) {
    BENCH_RETURN_IF_ERROR(find_switch(name)->apply(switches, value));
  }
  switches.kinds.erase(RecordGroup::counters);  // only available in `bench run`
  if (!switches.kinds.empty()) return switches;
  return Error{"nothing is requested that can be recorded here", "--profile",
               "counters are read by `bench run --profile`"};
}

// The iterations of an unknown program are the ranges that a window counts. If --window already
// selects them, the environment variable has no effect.
Result<CaptureWindow> make_capture_window(const Arguments& arguments,
                                          const ProfileSwitches& switches) {
  BENCH_ASSIGN_OR_RETURN(CaptureWindow window, parse_capture_window(arguments.windows));
  if (!switches.iterations) return window;
  if (window.numbers || window.kind == CaptureWindow::Kind::profiler_api) {
    const bool is_asked_twice = std::ranges::any_of(
        arguments.profile.switches, [](const auto& one) { return one.first == "iterations"; });
    if (!is_asked_twice) return window;
    return Error{"both select the ranges to record", "--window and --profile-iterations",
                 "give one of them; --window nvtx:NAME goes with either"};
  }
  window.kind = CaptureWindow::Kind::by_range;
  window.numbers = RangeNumbers{switches.iterations->first, switches.iterations->last};
  return window;
}

std::string format_kinds(const std::set<RecordGroup>& kinds) {
  std::vector<std::string_view> names;
  for (const RecordGroup group : kinds) {
    names.push_back(record_group_names()[static_cast<std::size_t>(group)]);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

Result<CaptureRequest> make_capture_request(const Arguments& arguments,
                                            const ProfileSwitches& switches,
                                            const CaptureFiles& files) {
  CaptureRequest request;
  request.command = arguments.inputs;
  BENCH_ASSIGN_OR_RETURN(request.library, find_capture_library());
  request.spool = files.spool;
  request.verbose = arguments.onednn_verbose.value_or(kCaptureVerbose);
  request.backtrace = arguments.backtrace ? Backtrace::yes : Backtrace::no;
  if (switches.sample_rate > 0) request.resident = ResidentMemory::yes;
  request.kinds = format_kinds(switches.kinds);
  request.dump_period = fmt::format("{}ns", switches.dump_period.count());
  const auto cuda = find_library("libbench_cuda_injection.so");
  if (cuda.ok() && records_devices(switches.kinds)) request.cuda_library = *cuda;
  return request;
}

// Runs the program with the capture library. Stores in `cuda` what the driver should have loaded.
Result<int> run_below_capture(const CaptureRequest& request, const std::string& program,
                              Verbosity verbosity, CudaCapture& cuda, Env& env) {
  auto environment = inherited_environment();
  const auto tell = [&](const char* variable, const std::optional<std::string>& tool,
                        std::string_view what) {
    if (!tool || verbosity != Verbosity::normal) return;
    print_line(
        *env.err,
        fmt::format(
            "bench profile: {} names {}, which receives the {}; unset it to record them here",
            variable, *tool, what));
  };
  tell(capture::kNvtxVariable, other_nvtx_tool(request, environment), "NVTX ranges");
  cuda = {request.cuda_library, other_cuda_tool(request, environment)};
  tell(capture::kCudaVariable, cuda.other_tool, "GPU activities");
  return run_program_to_end(program, request.command,
                            capture_environment(request, std::move(environment)));
}

// All settings of a capture, checked completely before the program runs.
struct Preparation {
  std::string program;
  std::optional<std::string> obstacle;  // why the capture is impossible
  ProfileSwitches switches;
  CaptureQuestion question;
  CaptureFiles files;
  CaptureRequest request;  // valid if there is no obstacle
};

Result<Preparation> prepare(const Arguments& arguments, const std::string& program,
                            const Env& env) {
  Preparation all;
  all.program = program;
  all.obstacle = preload_obstacle(program);
  BENCH_ASSIGN_OR_RETURN(all.switches, make_switches(arguments, env));
  if (!all.switches.records(RecordGroup::memory)) all.switches.sample_rate = 0;
  all.question = {all.switches.kinds, {}, {}, all.switches.sample_rate, arguments.program};
  BENCH_ASSIGN_OR_RETURN(all.question.window, make_capture_window(arguments, all.switches));
  BENCH_ASSIGN_OR_RETURN(all.files, prepare_files(arguments, all.switches, env));
  if (all.obstacle) return all;
  auto request = make_capture_request(arguments, all.switches, all.files);
  if (!request.ok()) {
    remove_spools(all.files);
    return std::move(request).error();
  }
  all.request = std::move(request).value();
  return all;
}

// Returns the program's own status, even if the profile fails.
ExitStatus report(const Arguments& arguments, const Preparation& prepared,
                  const std::string& started, ExitStatus end, Env& env) {
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  const CaptureQuestion& question = prepared.question;
  const auto outcome =
      merge_capture(prepared.files, existing, make_header(arguments, question, started), question);
  if (!outcome.ok()) {
    const std::string beside = prepared.files.profile + std::string(kSpoolSuffix);
    const bool is_beside = fs::absolute(beside).string() == prepared.files.spool;
    print_lines(*env.err, merge_failure(outcome.error(), question,
                                        is_beside ? beside : prepared.files.spool));
    return end;
  }
  if (arguments.verbosity == Verbosity::normal) {
    print_lines(*env.err, capture_summary(*outcome, question, prepared.files.profile));
  }
  const Status written =
      write_profile_files(prepared.files.profile, prepared.switches, arguments, env);
  return written.ok() ? end : fail("profile", written.error(), end, env);
}

// Runs the program as if it had been called directly.
ExitStatus run_alone(const Arguments& arguments, const std::string& program,
                     std::string_view reason, Env& env) {
  const auto status = run_program_to_end(program, arguments.inputs, inherited_environment());
  if (!status.ok()) return fail("profile", status.error(), ExitStatus::usage, env);
  if (!reason.empty())
    print_line(*env.err, fmt::format("bench profile: nothing captured: {}", reason));
  return static_cast<ExitStatus>(*status);
}

}  // namespace

ExitStatus profile_command(const Arguments& arguments, Env& env) {
  const auto program =
      find_executable(arguments.inputs[0], env.variable("PATH").value_or("/usr/bin:/bin"));
  if (!program.ok()) {
    return fail("profile", program.error(), static_cast<ExitStatus>(kNotFound), env);
  }
  if (arguments.profile.wish == ProfileArguments::Wish::refused) {
    const bool is_quiet = arguments.verbosity == Verbosity::quiet;
    return run_alone(arguments, *program, is_quiet ? "" : "--no-profile", env);
  }
  auto prepared = prepare(arguments, *program, env);
  if (!prepared.ok()) return fail("profile", prepared.error(), ExitStatus::usage, env);
  if (prepared->obstacle) {
    remove_spools(prepared->files);
    return run_alone(arguments, *program, *prepared->obstacle, env);
  }
  const std::string started = env.utc_now();
  const auto status = run_below_capture(prepared->request, *program, arguments.verbosity,
                                        prepared->question.cuda, env);
  if (!status.ok()) {
    remove_spools(prepared->files);
    return fail("profile", status.error(), ExitStatus::usage, env);
  }
  return report(arguments, *prepared, started, static_cast<ExitStatus>(*status), env);
}

}  // namespace bench
