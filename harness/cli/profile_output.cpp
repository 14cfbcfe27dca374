// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_output.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/result/advice.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/export/chrome_trace.hpp"
#include "profiler/export/memory_flow.hpp"
#include "profiler/reader.hpp"
#include "profiler/work_sink.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>
#include <system_error>
#include <vector>

namespace bench {

namespace {

constexpr double kMillion = 1e6;

// Reads the details of a profiling pass, which are texts by name.
class Details {
 public:
  explicit Details(const ProfilePassRecord& pass) : pass_(pass) {}

  // Returns the text of a detail; nullopt if it is missing or is "n/a: REASON".
  std::optional<std::string> text(const std::string& name) const {
    const auto found = pass_.details.find(name);
    if (found == pass_.details.end() || found->second.starts_with(kUnknown)) return std::nullopt;
    return found->second;
  }
  // Returns "n/a: REASON" if the detail is such a text; otherwise nullopt.
  std::optional<std::string> unavailable_reason(const std::string& name) const {
    const auto found = pass_.details.find(name);
    if (found == pass_.details.end() || !found->second.starts_with(kUnknown)) return std::nullopt;
    return found->second;
  }
  // Returns nullopt if the text is not a finite number.
  std::optional<double> number(const std::string& name) const {
    const auto value_text = text(name);
    const auto value = value_text ? parse_number<double>(*value_text) : std::nullopt;
    return value && std::isfinite(*value) ? value : std::nullopt;
  }
  // Returns the rounded number; nullopt also if it is outside the range of integers.
  std::optional<std::int64_t> integer(const std::string& name) const {
    constexpr double kEnd = 0x1p63;
    const auto value = number(name);
    if (!value || *value < -kEnd || *value >= kEnd) return std::nullopt;
    return std::llround(*value);
  }

 private:
  const ProfilePassRecord& pass_;
};

void add_part(std::vector<std::string>& parts, const std::optional<std::string>& part) {
  if (part) parts.push_back(*part);
}

// Formats a detail in bytes, or a fraction as percent; nullopt if it is unknown.
std::optional<std::string> format_bytes_detail(const Details& details, const std::string& name,
                                               std::string_view what) {
  const auto count = details.integer(name);
  if (!count) return std::nullopt;
  return fmt::format("{} {}", format_bytes(Bytes{*count}), what);
}

std::optional<std::string> format_percent_detail(const Details& details, const std::string& name,
                                                 std::string_view what) {
  const auto fraction = details.number(name);
  if (!fraction) return std::nullopt;
  return fmt::format("{:.1f} % {}", 100 * *fraction, what);
}

std::string format_line(std::string_view subject, const std::vector<std::string>& parts) {
  if (parts.empty()) return "";
  std::string text = fmt::format("    {}: ", subject);
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : "; ") + parts[i];
  return text + "\n";
}

// Formats the line of the CPU's counters, with the reason for each counter that is unavailable.
std::string format_processor_line(const Details& details) {
  std::vector<std::string> parts;
  const auto add_count = [&](const std::string& name, std::string_view what) {
    const auto count = details.number("counter." + name);
    if (count) parts.push_back(fmt::format("{:.4g} million {}", *count / kMillion, what));
    add_part(parts, details.unavailable_reason("counter." + name));
  };
  add_count("cycles", "cycles");
  add_count("instructions", "instructions");
  if (const auto rate = details.text("counter.instructions_per_cycle")) {
    parts.push_back(fmt::format("{} instructions per cycle", *rate));
  }
  add_part(parts, details.unavailable_reason("counter.llc_misses"));
  add_part(parts, format_percent_detail(details, "counter.counted_share",
                                        "of the time counted, scaled to all of it"));
  return format_line("processor", parts);
}

}  // namespace

