// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/sides.hpp"

#include "base/text.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/run/schedule.hpp"
#include "harness/wire/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

namespace bench {
namespace {

// Time limits until a side has printed its version. The launcher of a checkout is a script that
// builds on first use: this takes minutes, or an hour on a small machine. A program answers at
// once.
constexpr Nanoseconds kLauncherLimit = std::chrono::hours(2);
constexpr Nanoseconds kProgramLimit = std::chrono::seconds(30);
// Time limit for the end of the program after its output.
constexpr Nanoseconds kProgramEndLimit = std::chrono::seconds(10);

Result<std::string> find_program(const std::string& path) {
  std::error_code code;
  std::filesystem::path program(path);
  if (std::filesystem::is_directory(program, code)) program /= "bench";
  if (!std::filesystem::exists(program, code)) {
    return Error{"no such program", program.string(),
                 "name a bench program, or the folder of a checkout that contains ./bench"};
  }
  return std::filesystem::absolute(program, code).string();
}

bool is_script(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  return file.get() == '#' && file.get() == '!';
}

// Reads version and commit from a line such as "bench 0.1.0 (commit fdb2474df3ed)". Returns whether
// the line has a version; the commit may be missing.
bool parse_version(std::string_view line, GateSide& side) {
  constexpr std::string_view kName = "bench ";
  constexpr std::string_view kCommit = "(commit ";
  if (!line.starts_with(kName)) return false;
  line.remove_prefix(kName.size());
  side.tool_version = std::string(line.substr(0, line.find(' ')));
  if (const std::size_t commit = line.find(kCommit); commit != std::string_view::npos) {
    const std::string_view tail = line.substr(commit + kCommit.size());
    side.commit = std::string(tail.substr(0, tail.find(')')));
  }
  return !side.tool_version.empty();
}

// Returns how long a program may run on after its output.
Nanoseconds end_limit(const TimeLimit& limit) {
  const auto rest = limit.remaining();
  if (!rest) return kProgramEndLimit;
  return std::clamp(*rest + kBudgetGrace, Nanoseconds(0), kProgramEndLimit);
}

WorkerFactory make_factory(const GateSide& side, const Cores& cores, const Plan& plan, Env& env) {
  return process_workers({side.program, side.environment, cores, {}, plan.plugins}, env);
}

}  // namespace

Result<GateSide> find_side(const std::string& path,
                           const std::map<std::string, std::string>& environment,
                           const TimeLimit& limit, Clock& clock) {
  GateSide side;
  side.environment = environment;
  BENCH_ASSIGN_OR_RETURN(side.program, find_program(path));
  BENCH_ASSIGN_OR_RETURN(ChildProcess process,
                         ChildProcess::start({.program = side.program,
                                              .arguments = {"--version"},
                                              .environment = inherited_environment(),
                                              .processors = {}}));
  process.close_input();  // otherwise a program that reads its input first would wait forever
  std::string line;
  const Nanoseconds own_limit = is_script(side.program) ? kLauncherLimit : kProgramLimit;
  const auto must_abort = [&limit] { return limit.must_abort(); };
  const auto wait = process.read_line(line, own_limit, must_abort, clock);
  const bool has_version = wait == ChildProcess::Wait::ready && parse_version(line, side);
  const bool has_time = wait == ChildProcess::Wait::ready || wait == ChildProcess::Wait::closed;
  const ProcessEnd end = process.finish(has_time ? end_limit(limit) : Nanoseconds(0), clock);
  if (has_version) return side;
  if (limit.is_interrupted()) return Error{"interrupted", side.program, ""};
  if (wait == ChildProcess::Wait::interrupted) {
    return Error{"did not print its version before the budget ended", side.program,
                 "run it with --version to see what it does, or use a larger --budget"};
  }
  if (wait == ChildProcess::Wait::deadline) {
    return Error{fmt::format("did not print its version within {}", format_time(own_limit)),
                 side.program, "run it with --version to see what it does"};
  }
  return Error{fmt::format("did not print the version of a bench ({})", end.text()), side.program,
               "run it with --version to see its output"};
}

GateParts real_gate_parts(const GateSide& candidate, const std::optional<GateSide>& base,
                          const Plan& plan, Env& env) {
  const Cores cores = allowed_cores();
  GateParts parts;
  parts.hello = {kProtocolVersion, largest_reuse_distance(plan), read_cpu(SystemRoot{}).last_level};
  parts.pause = [](Nanoseconds time) { std::this_thread::sleep_for(time); };
  parts.start_candidate = make_factory(candidate, cores, plan, env);
  if (base) parts.start_base = make_factory(*base, cores, plan, env);
  return parts;
}

Result<HelloReply> ask_side(const WorkerFactory& start, const HelloRequest& hello,
                            const std::function<bool()>& must_abort) {
  BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerLink> worker, start({1}));
  Result<HelloReply> reply = handshake(*worker, hello, must_abort);
  worker->finish();
  return reply;
}

}  // namespace bench
