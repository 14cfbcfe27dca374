// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/measured_time.hpp"

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/host/environment.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/summary.hpp"
#include "harness/run/devices.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

namespace bench {
namespace {

constexpr const char* kGpuName = "gpu.name";

std::string find_gpu_name(const std::map<std::string, std::string>& details) {
  const auto found = details.find(kGpuName);
  return found == details.end() ? "" : found->second;
}

bool runs_on_gpu(const Case& spec) { return spec.key.device == "cuda"; }

std::string name_gpu(const Case& spec, const MachineIdentity& machine) {
  return runs_on_gpu(spec) ? machine.gpu : "";
}

// Returns why a run in this environment does not describe this machine; nullopt if it does.
std::optional<std::string> find_difference(const Case& spec, const MachineIdentity& machine,
                                           const std::string& machine_class,
                                           const std::map<std::string, std::string>& details) {
  if (machine_class != machine.machine_class) {
    return fmt::format("its time is of the machine class {}, and this is {}",
                       machine_class.empty() ? "n/a" : machine_class, machine.machine_class);
  }
  if (!runs_on_gpu(spec)) return std::nullopt;
  const std::string gpu = find_gpu_name(details);
  if (!machine.gpu.empty() && gpu == machine.gpu) return std::nullopt;
  return fmt::format("its time is of the GPU {}, and this machine has {}",
                     gpu.empty() ? "n/a" : gpu, machine.gpu.empty() ? "none" : machine.gpu);
}

// The stored ceilings count first: those of a run may be calibrated within a moment.
const Roofline* choose_roofline(const MeasuredTime& measured,
                                const std::optional<Roofline>& ideal) {
  if (ideal) return &*ideal;
  return measured.roofline ? &*measured.roofline : nullptr;
}

double compute_efficiency(const MeasuredTime& measured, const Roofline& roofline) {
  return static_cast<double>(roofline.ideal.count()) / static_cast<double>(measured.median.count());
}

Nanoseconds compute_gain(const MeasuredTime& measured, const Roofline& roofline) {
  return std::max(measured.median - roofline.ideal, Nanoseconds(0));
}

// Returns why a gain may be noise of the time; empty if it is certain.
std::string describe_doubt(const MeasuredTime& measured, const Roofline& roofline) {
  if (!measured.doubts.empty()) {
    std::vector<std::string> names;
    for (const Flag flag : measured.doubts) names.push_back(fmt::format("`{}`", to_string(flag)));
    return fmt::format(" This is not certain, since the time is {}.", fmt::join(names, ", "));
  }
  if (!measured.low || !measured.high) {
    return fmt::format(" This is not certain, since the time has no interval: {}.",
                       explain_missing_interval(measured.basis));
  }
  if (*measured.low > roofline.ideal) return "";
  return fmt::format(" This is not certain, since the interval of the time is {} to {}.",
                     format_time(*measured.low), format_time(*measured.high));
}

// Says how good the time is.
std::string format_gain(const MeasuredTime& measured, const Roofline& roofline) {
  const double efficiency = compute_efficiency(measured, roofline);
  const std::string calibrated =
      roofline.source != CeilingSource::calibrated
          ? ""
          : fmt::format(" (calibrated in that run{})", precision_suffix(roofline.precision));
  std::string text = fmt::format(", {:.0f} % of what this machine's ceilings{} permit. ",
                                 100 * efficiency, calibrated);
  const Nanoseconds gain = compute_gain(measured, roofline);
  const std::string_view bound = to_string(roofline.bound);
  if (gain == Nanoseconds(0)) return text + "There is nothing to gain.";
  const std::string doubt = describe_doubt(measured, roofline);
  return text + fmt::format("There {} {} to gain ({:.0f} %): at best it takes {}, bound by {}.{}",
                            doubt.empty() ? "is" : "may be", format_time(gain),
                            100 * (1 - efficiency), format_time(roofline.ideal), bound, doubt);
}

}  // namespace

namespace {

// Sets the interval from the processes, as `bench run` does without canaries.
void set_interval(const MeasuredCase& stored, MeasuredTime& measured) {
  measured.doubts = doubtful_flags(stored.flags);
  std::vector<Nanoseconds> medians;
  for (const double time : iteration_times(stored.processes, &ProcessSummary::median))
    medians.push_back(std::chrono::round<Nanoseconds>(FractionalNanoseconds(time)));
  measured.basis.measured = measured.basis.usable = std::ssize(medians);
  const auto interval = median_interval(medians, kMinIntervalCoverage);
  if (!interval) return;
  measured.low = interval->low;
  measured.high = interval->high;
}

}  // namespace

MachineIdentity find_machine_identity(const Case& spec, Env& env) {
  MachineIdentity machine{machine_class(read_cpu(SystemRoot{})), ""};
  if (!runs_on_gpu(spec)) return machine;
  const CudaStatus status = ask_cuda(own_path(), {}, ops::cuda::ProbeExtent::devices, env);
  machine.gpu = find_gpu_name(gpu_details(status));
  return machine;
}

Result<MeasuredTime> find_time_in_store(const Case& spec, const MachineIdentity& machine,
                                        const std::string& store) {
  const auto history =
      BaselineStore(store).read(BaselineStore::case_file(machine.machine_class, spec.id));
  std::optional<std::string> difference;
  if (history.ok()) {
    for (auto run = history->records.rbegin(); run != history->records.rend(); ++run) {
      const auto median = median_iteration(run->measured);
      if (!median) continue;
      const std::string& measured_class = run->adopted_from.value_or(machine.machine_class);
      difference = find_difference(spec, machine, measured_class, run->environment.details);
      if (difference) continue;
      MeasuredTime measured{std::chrono::round<Nanoseconds>(FractionalNanoseconds(*median)),
                            std::nullopt,
                            run->run_id,
                            run->time,
                            machine.machine_class,
                            name_gpu(spec, machine),
                            store};
      set_interval(run->measured, measured);
      return measured;
    }
  }
  if (difference) return Error{*difference, store, ""};
  return Error{"no run of this case on this machine class is stored", store, ""};
}

Result<MeasuredTime> find_time_in_report(const Case& spec, const MachineIdentity& machine,
                                         const Report& report, const std::string& path) {
  const auto record = std::ranges::find(report.cases, spec.id, &CaseRecord::id);
  if (record == report.cases.end()) return Error{"no result of this case", path, ""};
  if (!record->time) {
    return Error{fmt::format("has no time of this case ({})", to_string(record->outcome)), path,
                 ""};
  }
  const auto run = std::ranges::find(report.runs, record->run_id, &RunRecord::run_id);
  const RunRecord unknown;
  const RunRecord& measured_by = run == report.runs.end() ? unknown : *run;
  const EnvironmentRecord& environment = measured_by.environment;
  if (auto difference =
          find_difference(spec, machine, environment.machine_class, environment.details)) {
    return Error{*std::move(difference), path, ""};
  }
  const CaseRecord* const measured_case = &*record;
  return MeasuredTime{record->time->median,
                      record->roofline,
                      record->run_id,
                      measured_by.started,
                      machine.machine_class,
                      name_gpu(spec, machine),
                      path,
                      record->time->low,
                      record->time->high,
                      doubtful_flags(record->flags),
                      find_interval_bases(report, {&measured_case, 1}).front()};
}

std::string format_measured_time(const Result<MeasuredTime>& measured,
                                 const std::optional<Roofline>& ideal) {
  if (!measured.ok()) {
    const std::string limit = ideal
                                  ? fmt::format(" At best this case takes {}, bound by {}.",
                                                format_time(ideal->ideal), to_string(ideal->bound))
                                  : "";
    return fmt::format(
        "No time is known: {}. The command at the end measures it; `--from RESULT` takes the time "
        "of a result.{}\n\n",
        measured.error().message(), limit);
  }
  const Roofline* roofline = choose_roofline(*measured, ideal);
  const std::string gpu = measured->gpu.empty() ? "" : fmt::format(", GPU {}", measured->gpu);
  return fmt::format(
      "This case took {}{}\nMeasured {} by run {} in {}, machine class {}{}.\n\n",
      format_time(measured->median),
      roofline != nullptr
          ? format_gain(*measured, *roofline)
          : std::string(". How near that is to this machine's ceilings is unknown; `bench peak` "
                        "measures them."),
      measured->time, measured->run_id, measured->source, measured->machine_class, gpu);
}

void write_measured_time(JsonWriter& writer, const MeasuredTime& measured,
                         const std::optional<Roofline>& ideal) {
  writer.required("median_ns", measured.median);
  if (const Roofline* roofline = choose_roofline(measured, ideal)) {
    writer.required("ideal_ns", roofline->ideal);
    writer.required("efficiency", compute_efficiency(measured, *roofline));
    writer.required("gain_ns", compute_gain(measured, *roofline));
  }
  BENCH_MEMBERS(writer, measured, run_id, time, machine_class, (gpu, kOptional), source);
}

}  // namespace bench
