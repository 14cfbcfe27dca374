// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_output.hpp"

#include "base/text.hpp"
#include "base/version.hpp"
#include "profiler/export/chrome_trace.hpp"
#include "profiler/export/memory_flow.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <ostream>

namespace bench {
namespace {

// "12.3 %" of a part of a whole that is not nothing.
std::string share(Nanoseconds part, Nanoseconds whole) {
  if (whole <= Nanoseconds(0)) return std::string(kUnknown);
  return fmt::format(
      "{:.1f} %", 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

std::string pass_text(const ProfilePassRecord& pass) {
  if (pass.outcome != Outcome::ok) {
    return fmt::format("  {}: {}: {}\n", pass.id,
                       outcome_names()[static_cast<std::size_t>(pass.outcome)],
                       pass.reason.value_or(""));
  }
  std::string text =
      fmt::format("  {}: {} iterations, {} activities", pass.id, pass.iterations, pass.activities);
  if (pass.profiled && pass.unprofiled) {
    text += fmt::format(", {} profiled, {} not ({} more)", format_time(*pass.profiled),
                        format_time(*pass.unprofiled),
                        share(*pass.profiled - *pass.unprofiled, *pass.unprofiled));
  }
  if (pass.wall && pass.attributed) {
    text += fmt::format(", {} attributed to layers", share(*pass.attributed, *pass.wall));
  }
  if (pass.unread > 0) text += fmt::format(", {} lines of the library unread", pass.unread);
  return text + "\n";
}

// The activities of a result file into one sink.
Status replay(const std::string& result, ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(const auto source, open_text(result));
  BENCH_ASSIGN_OR_RETURN(const ActivityReader* const reader, reader_of(*source));
  const auto report = reader->read(*source, sink);
  if (!report) return report.error();
  return Done{};
}

std::string stem_of(const std::string& path) {
  constexpr std::string_view kSuffix = ".jsonl";
  return path.ends_with(kSuffix) ? path.substr(0, path.size() - kSuffix.size()) : path;
}

template <class Writer>
Status write_one(const std::string& result, Result<std::unique_ptr<Writer>> writer,
                 const std::string& path, const Arguments& arguments, Env& env) {
  if (!writer) return std::move(writer).error();
  BENCH_RETURN_IF_ERROR(replay(result, **writer));
  BENCH_RETURN_IF_ERROR((*writer)->finish());
  if (arguments.verbosity == Verbosity::normal) *env.err << "wrote " << path << '\n';
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

std::string profile_text(const Report& report) {
  if (report.profile_passes.empty()) return "";
  std::string text = "profile\n";
  for (const ProfilePassRecord& pass : report.profile_passes) text += pass_text(pass);
  return text;
}

Status write_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments, Env& env) {
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  std::optional<std::string> trace = arguments.profile.trace;
  if (!trace && switches.formats.contains(ProfileFormat::trace)) {
    trace = stem_of(result) + ".trace.json";
  }
  if (trace) {
    TraceOptions options;
    options.title = result;
    options.metadata = {{"tool_version", std::string(tool_version())}, {"result", result}};
    BENCH_RETURN_IF_ERROR(
        write_one(result, ChromeTrace::create(*trace, existing, options), *trace, arguments, env));
  }
  if (switches.formats.contains(ProfileFormat::memory_flow)) {
    const std::string path = stem_of(result) + ".memory_flow.svg";
    BENCH_RETURN_IF_ERROR(
        write_one(result, MemoryFlow::create(path, existing), path, arguments, env));
  }
  return Done{};
}

}  // namespace bench
