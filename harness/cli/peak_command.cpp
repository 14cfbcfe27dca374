// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/turn.hpp"
#include "harness/config/settings.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/report/peak_text.hpp"
#include "harness/result/report.hpp"
#include "harness/result/report_builder.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/file_sink.hpp"
#include "harness/run/gpu_peak_plan.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/peak_run.hpp"
#include "harness/run/run.hpp"
#include "harness/store/store.hpp"
#include "ops/foreign_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Keeps the records of the run in memory, because the store receives only the ceilings.
class MemorySink final : public RecordSink {
 public:
  Status append(const Record& record) override {
    records_.add(record);
    return Done{};
  }
  Status append_activity(std::string_view /*nothing is profiled*/) override { return Done{}; }
  Report report() const { return records_.report(); }

 private:
  ReportBuilder records_;
};

using namespace std::chrono_literals;

// The configuration of `bench peak`, apart from its cases.
struct PeakConfiguration {
  std::vector<std::string> settings;  // those of each case, as in --set
  PeakLimits limits;
};

// The precision is higher than by default; a lower time limit keeps the command short.
PeakConfiguration complete_configuration() {
  return {{"measure.processes=1", "measure.max_time=600ms", "measure.precision=1%",
           "measure.min_iterations=5", "warmup.time=20ms"},
          {3, 5min}};
}

// The configuration of `bench peak --quick`, which promises 30 s also on a busy machine. The start
// of the program and the end of a step that exceeds the limit take the rest. Each ceiling gets an
// equal part of the time that is left.
PeakConfiguration quick_configuration() {
  return {{"measure.processes=1", "measure.max_time=100ms", "measure.precision=5%",
           "measure.min_iterations=3", "warmup.time=5ms"},
          {2, 22s}};
}

PeakConfiguration peak_configuration(const Arguments& arguments) {
  PeakConfiguration chosen = arguments.quick ? quick_configuration() : complete_configuration();
  if (arguments.budget) chosen.limits.time = *arguments.budget;
  return chosen;
}

// The cases to measure, and facts about the GPU that need no measurement.
struct PeakTargets {
  std::vector<PeakCase> cases;
  GpuPeakFacts gpu;
};

// Returns nullopt after printing the diagnostics.
std::optional<Plan> make_peak_plan(const Arguments& arguments, const std::vector<PeakCase>& cases,
                                   Env& env) {
  Arguments peak_arguments = arguments;
  peak_arguments.quick = false;  // its settings are those of cases, not of ceilings
  peak_arguments.overrides = peak_configuration(arguments).settings;
  for (const PeakCase& entry : cases) peak_arguments.inputs.push_back(entry.id);
  return plan_or_diagnose(peak_arguments, env);
}

std::vector<PeakCase> list_cpu_cases(const Arguments& arguments) {
  const int threads = count_processors(allowed_cores());
  // --filter selects from all loops, since it names what the user wants.
  const bool is_first_look = arguments.quick && arguments.filters.empty();
  return peak_cases(read_cpu(SystemRoot{}), std::max(threads, 1),
                    is_first_look ? PeakExtent::first_look : PeakExtent::complete);
}

constexpr std::string_view kGpuDevice = "cuda";

enum class DeviceChoice { unnamed, named, excluded };

// Returns an error if --device names a device that has no ceilings of its own, such as `cuda:1`.
Status check_devices(const Arguments& arguments) {
  for (const std::string& device : arguments.devices) {
    if (std::ranges::count(device_names(), device) > 0) continue;
    return Error{fmt::format("unknown device {}", quote(device)), "--device",
                 ops::expected_word(device, device_names())};
  }
  return Done{};
}

// Returns whether --device names the device. Without --device, CPU and GPU are measured.
DeviceChoice find_device_choice(const Arguments& arguments, std::string_view device) {
  if (arguments.devices.empty()) return DeviceChoice::unnamed;
  const bool is_named = std::ranges::count(arguments.devices, device) > 0;
  return is_named ? DeviceChoice::named : DeviceChoice::excluded;
}

// Adds the cases of the GPU to `targets`. Returns an error if there is no usable GPU and --device
// names it.
Status add_gpu(const Arguments& arguments, Env& env, PeakTargets& targets) {
  const DeviceChoice choice = find_device_choice(arguments, kGpuDevice);
  if (choice == DeviceChoice::excluded) return Done{};
  const CudaStatus status = ask_cuda(own_path(), {}, ops::cuda::ProbeExtent::devices, env);
  const auto reason = cuda_unavailable_reason(status);
  const ops::cuda::DeviceProperties* device = usable_device(status);
  if (reason || device == nullptr) {
    if (choice == DeviceChoice::unnamed) return Done{};
    return Error{reason.value_or("no CUDA device can run this build's kernels"), "--device cuda",
                 "`bench doctor` shows what is missing"};
  }
  GpuPeaks gpu = gpu_peaks(*device);
  std::ranges::move(gpu.cases, std::back_inserter(targets.cases));
  targets.gpu = {device->name, memory_bandwidth_by_clock(*device), std::move(gpu.left_out)};
  return Done{};
}

