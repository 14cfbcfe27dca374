// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/turn.hpp"
#include "harness/gate/selftest.hpp"
#include "harness/gate/selftest_run.hpp"
#include "harness/gate/sides.hpp"
#include "harness/host/environment.hpp"
#include "harness/result/result_text.hpp"
#include "harness/run/file_sink.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace bench {
namespace {

// Cases that are measured by default: a compute-bound and a memory-bound kernel, each with one
// thread and with all.
constexpr std::array<const char*, 4> kDefaultCases = {
    "gemm/forward/m384n384k384/f32/onednn/cpu/hot/t1",
    "pointwise/forward/relu-2x64x112x112/f32/onednn/cpu/hot/t1",
    "gemm/forward/m384n384k384/f32/onednn/cpu/hot",
    "pointwise/forward/relu-2x64x112x112/f32/onednn/cpu/hot",
};

// Measures pairs of identical sides, and of a normal and an artificially slowed side.
Result<SelfTest> measure_machine(const Plan& plan, const Arguments& arguments, Env& env) {
  InterruptWatch watch;
  GateSide normal;
  normal.program = own_path();
  GateSide slowed = normal;
  slowed.environment[kSlowdownVariable] = fmt::format("{}", kInjectedSlowdown);
  const GateParts sides = real_gate_parts(slowed, normal, plan, env);
  auto progress = make_progress(arguments.verbosity, env);
  SelfTestParts parts{sides.start_base,
                      sides.start_candidate,
                      sides.hello,
                      sides.pause,
                      [&watch] { return watch.is_interrupted(); },
                      duet_progress(*progress)};
  BENCH_ASSIGN_OR_RETURN(
      const MachineTurn turn,
      take_turn(
          arguments, arguments.budget, [&watch] { return watch.is_interrupted(); }, env));
  BENCH_ASSIGN_OR_RETURN(const HelloReply hello,
                         ask_side(parts.start, parts.hello, parts.interrupted));
  SelfTestTask task;
  task.plan = &plan;
  task.seed = arguments.seed.value_or(task.seed);
  task.duets = arguments.gate.duets.value_or(task.duets);
  task.budget = arguments.budget;
  const std::string time = env.utc_now();
  BENCH_ASSIGN_OR_RETURN(SelfTest test, measure_self_test(task, parts, *env.clock));
  const CpuFacts cpu = read_cpu(SystemRoot{});
  test.run_id = make_run_id(env);
  test.time = time;
  test.machine_class = machine_class(cpu);
  test.cpu = cpu.model;
  test.libraries[hello.library.name] = hello.library.version;
  return test;
}

Result<std::vector<SelfTest>> read_tests(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_result_text(path));
  return read_self_tests(text, path);
}

Result<SelfTestSummary> resample(const std::vector<SelfTest>& tests, const Arguments& arguments,
                                 Env& env) {
  const bool is_quiet = arguments.verbosity == Verbosity::quiet;
  const std::optional<WaitingLine> line =
      is_quiet ? std::nullopt : std::make_optional<WaitingLine>("resampling suites", env);
  return summarise(tests, {.seed = arguments.seed.value_or(1)});
}

void print_summary(const std::vector<SelfTest>& tests, const SelfTestSummary& summary,
                   const Arguments& arguments, Env& env) {
  *env.out << (arguments.output == Output::json
                   ? self_test_json(tests, summary)
                   : format_console_lines(format_self_test(tests, summary), env));
}

// Stores what the self-test showed, for the reports of later gates. One with too few duets for
// rates shows nothing, and replaces nothing. Returns the path of the file; empty if nothing is
// stored.
Result<std::string> store_proof(const BaselineStore& store, const SelfTest& test,
                                const SelfTestSummary& summary) {
  if (!summary.rates) return std::string();
  ProofOfLife proof = make_proof(test, summary);
  proof.tool_version = std::string(tool_version());
  proof.commit = std::string(tool_commit().value_or(""));
  return store.set_proof(proof);
}

// Returns whether --if-older is given and the store has a self-test of this machine class that
// passed and is not older. A bad file does not count: the next self-test replaces it.
bool has_recent_proof(const BaselineStore& store, const Arguments& arguments, Env& env) {
  if (!arguments.gate.if_older) return false;
  const auto proof = store.proof(machine_class(read_cpu(SystemRoot{})));
  if (!proof.ok() || !*proof || !find_proof_problem(**proof).empty()) return false;
  const auto age = proof_age(**proof, env.utc_now());
  if (!age || *age > *arguments.gate.if_older) return false;
  if (arguments.verbosity != Verbosity::quiet) {
    print_sentence(env, fmt::format("nothing is measured: the self-test of {} passed and is recent "
                                    "enough (--if-older)",
                                    (*proof)->time));
  }
  return true;
}

ExitStatus measure_and_print(const Arguments& arguments, Env& env) {
  const auto wrong = [&env](const Error& error) {
    return fail("selftest", error, ExitStatus::usage, env);
  };
  const auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return wrong({"nothing can be measured", "", ""});
  const BaselineStore store(store_folder(arguments.baseline));
  if (const auto foreign = store.foreign_content()) return wrong(*foreign);
  if (has_recent_proof(store, arguments, env)) return ExitStatus::success;
  const auto& record = arguments.gate.record;
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  if (record) {
    if (const Status status = check_output(*record, existing); !status)
      return wrong(status.error());
  }
  const Result<SelfTest> test = measure_machine(*plan, arguments, env);
  if (!test.ok()) return fail("selftest", test.error(), ExitStatus::not_measured, env);
  if (record) {
    if (const Status status = write_file(*record, self_test_lines(*test), existing); !status)
      return wrong(status.error());
  }
  const auto summary = resample({*test}, arguments, env);
  if (!summary.ok()) return fail("selftest", summary.error(), ExitStatus::not_measured, env);
  const auto stored = store_proof(store, *test, *summary);
  print_summary({*test}, *summary, arguments, env);
  if (!stored.ok()) return fail("selftest", stored.error(), ExitStatus::not_measured, env);
  if (!stored->empty() && arguments.output != Output::json) {
    *env.out << fmt::format("\nStored in {}; the reports of gates state it\n", printable(*stored));
  }
  return ExitStatus::success;
}

ExitStatus judge_record(const std::string& path, const Arguments& arguments, Env& env) {
  const auto tests = read_tests(path);
  if (!tests.ok()) return fail("selftest", tests.error(), ExitStatus::usage, env);
  const auto summary = resample(*tests, arguments, env);
  if (!summary.ok()) return fail("selftest", summary.error(), ExitStatus::not_measured, env);
  print_summary(*tests, *summary, arguments, env);
  return ExitStatus::success;
}

}  // namespace

ExitStatus selftest_command(const Arguments& arguments, Env& env) {
  if (arguments.gate.from) return judge_record(*arguments.gate.from, arguments, env);
  Arguments test_arguments = arguments;
  if (test_arguments.inputs.empty())
    test_arguments.inputs.assign(kDefaultCases.begin(), kDefaultCases.end());
  return measure_and_print(test_arguments, env);
}

}  // namespace bench
