// SPDX-License-Identifier: Apache-2.0
// `bench profile`: runs any program, unchanged, with the capture library.
#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/profile_merge.hpp"
#include "harness/cli/profile_messages.hpp"
#include "harness/cli/profile_output.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/turn.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/process.hpp"
#include "harness/result/report.hpp"
#include "profiler/capture/launch.hpp"
#include "profiler/capture/perf_recorder.hpp"
#include "profiler/capture/spool_format.hpp"
#include "profiler/clock_pair.hpp"
#include "profiler/nvtx/window.hpp"
#include "profiler/rank.hpp"
#include "profiler/recorder.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {
namespace {

namespace fs = std::filesystem;

// Exit status if the program is not found or cannot be run. Shells and env(1) use it for a program
// that is not found.
constexpr int kNotFound = 127;

// Returns the path of one of this tool's libraries. Searches relative to the program, in an
// installed tree and in a build.
Result<std::string> find_library(std::string_view name) {
  const fs::path folder = fs::path(own_path()).parent_path();
  std::vector<std::string> tried;
  for (const char* subfolder : {"../lib/bench", "lib/bench"}) {
    const std::string file = (folder / subfolder / name).lexically_normal().string();
    if (fs::exists(file)) return file;
    tried.push_back(file);
  }
  return Error{
      "the capture library is missing", fmt::format("{}", fmt::join(tried, ", ")),
      "./bench in the source checkout builds it; `cmake --install` installs it with the program"};
}

Result<std::string> find_capture_library() {
  BENCH_ASSIGN_OR_RETURN(std::string file, find_library("libbench_capture.so"));
  // In LD_PRELOAD, the loader treats spaces and colons as separators and has no escape.
  if (file.find_first_of(" :") == std::string::npos) return file;
  return Error{
      "is in a folder whose name has a space or a colon, which LD_PRELOAD does not support", file,
      "install this tool elsewhere"};
}

// Returns the path of the spool while the program runs. It is in the folder of the profile, so that
// the user finds it if the program is killed. If the profile is a device, it is in the scratch
// folder.
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
      arguments.out.value_or(default_profile_name(find_rank(env.variable), current_process()));
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  BENCH_RETURN_IF_ERROR(check_output(file, existing));
  BENCH_RETURN_IF_ERROR(check_profile_files(file, switches, arguments));
  CaptureFiles files{file, spool_path(file, env)};
  if (const auto spool = find_leftover_spool(files); spool && !arguments.force) {
    return Error{"was left by a profile that was killed", *spool,
                 "`bench analyze` reads it; replace it with --force or choose another --out"};
  }
  remove_spools(files);
  // Created here, so that an unwritable folder is detected before the program runs.
  BENCH_RETURN_IF_ERROR(write_file(files.spool, "", Existing::replace));
  return files;
}

// When the recording began, for readers of the profile.
struct RecordingStart {
  std::string utc;
  ClockPair clocks;
};

ClockPair read_clocks(const Env& env) {
  RealtimeClock realtime;
  return read_clock_pair(realtime, *env.clock);
}

// Call this after the program ended: the header states the clocks at the end, too.
ProfileHeader make_header(const Arguments& arguments, const CaptureSettings& settings,
                          const MachineTurn& turn, const RecordingStart& started, const Env& env) {
  ProfileHeader header{std::string(tool_version()), started.utc, {}};
  describe_clocks({started.clocks, read_clocks(env), read_boot_id()}, header.details);
  if (const auto rank = find_rank(env.variable)) describe_rank(*rank, header.details);
  // `bench analyze` finds the ceilings of the machine by its class.
  header.details["machine_class"] = machine_class(read_cpu(SystemRoot{}));
  header.details["command"] = fmt::format("{}", fmt::join(arguments.inputs, " "));
  if (const auto others = turn.all(); !others.empty())
    header.details["beside"] = fmt::format("{}", fmt::join(others, "; "));
  if (settings.window.kind != CaptureWindow::Kind::all) {
    header.details["window"] = describe(settings.window);
  }
  if (settings.sample_rate > 0) {
    header.details["sample_rate"] = fmt::format("{}", settings.sample_rate);
  }
  if (!settings.sampled_by.empty()) header.details["samples"] = settings.sampled_by;
  return header;
}