Result<PeakTargets> find_targets(const Arguments& arguments, Env& env) {
  PeakTargets targets;
  if (find_device_choice(arguments, "cpu") != DeviceChoice::excluded)
    targets.cases = list_cpu_cases(arguments);
  BENCH_RETURN_IF_ERROR(add_gpu(arguments, env, targets));
  return targets;
}

Result<PeakPart> measure_part(const Plan& plan, Nanoseconds limit, const Arguments& arguments,
                              Env& env) {
  PeakPart part;
  InterruptWatch watch;
  RunOptions options;
  options.worker_program = own_path();
  options.run_id = make_run_id(env);
  options.tool_version = std::string(tool_version());
  options.tool_commit = std::string(tool_commit().value_or(""));
  options.arguments = arguments.command_line;
  options.budget = limit;
  options.interrupted = [&watch] { return watch.is_interrupted(); };
  MemorySink sink;
  auto progress = make_progress(arguments.verbosity, env);
  BENCH_ASSIGN_OR_RETURN(part.summary, execute_plan(plan, options, sink, *progress, env));
  progress.reset();
  part.report = sink.report();
  return part;
}

// Returns the ids of the ceilings that are measured first.
std::vector<std::string> list_most_valuable(const std::vector<PeakCase>& cases) {
  const CpuFacts cpu = read_cpu(SystemRoot{});
  int threads = 1;
  for (const PeakCase& entry : cases) threads = std::max(threads, entry.threads);
  std::vector<std::string> ids;
  for (const PeakCase& entry : peak_cases(cpu, threads, PeakExtent::first_look))
    ids.push_back(entry.id);
  for (const PeakCase& entry : cases) {
    if (!entry.gpu.empty() && is_most_valuable_gpu_peak(entry)) ids.push_back(entry.id);
  }
  return ids;
}

const CaseRecord* find_case(const Report& report, const std::string& id) {
  const auto found = std::ranges::find(report.cases, id, &CaseRecord::id);
  return found == report.cases.end() ? nullptr : &*found;
}

// Returns a line for each case that should have a ceiling but has none. Omits loops that the CPU
// does not support, and those that a stopped run did not reach, which its last message counts. An
// unsupported case of the GPU is listed, because a library may be missing.
std::vector<std::string> list_missing_peaks(const PeakRun& run) {
  std::vector<std::string> lines;
  for (const CaseRecord& record : run.report.cases) {
    const bool is_loop_unsupported =
        record.outcome == Outcome::unsupported && record.device != kGpuDevice;
    const bool is_unreached = record.outcome == Outcome::skipped && run.summary.stopped_by;
    if (record.outcome == Outcome::ok || is_loop_unsupported || is_unreached) continue;
    lines.push_back(fmt::format("{}: {}: {}", record.id, to_string(record.outcome),
                                record.reason.value_or("")));
  }
  return lines;
}

bool has_disturbed_case(const PeakRun& run) {
  return std::ranges::any_of(
      run.report.cases, [](const CaseRecord& record) { return has_flag(record, Flag::disturbed); });
}

// Returns a configuration that has cases on the measured devices.
std::string_view choose_example(const PeakTargets& targets) {
  const bool only_gpu =
      std::ranges::none_of(targets.cases, [](const PeakCase& entry) { return entry.gpu.empty(); });
  return only_gpu ? "configs/gpu_shapes.yaml" : "configs/quick.yaml";
}

// Returns the names of the ceilings without a value because no time was left for them: "copy_nt
// dram (1 thread)".
std::string list_unreached(const PeakTargets& targets, const PeakRun& run) {
  std::string names;
  for (const PeakCase& entry : targets.cases) {
    const CaseRecord* record = find_case(run.report, entry.id);
    const bool is_cut = record != nullptr && record->outcome == Outcome::skipped;
    if (!is_cut && std::ranges::find(run.unreached, entry.id) == run.unreached.end()) continue;
    const std::string where = entry.gpu.empty() ? pluralise(entry.threads, "thread") : "GPU";
    names += fmt::format("{}{}{}{} ({})", names.empty() ? "" : ", ", entry.name,
                         entry.level.empty() ? "" : " ", entry.level, where);
  }
  return names;
}

// Returns what a stopped run lacks; empty if it lacks nothing.
std::string incomplete_note(const PeakTargets& targets, const PeakRun& run,
                            const Arguments& arguments) {
  const auto measured = std::ssize(run.records);
  const auto cut_short = std::ranges::count_if(run.report.cases, [](const CaseRecord& record) {
    return record.outcome == Outcome::ok && has_flag(record, Flag::interrupted);
  });
  const bool is_complete = measured >= run.summary.cases && cut_short == 0;
  if (!run.summary.stopped_by || is_complete) return "";
  const bool is_limit = run.summary.stopped_by == StopCause::budget;
  const std::string unreached = list_unreached(targets, run);
  return fmt::format(
      "Only {} of {} ceilings were measured{}, so that cases may exceed them{}.{}", measured,
      run.summary.cases,
      cut_short > 0 ? fmt::format(" ({} in fewer processes than planned)", cut_short) : "",
      !is_limit         ? "; `bench peak` measures the others"
      : arguments.quick ? "; without --quick, `bench peak` measures all"
                        : "; a longer `--budget` measures the others",
      unreached.empty() ? "" : " Not measured: " + unreached + ".");
}

