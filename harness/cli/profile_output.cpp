// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_output.hpp"

#include "base/number.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/export/chrome_trace.hpp"
#include "profiler/export/memory_flow.hpp"
#include "profiler/reader.hpp"

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

constexpr std::string_view kUnknown = "n/a";
constexpr double kMillion = 1e6;

class Details {
 public:
  explicit Details(const ProfilePassRecord& pass) : pass_(pass) {}

  // Returns nullopt if the detail is missing or is "n/a: ...".
  std::optional<std::string> known(const std::string& name) const {
    const auto found = pass_.details.find(name);
    if (found == pass_.details.end() || found->second.starts_with(kUnknown)) return std::nullopt;
    return found->second;
  }
  // Returns the text of a detail that is "n/a: REASON".
  std::optional<std::string> reason(const std::string& name) const {
    const auto found = pass_.details.find(name);
    if (found == pass_.details.end() || !found->second.starts_with(kUnknown)) return std::nullopt;
    return found->second;
  }
  std::optional<double> number(const std::string& name) const {
    const auto text = known(name);
    const auto value = text ? parse_number<double>(*text) : std::nullopt;
    return value && std::isfinite(*value) ? value : std::nullopt;
  }
  // The same, rounded. Returns nullopt also if the number is outside the range of integers.
  std::optional<std::int64_t> integer(const std::string& name) const {
    constexpr double kEnd = 0x1p63;
    const auto value = number(name);
    if (!value || *value < -kEnd || *value >= kEnd) return std::nullopt;
    return std::llround(*value);
  }

 private:
  const ProfilePassRecord& pass_;
};

void add(std::vector<std::string>& parts, const std::optional<std::string>& part) {
  if (part) parts.push_back(*part);
}

std::optional<std::string> bytes(const Details& details, const std::string& name,
                                 std::string_view what) {
  const auto count = details.integer(name);
  if (!count) return std::nullopt;
  return fmt::format("{} {}", format_bytes(Bytes{*count}), what);
}

std::optional<std::string> percent(const Details& details, const std::string& name,
                                   std::string_view what) {
  const auto share = details.number(name);
  if (!share) return std::nullopt;
  return fmt::format("{:.1f} % {}", 100 * *share, what);
}

std::string line(std::string_view subject, const std::vector<std::string>& parts) {
  if (parts.empty()) return "";
  std::string text = fmt::format("    {}: ", subject);
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : "; ") + parts[i];
  return text + "\n";
}

// Returns the line of the CPU's counters. It gives the reason of each counter that is missing.
std::string processor_line(const Details& details) {
  std::vector<std::string> parts;
  const auto add_count = [&](const std::string& name, std::string_view what) {
    const auto count = details.number("counter." + name);
    if (count) parts.push_back(fmt::format("{:.4g} million {}", *count / kMillion, what));
    add(parts, details.reason("counter." + name));
  };
  add_count("cycles", "cycles");
  add_count("instructions", "instructions");
  if (const auto rate = details.known("counter.instructions_per_cycle")) {
    parts.push_back(fmt::format("{} instructions per cycle", *rate));
  }
  add(parts, details.reason("counter.llc_misses"));
  add(parts, percent(details, "counter.counted_share", "of the time counted, scaled to all of it"));
  return line("processor", parts);
}

}  // namespace

std::string format_counters(const ProfilePassRecord& pass) {
  const Details details(pass);
  const auto unavailable = pass.details.find("counters");
  std::vector<std::string> tensor_cores, memory, processors;
  add(tensor_cores, details.known("tensor_cores"));
  add(tensor_cores, percent(details, "counter.tensor_active_share", "of the active cycles"));
  add(tensor_cores, details.known("tensor_cores.types"));
  if (const auto check = details.known("check.tensor_operations")) {
    tensor_cores.push_back("operations " + *check);
  }
  add(memory, bytes(details, "counter.dram_read_bytes", "read"));
  add(memory, bytes(details, "counter.dram_write_bytes", "written"));
  add(memory, details.known("check.dram_bytes"));
  add(memory, percent(details, "counter.l2_hit_share", "L2 hits"));
  add(memory, bytes(details, "counter.llc_miss_bytes", "missed the last-level cache"));
  add(memory, details.known("check.llc_miss_bytes"));
  add(processors, percent(details, "counter.achieved_occupancy", "of the warps resident"));
  return (unavailable == pass.details.end()
              ? ""
              : fmt::format("    counters {}\n", unavailable->second)) +
         line("tensor cores", tensor_cores) + processor_line(details) + line("memory", memory) +
         line("multiprocessors", processors);
}