std::string format_counters(const ProfilePassRecord& pass) {
  const Details details(pass);
  const auto unavailable = pass.details.find("counters");
  std::vector<std::string> tensor_cores, memory, processors;
  add_part(tensor_cores, details.text("tensor_cores"));
  add_part(tensor_cores,
           format_percent_detail(details, "counter.tensor_active_share", "of the active cycles"));
  add_part(tensor_cores, details.text("tensor_cores.types"));
  if (const auto check = details.text("check.tensor_operations")) {
    tensor_cores.push_back("operations " + *check);
  }
  add_part(memory, format_bytes_detail(details, "counter.dram_read_bytes", "read"));
  add_part(memory, format_bytes_detail(details, "counter.dram_write_bytes", "written"));
  add_part(memory, details.text("check.dram_bytes"));
  add_part(memory, format_percent_detail(details, "counter.l2_hit_share", "L2 hits"));
  add_part(memory,
           format_bytes_detail(details, "counter.llc_miss_bytes", "missed the last-level cache"));
  add_part(memory, details.text("check.llc_miss_bytes"));
  add_part(processors,
           format_percent_detail(details, "counter.achieved_occupancy", "of the warps resident"));
  std::vector<std::string> missed;
  add_part(missed, details.text(kTensorCoresMissed));
  return (unavailable == pass.details.end()
              ? ""
              : fmt::format("    counters {}\n", unavailable->second)) +
         format_line("tensor cores", tensor_cores) + format_line("tensor cores missed", missed) +
         format_processor_line(details) + format_line("memory", memory) +
         format_line("multiprocessors", processors);
}

namespace {

// Formats the kernel time of a GPU during the pass, and a note about its trace.
std::string format_device(const ProfilePassRecord& pass) {
  const Details details(pass);
  std::string text;
  const auto kernels = details.text("gpu.kernels");
  const auto time = details.integer("gpu.kernel_union_ns");
  const auto busy = details.number("gpu.busy_share");
  if (kernels && time && busy) {
    const auto number = parse_number<std::int64_t>(*kernels);
    text += fmt::format("    GPU: {} in {}, busy {:.1f} % from the first to the last\n",
                        number ? pluralise(*number, "kernel") : *kernels + " kernels",
                        format_time(Nanoseconds(*time)), 100 * *busy);
  }
  if (const auto note = details.text("gpu.note")) text += fmt::format("    note: {}\n", *note);
  return text;
}

std::string format_pass(const ProfilePassRecord& pass) {
  if (pass.outcome != Outcome::ok) {
    return fmt::format("  {}: {}: {}\n", pass.id, to_string(pass.outcome),
                       pass.reason.value_or(""));
  }
  std::string text = format_device(pass) + format_counters(pass);
  if (pass.unread > 0) {
    text = fmt::format("    {} of the library's log could not be read\n",
                       pluralise(pass.unread, "line")) +
           text;
  }
  return text.empty() ? "" : fmt::format("  {}\n", pass.id) + text;
}

// Forwards the activities of a result file or profile to `sink`.
Status replay(const std::string& result, ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(const auto source, open_profile(result));
  BeginRecordMerger merger(sink);
  const auto report = read_activities(*source, merger);
  if (!report) return report.error();
  return merger.finish();
}

// The same, audited.
Result<ProfileAudit> audit_replay(const std::string& result, ActivitySink* sink) {
  BENCH_ASSIGN_OR_RETURN(const auto source, open_profile(result));
  ProfileAuditor auditor(sink);
  BENCH_ASSIGN_OR_RETURN(const ReadReport report, read_activities(*source, auditor));
  return auditor.finish(report);
}

std::string path_stem(const std::string& path) {
  constexpr std::string_view kSuffix = ".jsonl";
  return path.ends_with(kSuffix) ? path.substr(0, path.size() - kSuffix.size()) : path;
}

// Paths of files written in addition to the result; nullopt: not requested.
struct ProfileFiles {
  std::optional<std::string> trace, memory_flow;
};

ProfileFiles choose_profile_files(const std::string& result, const ProfileSwitches& switches,
                                  const Arguments& arguments) {
  ProfileFiles files{arguments.profile.trace, std::nullopt};
  if (!files.trace && switches.formats.contains(ProfileFormat::trace)) {
    files.trace = path_stem(result) + ".trace.json";
  }
  if (switches.formats.contains(ProfileFormat::memory_flow)) {
    files.memory_flow = path_stem(result) + ".memory_flow.svg";
  }
  return files;
}

Status check_target(const std::string& path, const Arguments& arguments) {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, code)) {
    return Error{fmt::format("there is no folder {}", folder.string()), path, "create it first"};
  }
  return check_output(path, arguments.force ? Existing::replace : Existing::refuse);
}