// Returns the switches of the environment, overridden by those of the options. Returns an error if
// no group of activities remains to be recorded.
Result<ProfileSwitches> make_switches(const Arguments& arguments, const Env& env) {
  ProfileSwitches switches;
  BENCH_RETURN_IF_ERROR(apply_environment(env.variable, switches));
  for (const auto& [name, value] : arguments.profile.switches) {
    BENCH_RETURN_IF_ERROR(find_switch(name)->apply(switches, value));
    if (name == "kinds" && switches.groups.contains(RecordGroup::counters)) {
      return Error{"`bench profile` reads no counters", "--profile",
                   "omit `counters`; `bench run --profile=counters` reads them for its cases"};
    }
  }
  // The variables of the environment may be for `bench run` as well.
  switches.groups.erase(RecordGroup::counters);
  if (!switches.groups.empty()) return switches;
  return Error{"the environment requests only counters, which `bench profile` does not read",
               "BENCH_PROFILE_KINDS", "choose other kinds with --profile=KINDS"};
}

// Returns the window of --window. If iterations are requested, their numbers become the window's
// range numbers, because a program has no other iterations. If --window already has range numbers
// or uses the profiler API, iterations from the environment have no effect, and
// --profile-iterations is an error.
Result<CaptureWindow> make_capture_window(const Arguments& arguments,
                                          const ProfileSwitches& switches) {
  BENCH_ASSIGN_OR_RETURN(CaptureWindow window, parse_capture_window(arguments.windows));
  if (!switches.iterations) return window;
  if (window.numbers || window.kind == CaptureWindow::Kind::profiler_api) {
    const bool is_asked_twice = std::ranges::any_of(
        arguments.profile.switches, [](const auto& entry) { return entry.first == "iterations"; });
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
    names.push_back(to_string(group));
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
  request.kinds = format_kinds(switches.groups);
  request.dump_period = fmt::format("{}ns", switches.dump_period.count());
  const auto cuda = find_library("libbench_cuda_injection.so");
  if (cuda.ok() && records_devices(switches.groups)) request.cuda_library = *cuda;
  return request;
}

std::string describe_sampling(PerfExtent extent) {
  return extent == PerfExtent::user
             ? "perf events: the programs' own code, not the kernel's (docs/profiler.md)"
             : "perf events: the programs' own code and the kernel's";
}

// How a program is sampled.
struct ProgramSampling {
  std::unique_ptr<PerfRecorder> recorder;  // nullptr: by the preloaded library, or not at all
  std::optional<Nanoseconds> timer_period;
  std::string words;  // CaptureSettings::sampled_by
};

// Starts sampling if it is requested: by the system if it permits that, else by the preloaded
// library. Returns an error if the user demands the system, and it does not permit that.
Result<ProgramSampling> start_sampling(const Arguments& arguments, const CaptureFiles& files) {
  ProgramSampling sampling;
  if (!arguments.sample) return sampling;
  const Nanoseconds period(1'000'000'000 / *arguments.sample);
  std::string reason = "--sample-by timer";
  if (arguments.sample_by != SampleSource::timer) {
    auto recorder = PerfRecorder::start(files.spool + capture::kSampleSpoolSuffix, period);
    if (recorder.ok()) {
      sampling.recorder = std::move(*recorder);
      sampling.words = describe_sampling(sampling.recorder->extent());
      return sampling;
    }
    if (arguments.sample_by) {
      return Error{fmt::format("the system does not permit it: {}", recorder.error().message()),
                   "--sample-by perf_events",
                   "omit it to sample by a timer, or allow it: sudo sysctl "
                   "kernel.perf_event_paranoid=2"};
    }
    reason = recorder.error().message();
  }
  sampling.timer_period = period;
  sampling.words = fmt::format(
      "a timer of each thread ({}): time in the kernel counts where it was called", reason);
  return sampling;
}

// Runs the program with the capture library and returns its exit status. Stores in `cuda` which
// libraries the CUDA driver was asked to load.
Result<int> run_under_capture(const CaptureRequest& request, const std::string& program,
                              Verbosity verbosity, CudaCapture& cuda, Env& env) {
  auto environment = inherited_environment();
  include_in_turn(environment);
  const auto report_other_tool = [&](const char* variable, const std::optional<std::string>& tool,
                                     std::string_view records) {
    if (!tool || verbosity != Verbosity::normal) return;
    print_sentence(
        env, fmt::format(
                 "bench profile: {} names {}, which receives the {}; unset it to record them here",
                 variable, *tool, records));
  };
  report_other_tool(capture::kNvtxVariable, other_nvtx_tool(request, environment), "NVTX ranges");
  cuda = {request.cuda_library, other_cuda_tool(request, environment)};
  report_other_tool(capture::kCudaVariable, cuda.other_tool, "GPU activities");
  return run_program_to_end(program, request.command,
                            capture_environment(request, std::move(environment)),
                            env.inherited_signals);
}

// Everything that a capture needs; checked completely before the program runs.
struct Preparation {
  std::string program;
  std::optional<std::string> obstacle;  // why the library cannot be preloaded
  ProfileSwitches switches;
  CaptureSettings settings;
  CaptureFiles files;
  CaptureRequest request;  // valid if there is no obstacle
};

Result<Preparation> prepare(const Arguments& arguments, const std::string& program,
                            const Env& env) {
  Preparation preparation;
  preparation.program = program;
  preparation.obstacle = preload_obstacle(program);
  BENCH_ASSIGN_OR_RETURN(preparation.switches, make_switches(arguments, env));
  if (!preparation.switches.records(RecordGroup::memory)) preparation.switches.sample_rate = 0;
  preparation.settings = {
      preparation.switches.groups, {}, {}, preparation.switches.sample_rate, arguments.program};
  BENCH_ASSIGN_OR_RETURN(preparation.settings.window,
                         make_capture_window(arguments, preparation.switches));
  BENCH_ASSIGN_OR_RETURN(preparation.files, prepare_files(arguments, preparation.switches, env));
  if (preparation.obstacle) return preparation;
  auto request = make_capture_request(arguments, preparation.switches, preparation.files);
  if (!request.ok()) {
    remove_spools(preparation.files);
    return std::move(request).error();
  }
  preparation.request = std::move(request).value();
  return preparation;
}

// Runs the program with or, if there is an obstacle, without the capture library, and ends the
// sampling. Adds to the settings what is known only then.
Result<int> run_sampled(const Arguments& arguments, Preparation& prepared, ProgramSampling sampling,
                        Env& env) {
  CaptureSettings& settings = prepared.settings;
  settings.obstacle = prepared.obstacle;
  settings.sampled_by = sampling.words;
  settings.started = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  prepared.request.sample_period = sampling.timer_period;
  const Nanoseconds start = env.clock->now();
  auto status = prepared.obstacle
                    ? run_program_to_end(prepared.program, arguments.inputs,
                                         inherited_environment(), env.inherited_signals)
                    : run_under_capture(prepared.request, prepared.program, arguments.verbosity,
                                        settings.cuda, env);
  settings.program_times = ProgramTimes{start, env.clock->now()};
  settings.clock = env.clock;
  if (sampling.recorder != nullptr) {
    if (const Status stopped = sampling.recorder->stop(); !stopped.ok())
      settings.sampled_by += fmt::format("; incomplete: {}", stopped.error().message());
  }
  return status;
}

// Audits the profile as it is on disk. A pipe or device cannot be read again.
std::string audit_written(const std::string& profile, const Env& env) {
  std::error_code code;
  if (!fs::is_regular_file(profile, code)) return "";
  const auto audit = audit_profile(profile);
  if (!audit.ok())
    return fmt::format("the profile cannot be audited: {}\n", audit.error().message());
  constexpr std::size_t kPrefix = std::string_view("bench profile: ").size();
  auto width = limited_width(env);
  if (width) *width = std::max(*width, 2 * kPrefix) - kPrefix;
  return format_verdict(*audit, width);
}

// Writes the profile from the records and prints the summary. Returns `program_status` even if this
// fails.
ExitStatus write_profile(const Arguments& arguments, const Preparation& prepared,
                         const MachineTurn& turn, const RecordingStart& started,
                         ExitStatus program_status, Env& env) {
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  const CaptureSettings& settings = prepared.settings;
  auto outcome = merge_capture(prepared.files, existing,
                               make_header(arguments, settings, turn, started, env), settings);
  if (!outcome.ok()) {
    const std::string spool_next_to_profile = prepared.files.profile + std::string(kSpoolSuffix);
    const bool is_next_to_profile =
        fs::absolute(spool_next_to_profile).string() == prepared.files.spool;
    print_sentences(
        env, merge_failure(outcome.error(), settings,
                           is_next_to_profile ? spool_next_to_profile : prepared.files.spool));
    return program_status;
  }
  if (arguments.verbosity == Verbosity::normal) {
    outcome->verdict = audit_written(prepared.files.profile, env);
    print_sentences(env, capture_summary(*outcome, settings, prepared.files.profile));
    if (const std::string beside = beside_sentence(turn.all()); !beside.empty())
      print_sentence(env, "bench profile: " + beside);
  }
  const Status written =
      write_profile_files(prepared.files.profile, prepared.switches, arguments, env);
  return written.ok() ? program_status : fail("profile", written.error(), program_status, env);
}

// Runs the program without capturing anything and returns its exit status. Prints `reason` if it is
// not empty.
ExitStatus run_unprofiled(const Arguments& arguments, const std::string& program,
                          std::string_view reason, Env& env) {
  const auto status =
      run_program_to_end(program, arguments.inputs, inherited_environment(), env.inherited_signals);
  if (!status.ok()) return fail("profile", status.error(), ExitStatus::usage, env);
  if (!reason.empty())
    print_sentence(env, fmt::format("bench profile: nothing captured: {}", reason));
  return static_cast<ExitStatus>(*status);
}

// Returns an error if the program is a command of this one that measures: its worker processes have
// an environment of their own, so nothing can be recorded in them from outside.
Status refuse_own_command(const Arguments& arguments, const std::string& program) {
  constexpr std::array<std::string_view, 3> kMeasuring = {"run", "gate", "duet"};
  std::error_code ignored;
  if (arguments.inputs.size() < 2 || !fs::equivalent(program, own_path(), ignored)) return Done{};
  const std::string& command = arguments.inputs[1];
  if (std::ranges::find(kMeasuring, command) == kMeasuring.end()) return Done{};
  return Error{fmt::format("records nothing of `bench {}`, which executes its cases in worker "
                           "processes with an environment of their own",
                           command),
               "", "`bench run --profile CONFIG` records the cases"};
}

}  // namespace

ExitStatus profile_command(const Arguments& arguments, Env& env) {
  const auto program =
      find_executable(arguments.inputs[0], env.variable("PATH").value_or("/usr/bin:/bin"));
  if (!program.ok()) {
    return fail("profile", program.error(), static_cast<ExitStatus>(kNotFound), env);
  }
  if (arguments.profile.mode == ProfileArguments::Mode::disabled) {
    const bool is_quiet = arguments.verbosity == Verbosity::quiet;
    return run_unprofiled(arguments, *program, is_quiet ? "" : "--no-profile", env);
  }
  if (const Status status = refuse_own_command(arguments, *program); !status.ok())
    return fail("profile", status.error(), ExitStatus::usage, env);
  auto prepared = prepare(arguments, *program, env);
  if (!prepared.ok()) return fail("profile", prepared.error(), ExitStatus::usage, env);
  auto sampling = start_sampling(arguments, prepared->files);
  if (!sampling.ok()) {
    remove_spools(prepared->files);
    return fail("profile", sampling.error(), ExitStatus::usage, env);
  }
  // The system samples also programs into which nothing can be loaded.
  if (prepared->obstacle && sampling->recorder == nullptr) {
    remove_spools(prepared->files);
    return run_unprofiled(arguments, *program, *prepared->obstacle, env);
  }
  const auto turn = take_turn(arguments, std::nullopt, env);
  if (!turn.ok()) {
    remove_spools(prepared->files);
    return fail("profile", turn.error(), kNoTurn, env);
  }
  const RecordingStart started{env.utc_now(), read_clocks(env)};
  const auto status = run_sampled(arguments, *prepared, *std::move(sampling), env);
  if (!status.ok()) {
    remove_spools(prepared->files);
    return fail("profile", status.error(), ExitStatus::usage, env);
  }
  return write_profile(arguments, *prepared, *turn, started, static_cast<ExitStatus>(*status), env);
}

}  // namespace bench
