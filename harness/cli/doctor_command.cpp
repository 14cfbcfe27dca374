// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/config/load.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/host/energy_meter.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/perf_events.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/speed_watch.hpp"
#include "ops/blas_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace bench {
namespace {

constexpr Nanoseconds kDoctorWatch = std::chrono::seconds(10);

struct LevelText {
  Finding::Level level;
  std::string_view mark;
  std::string_view colour;
};

constexpr LevelText kLevels[] = {{Finding::Level::good, "ok     ", "\x1b[32m"},
                                 {Finding::Level::note, "note   ", "\x1b[33m"},
                                 {Finding::Level::problem, "PROBLEM", "\x1b[31m"}};

const LevelText& level_text(Finding::Level level) {
  return kLevels[static_cast<std::size_t>(level)];
}

// A library may load and yet compute nothing, for example if it is built for GPUs only.
constexpr const char* kTrialCase = "gemm/forward/m8n8k8/f32/onednn/cpu/hot/t1";

// Computes a small product of matrices and checks the result. Returns why this failed; nullopt if
// it succeeded.
std::optional<std::string> try_computation(Env& env) {
  LoadRequest request;
  request.arguments = {kTrialCase};
  request.read = [](const std::string& path) -> Result<std::string> {
    return Error{"is a case id, not a file", path, ""};
  };
  const auto plan = load_plan(request);
  if (!plan.ok()) return plan.error().front().message();
  ProbeOptions options{own_path(), {}, {}};
  options.on_error_output = [](const std::string&) {};  // the reason of a failure quotes it
  options.check = CheckKind::reference;
  const auto computed = probe_case(plan->cases.front(), options, env);
  if (!computed.ok()) return computed.error().message();
  return computed->refused ? std::optional(computed->refused->reason) : std::nullopt;
}

// Returns the finding about the library that a worker uses for a backend, or nullopt if it uses
// none.
std::optional<Finding> used_library(const WorkerDocument& worker, std::string_view backend,
                                    std::string_view subject) {
  const auto found = std::ranges::find(worker.devices, backend, &WorkerDocument::Device::backend);
  if (found == worker.devices.end() || !found->library) return std::nullopt;
  ops::LibraryReport report{std::string(subject)};
  report.version = found->library->version;
  report.path = found->library->path;
  report.origin = found->library->detail;
  return library_finding(report, Finding::Level::problem);
}

Finding onednn_finding(const Result<WorkerDocument>& description, const std::string& program,
                       Env& env) {
  Finding unusable{Finding::Level::problem, "oneDNN", "", "no case can run on the CPU"};
  if (!description.ok()) {
    unusable.found = description.error().message();
    unusable.remedy = "make a libdnnl.so.3 (oneDNN >= 3.0) findable, e.g. by LD_LIBRARY_PATH";
    return unusable;
  }
  const Finding used =
      used_library(*description, "onednn", unusable.subject)
          .value_or(Finding{Finding::Level::good, unusable.subject, "no device of this backend"});
  const auto failure = try_computation(env);
  if (!failure) return used;
  unusable.found = fmt::format("{} does not compute {}: {}", used.found, kTrialCase, *failure);
  unusable.remedy = fmt::format(
      "build bench against this oneDNN, or make another one with a CPU runtime findable, e.g. by "
      "LD_LIBRARY_PATH; `ONEDNN_VERBOSE=all {} run {}` shows what the library reports",
      program, kTrialCase);
  return unusable;
}

// Describes a library of matrix products, by its row among a worker's devices or missing ones.
Finding blas_finding(const ops::BlasLibrary& library, const WorkerDocument& worker) {
  if (auto used = used_library(worker, library.backend, library.title)) return *std::move(used);
  const auto missing =
      std::ranges::find(worker.missing, library.backend, &WorkerDocument::Device::backend);
  const std::string remedy = ops::blas_remedy(library);
  std::string reason = missing == worker.missing.end() ? "" : missing->reason.value_or("");
  // The reason of a skipped case ends with the remedy, which has a line of its own here.
  if (reason.ends_with("; " + remedy)) reason.resize(reason.size() - remedy.size() - 2);
  return {Finding::Level::note, std::string(library.title), std::move(reason),
          fmt::format("cases with backend: {} are skipped", library.backend), remedy};
}

void add_blas_findings(const Result<WorkerDocument>& description, std::vector<Finding>& findings) {
  if (!description.ok()) return;  // oneDNN's finding says why
  for (const ops::BlasLibrary& library : ops::blas_libraries())
    findings.push_back(blas_finding(library, *description));
}

std::string colour_mark(const LevelText& level) {
  return fmt::format("{}{}\x1b[0m", level.colour, level.mark);
}

// Formats the first sentences: where cases can run here, and what makes their times uncertain.
std::string format_answer(const std::vector<Finding>& findings,
                          const ops::cuda::DeviceProperties* gpu) {
  const bool has_cpu = findings.front().level == Finding::Level::good;  // oneDNN's row is the first
  const std::string devices =
      !has_cpu && gpu == nullptr ? "cannot measure here"
      : !has_cpu ? fmt::format("measures on the GPU {} here, not on the CPU", printable(gpu->name))
      : gpu == nullptr
          ? "measures on the CPU here, not on a GPU"
          : fmt::format("measures on the CPU and on the GPU {} here", printable(gpu->name));
  return fmt::format("bench {} {}. {}", tool_version(), devices, summarize_findings(findings));
}

// What doctor knows. `speed`: nullopt if it did not watch the machine.
struct Diagnosis {
  std::vector<Finding> findings;
  std::optional<SpeedWatch> speed;
};

void print_text(const Diagnosis& diagnosis, const ops::cuda::DeviceProperties* gpu, Env& env) {
  const std::vector<Finding>& findings = diagnosis.findings;
  const bool colour = env.out_is_terminal && env.use_colour();
  const auto width = limited_width(env);
  const std::string answer = format_answer(findings, gpu);
  *env.out << (width ? wrap(answer, *width, 0) : answer + "\n") << '\n';
  std::size_t subject_width = 0;
  for (const Finding& finding : findings)
    subject_width = std::max(subject_width, finding.subject.size());
  for (const Finding& finding : findings) {
    const LevelText& level = level_text(finding.level);
    const std::string margin(level.mark.size() + subject_width + 3, ' ');
    std::string text = fmt::format("{} {:<{}}  {}\n", level.mark, finding.subject, subject_width,
                                   printable(finding.found));
    if (!finding.consequence.empty())
      text += fmt::format("{}so: {}\n", margin, printable(finding.consequence));
    if (!finding.remedy.empty())
      text += fmt::format("{}do: {}\n", margin, printable(finding.remedy));
    if (width) text = fold_lines(text, *width);
    if (colour) text.replace(0, level.mark.size(), colour_mark(level));
    *env.out << text;
  }
  if (diagnosis.speed) *env.out << '\n' << format_speed_histogram(*diagnosis.speed);
}

void print_json(const Diagnosis& diagnosis, Env& env) {
  *env.out << printed_json([&](JsonWriter& writer) {
    writer.required_list("rows", diagnosis.findings, [](JsonWriter& row, const Finding& finding) {
      BENCH_MEMBERS(row, finding, level, subject, found, consequence, remedy);
    });
    if (!diagnosis.speed) return;
    writer.required_list("speeds", diagnosis.speed->states,
                         [](JsonWriter& row, const SpeedState& state) {
                           BENCH_MEMBERS(row, state, canary, share, (is_present, "present"));
                         });
  });
}

// Watches the machine, and adds what it has found.
void watch(Nanoseconds time, const CpuFacts& cpu, Diagnosis& diagnosis, Env& env) {
  const WaitingLine line(fmt::format("observing the machine for {} ...", format_time(time)), env);
  const auto processes = watch_speed(own_path(), time, cpu.last_level, env);
  if (!processes.ok()) {
    diagnosis.findings.push_back({Finding::Level::note, "speeds",
                                  fmt::format("n/a: {}", processes.error().message()),
                                  "it is unknown whether two runs can be compared here", ""});
    return;
  }
  diagnosis.speed = judge_speed(*processes, time);
  std::ranges::move(speed_findings(*diagnosis.speed, time), std::back_inserter(diagnosis.findings));
}

}  // namespace

ExitStatus doctor_command(const Arguments& arguments, Env& env) {
  const SystemRoot root;
  const CpuFacts cpu = read_cpu(root);
  Diagnosis diagnosis{examine(root, cpu), std::nullopt};
  std::vector<Finding>& findings = diagnosis.findings;
  const auto description = describe_worker(own_path(), env);
  findings.insert(findings.begin(), onednn_finding(description, arguments.program, env));
  add_blas_findings(description, findings);
  findings.push_back(perf_events_finding(*make_perf_events()));
  findings.push_back(energy_finding(open_energy_meter("cpu")));
  const CudaStatus cuda = ask_cuda(own_path(), {}, ops::cuda::ProbeExtent::libraries, env);
  for (Finding& finding : examine_cuda(cuda, root, own_privilege())) {
    findings.push_back(std::move(finding));
  }
  const Nanoseconds watch_time = arguments.watch.value_or(kDoctorWatch);
  if (watch_time > Nanoseconds(0)) watch(watch_time, cpu, diagnosis, env);
  if (arguments.output == Output::json) {
    print_json(diagnosis, env);
  } else {
    print_text(diagnosis, usable_device(cuda), env);
  }
  return ExitStatus::success;
}

}  // namespace bench