// Returns the sentences on what the ceilings lack and how certain they are.
std::vector<Note> peak_notes(const PeakTargets& targets, const PeakRun& run,
                             const Arguments& arguments) {
  std::vector<Note> notes;
  const auto add = [&](NoteTopic topic, std::string text) {
    if (!text.empty()) notes.push_back({topic, std::move(text)});
  };
  add(NoteTopic::quality, gpu_bandwidth_note(run.records, targets.gpu));
  add(NoteTopic::validity, incomplete_note(targets, run, arguments));
  if (!run.records.empty() && !run.records.front().beside.empty()) {
    add(NoteTopic::validity,
        "Ceilings may be too low. " + beside_sentence(run.records.front().beside));
  }
  if (has_disturbed_case(run)) {
    add(NoteTopic::certainty,
        "Other programs or neighbours disturbed some loops, whose ceilings may be too low; each "
        "further `bench peak` can only raise a ceiling.");
  }
  for (const RaisedCeiling& row : run.raised)
    add(NoteTopic::other, raised_ceiling_note(row.measured, row.one_thread));
  return notes;
}

void print_peaks(const PeakTargets& targets, const PeakRun& run, const std::string& path,
                 const Arguments& arguments, Env& env) {
  const std::vector<PeakRecord>& records = run.records;
  if (arguments.output == Output::json) {
    *env.out << peak_json(records, targets.gpu);
    if (const std::string note = incomplete_note(targets, run, arguments); !note.empty())
      print_sentence(env, "bench peak: " + note);
    for (const RaisedCeiling& row : run.raised)
      print_sentence(env, "bench peak: " + raised_ceiling_note(row.measured, row.one_thread));
    return;
  }
  const ConsoleOptions console = console_options(env);
  *env.out << wrap(peak_sentence(records), console.width, 0) << '\n'
           << peak_table(records, console) << left_out_ceilings(targets.gpu, console);
  // Measuring again could give other notes, so no command is named.
  const std::string notes =
      format_notes(peak_notes(targets, run, arguments), {arguments.notes, ""}, console.width, "");
  if (!notes.empty()) *env.out << '\n' << notes;
  // A run looks for ceilings in the default store, unless it names another one.
  const std::string store =
      arguments.baseline ? " --baseline " + shell_quoted(*arguments.baseline) : "";
  *env.out << fmt::format(
      "\nStored in {}\nTo see how near each case comes to them:\n  {} run {}{}\n", printable(path),
      arguments.program, choose_example(targets), store);
}

}  // namespace

ExitStatus peak_command(const Arguments& arguments, Env& env) {
  const BaselineStore store(store_folder(arguments.baseline));
  if (const auto foreign = store.foreign_content())
    return fail("peak", *foreign, ExitStatus::usage, env);
  const std::string machine = machine_class(read_cpu(SystemRoot{}));
  if (const Status status = store.check_peaks(machine); !status)
    return fail("peak", status.error(), ExitStatus::usage, env);
  if (const Status devices = check_devices(arguments); !devices)
    return fail("peak", devices.error(), ExitStatus::usage, env);
  auto targets = find_targets(arguments, env);
  if (!targets.ok()) return fail("peak", targets.error(), ExitStatus::not_measured, env);
  const auto plan = make_peak_plan(arguments, targets->cases, env);
  if (!plan) return ExitStatus::usage;
  const PeakLimits limits = peak_configuration(arguments).limits;
  const auto turn = take_turn(arguments, limits.time, env);
  if (!turn.ok()) return fail("peak", turn.error(), kNoTurn, env);
  auto run = measure_peaks(
      *plan, targets->cases, list_most_valuable(targets->cases), limits,
      [&](const Plan& part, Nanoseconds limit) {
        return measure_part(part, limit, arguments, env);
      },
      *env.clock);
  if (!run.ok()) return fail("peak", run.error(), ExitStatus::not_measured, env);
  for (PeakRecord& record : run->records) record.beside = turn->all();
  for (const std::string& line : list_missing_peaks(*run))
    print_sentence(env, "bench peak: " + line);
  const auto path = store.add_peaks(run->records);
  if (!path.ok()) return fail("peak", path.error(), ExitStatus::not_measured, env);
  print_peaks(*targets, *run, *path, arguments, env);
  const std::string stop = format_stop(run->summary);
  if (!stop.empty()) print_sentence(env, "bench peak: " + stop);
  const bool incomplete = run->summary.any_failed || run->summary.any_unmeasured;
  return incomplete ? ExitStatus::not_measured : ExitStatus::success;
}

}  // namespace bench