namespace {

// What a device did during the pass, and what the reader should know about its trace.
std::string format_device(const ProfilePassRecord& pass) {
  const Details details(pass);
  std::string text;
  const auto kernels = details.known("gpu.kernels");
  const auto time = details.integer("gpu.kernel_union_ns");
  const auto busy = details.number("gpu.busy_share");
  if (kernels && time && busy) {
    text += fmt::format("    GPU: {} kernels in {}, busy {:.1f} %\n", *kernels,
                        format_time(Nanoseconds(*time)), 100 * *busy);
  }
  if (const auto note = details.known("gpu.note")) text += fmt::format("    note: {}\n", *note);
  return text;
}

std::string format_pass(const ProfilePassRecord& pass) {
  if (pass.outcome != Outcome::ok) {
    return fmt::format("  {}: {}: {}\n", pass.id, to_string(pass.outcome),
                       pass.reason.value_or(""));
  }
  std::string text = format_device(pass) + format_counters(pass);
  if (pass.unread > 0) {
    text = fmt::format("    {} lines of the library's log could not be read\n", pass.unread) + text;
  }
  return text.empty() ? "" : fmt::format("  {}\n", pass.id) + text;
}

// Passes the activities of a result file or profile to one sink.
Status replay(const std::string& result, ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(const auto source, open_text(result));
  BeginRecordMerger paired(sink);
  const auto report = read_activities(*source, paired);
  if (!report) return report.error();
  return paired.finish();
}

std::string path_stem(const std::string& path) {
  constexpr std::string_view kSuffix = ".jsonl";
  return path.ends_with(kSuffix) ? path.substr(0, path.size() - kSuffix.size()) : path;
}

// Files written in addition to the result; nullopt: not requested.
struct ProfileFiles {
  std::optional<std::string> trace, memory_flow;
};

ProfileFiles profile_files(const std::string& result, const ProfileSwitches& switches,
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

template <class Writer>
Status write_one(const std::string& result, Result<std::unique_ptr<Writer>> writer,
                 const std::string& path, const Arguments& arguments, Env& env) {
  if (!writer) return std::move(writer).error();
  BENCH_RETURN_IF_ERROR(replay(result, **writer));
  BENCH_RETURN_IF_ERROR((*writer)->finish());
  if (arguments.verbosity == Verbosity::normal) print_line(*env.err, "wrote " + path);
  return Done{};
}

}  // namespace

Result<std::optional<ProfileSwitches>> profile_switches(
    const std::optional<ProfileSwitches>& configured, const ProfileArguments& arguments,
    const Env& env) {
  using Wish = ProfileArguments::Wish;
  const bool wanted = arguments.wish == Wish::wanted || arguments.trace ||
                      (arguments.wish == Wish::configured && configured);
  if (!wanted || arguments.wish == Wish::refused) return std::optional<ProfileSwitches>();
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

Result<Summary> profile_summary(const std::string& result) {
  Summary summary;
  BENCH_RETURN_IF_ERROR(replay(result, summary));
  return summary;
}

Result<LayerTimes> profiled_layers(const std::string& result) {
  LayerTimes times;
  WorkSink with_work(ops::make_work_provider(), times);
  BENCH_RETURN_IF_ERROR(replay(result, with_work));
  return times;
}

Status check_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments) {
  const ProfileFiles files = profile_files(result, switches, arguments);
  const std::optional<std::string>& named = arguments.profile.trace;
  if (named && !named->ends_with(".json") && !named->ends_with(".json.gz")) {
    return Error{fmt::format("the suffix of `{}` is not that of a Chrome trace", *named), "--trace",
                 "name it .json or .json.gz; `bench trace` writes .html and .svg"};
  }
  for (const std::optional<std::string>& path : {files.trace, files.memory_flow}) {
    if (path) BENCH_RETURN_IF_ERROR(check_target(*path, arguments));
  }
  return Done{};
}

Status write_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments, Env& env) {
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  const auto& [trace, memory_flow] = profile_files(result, switches, arguments);
  if (trace) {
    TraceOptions options;
    options.title = result;
    options.metadata = {{"tool_version", std::string(tool_version())}, {"result", result}};
    BENCH_RETURN_IF_ERROR(
        write_one(result, ChromeTrace::create(*trace, existing, options), *trace, arguments, env));
  }
  if (memory_flow) {
    BENCH_RETURN_IF_ERROR(write_one(result, MemoryFlow::create(*memory_flow, existing),
                                    *memory_flow, arguments, env));
  }
  return Done{};
}

}  // namespace bench