// Writes the activities of a result with `writer`, and prints the path.
template <class Writer>
Status write_export(const std::string& result, Result<std::unique_ptr<Writer>> writer,
                    const std::string& path, const Arguments& arguments, Env& env) {
  if (!writer) return std::move(writer).error();
  BENCH_RETURN_IF_ERROR(replay(result, **writer));
  BENCH_RETURN_IF_ERROR((*writer)->finish());
  if (arguments.verbosity == Verbosity::normal) print_line(*env.err, "wrote " + path);
  return Done{};
}

}  // namespace

Result<std::optional<ProfileSwitches>> resolve_profile_switches(
    const std::optional<ProfileSwitches>& configured, const ProfileArguments& arguments,
    const Env& env) {
  using Mode = ProfileArguments::Mode;
  const bool is_requested = arguments.mode == Mode::enabled || arguments.trace ||
                            (arguments.mode == Mode::from_config && configured);
  if (!is_requested || arguments.mode == Mode::disabled) return std::optional<ProfileSwitches>();
  ProfileSwitches switches = configured.value_or(ProfileSwitches());
  BENCH_RETURN_IF_ERROR(apply_environment(env.variable, switches));
  for (const auto& [name, value] : arguments.switches) {
    BENCH_RETURN_IF_ERROR(find_switch(name)->apply(switches, value));
  }
  return std::optional(switches);
}

std::string format_profile(const Report& report) {
  std::string text;
  for (const ProfilePassRecord& pass : report.profile_passes) text += format_pass(pass);
  return text;
}

Result<AuditedSummary> read_profile_summary(const std::string& result) {
  AuditedSummary profile;
  BeginRecordMerger merger(profile.summary);
  BENCH_ASSIGN_OR_RETURN(profile.audit, audit_replay(result, &merger));
  BENCH_RETURN_IF_ERROR(merger.finish());
  return profile;
}

Result<ProfileAudit> audit_profile(const std::string& path) { return audit_replay(path, nullptr); }

Result<AuditedLayerTimes> read_layer_times(const std::string& result) {
  AuditedLayerTimes profile;
  WorkSink with_work(ops::make_work_provider(), profile.times);
  BeginRecordMerger merger(with_work);
  BENCH_ASSIGN_OR_RETURN(profile.audit, audit_replay(result, &merger));
  BENCH_RETURN_IF_ERROR(merger.finish());
  return profile;
}

Status check_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments) {
  const ProfileFiles files = choose_profile_files(result, switches, arguments);
  const std::optional<std::string>& named = arguments.profile.trace;
  if (named && !named->ends_with(".json") && !named->ends_with(".json.gz")) {
    return Error{fmt::format("the suffix of {} is not that of a Chrome trace", quote(*named)),
                 "--trace", "name it .json or .json.gz; `bench trace` writes .html and .svg"};
  }
  for (const std::optional<std::string>& path : {files.trace, files.memory_flow}) {
    if (path) BENCH_RETURN_IF_ERROR(check_target(*path, arguments));
  }
  return Done{};
}

Status write_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments, Env& env) {
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  const auto& [trace, memory_flow] = choose_profile_files(result, switches, arguments);
  if (trace) {
    TraceOptions options;
    options.title = result;
    options.metadata = {{"tool_version", std::string(tool_version())}, {"result", result}};
    BENCH_RETURN_IF_ERROR(write_export(result, ChromeTrace::create(*trace, existing, options),
                                       *trace, arguments, env));
  }
  if (memory_flow) {
    BENCH_RETURN_IF_ERROR(write_export(result, MemoryFlow::create(*memory_flow, existing),
                                       *memory_flow, arguments, env));
  }
  return Done{};
}

}  // namespace bench
