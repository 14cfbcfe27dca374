// SPDX-License-Identifier: Apache-2.0
// What a program inherits from the one that started it: signals, limits, priority, descriptors,
// variables. Every command must end in each state, with the same status as always.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace bench::test::inherited_state_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

constexpr const char* kCase = "gemm/forward/m8n8k8/f32/native/cpu/hot/t1";

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kStackOfRuns = "ulimit -s 512; exec \"$@\"";  // a sanitizer needs more
constexpr const char* kStackOfHelp = "ulimit -s 128; exec \"$@\"";
#else
constexpr const char* kStackOfRuns = "ulimit -s 256; exec \"$@\"";
constexpr const char* kStackOfHelp = "ulimit -s 64; exec \"$@\"";
#endif

// Returns the words of a command line that starts the following words after a shell script.
Words after_script(const char* script) { return {"/bin/sh", "-c", script, "sh"}; }

// The words before a command line that give it a state.
struct State {
  const char* name;
  Words words;
};

std::vector<State> states() {
  return {{"SIGCHLD ignored", {"env", "--ignore-signal=CHLD"}},
          {"all signals blocked", {"env", "--block-signal"}},
          {"signals ignored",
           {"env", "--ignore-signal=HUP,INT,QUIT,PIPE,USR1,USR2,ALRM,TERM,CHLD,XFSZ"}},
          {"SIGCHLD ignored and all blocked", {"env", "--ignore-signal=CHLD", "--block-signal"}},
          {"a small stack", after_script(kStackOfRuns)},
          {"few descriptors", after_script("ulimit -n 24; exec \"$@\"")},
          {"closed descriptors", after_script("exec <&-; exec \"$@\" >&- 2>&-")},
          {"low priority", {"nice", "-n", "5"}},
          {"a strict umask", after_script("umask 077; exec \"$@\"")},
          {"variables of libraries",
           {"env", "ONEDNN_VERBOSE=all", "DNNL_VERBOSE=2", "OMP_NUM_THREADS=64",
            "OMP_PROC_BIND=spread", "GOMP_CPU_AFFINITY=0", "MALLOC_ARENA_MAX=1"}}};
}

// Runs bench in a state. Kills it after a minute, with status 137.
ProgramResult bench_in(const State& state, const Words& arguments, const TemporaryFolder& folder) {
  Words words = {"timeout", "--signal=KILL", "60"};
  words.insert(words.end(), state.words.begin(), state.words.end());
  words.push_back(BENCH_BINARY);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program({words, folder.path(), {}});
}

struct Call {
  Words words;
  int status;
};

TEST(InheritedState, EveryCommandEndsWithItsStatus) {
  const std::vector<Call> calls = {
      {{"list", kCase}, 0},
      {{"explain", kCase}, 0},
      {{"doctor", "--watch", "0s"}, 0},
      {{"run", kCase, "--quick", "--out", "r.jsonl", "--force"}, 0},
      {{"profile", "--force", "--out", "p.jsonl", "--", "sh", "-c", "exit 7"}, 7},
      {{"profile", "--no-profile", "--", "sh", "-c", "exit 5"}, 5}};
  for (const State& state : states()) {
    const TemporaryFolder folder;
    for (const Call& call : calls) {
      const ProgramResult result = bench_in(state, call.words, folder);
      EXPECT_EQ(result.status, call.status)
          << state.name << ": " << call.words.front() << ": " << result.err;
    }
  }
}

// A gate takes seconds, so it runs in the state that hung every command.
TEST(InheritedState, AGateEndsAlthoughChildrenAreIgnored) {
  const TemporaryFolder folder;
  const ProgramResult result = bench_in(
      states().front(), {"gate", kCase, "--quick", "--base-env", "X=1", "--out", "g"}, folder);
  // A busy machine may leave the case undecided.
  EXPECT_TRUE(result.status == 0 || result.status == 1 || result.status == 5)
      << result.status << result.err;
}

TEST(InheritedState, HelpNeedsLittleStack) {
  const TemporaryFolder folder;
  for (const Words& arguments : {Words{"--help"}, Words{"--version"}, Words{"help", "run"}}) {
    const ProgramResult result =
        bench_in({"the smallest stack", after_script(kStackOfHelp)}, arguments, folder);
    EXPECT_EQ(result.status, 0) << arguments.front() << result.err;
    EXPECT_THAT(result.out, HasSubstr("bench"));
  }
}

// The profiled program runs as without bench: it sees the state that the user gave it.
TEST(InheritedState, AProfiledProgramHasTheSignalsOfItsUser) {
  const TemporaryFolder folder;
  const Words script = {"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
  for (const State& state : states()) {
    if (std::string(state.name).find("descriptors") != std::string::npos) continue;
    Words direct = state.words;
    direct.insert(direct.end(), script.begin(), script.end());
    Words profiled = {"profile", "--force", "--out", "p.jsonl", "--"};
    profiled.insert(profiled.end(), script.begin(), script.end());
    EXPECT_EQ(bench_in(state, profiled, folder).out, run_program({direct, folder.path(), {}}).out)
        << state.name;
  }
}

// ONEDNN_VERBOSE=all made a short case take twice as long, and nothing said so.
TEST(InheritedState, ALibraryThatPrintsIsNotMeasured) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program(
      {{BENCH_BINARY, "run", "gemm/forward/m8n8k8/f32/onednn/cpu/hot/t1", "--quick", "--out",
        "r.jsonl"},
       folder.path(),
       {{"ONEDNN_VERBOSE", "all"}, {"ONEDNN_MAX_CPU_ISA", "SSE41"}, {"MALLOC_ARENA_MAX", "1"}}});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("verbose")));
  const auto details = records_of_kind(read_text(folder.file("r.jsonl")), "run")
                           .at(0)
                           .at("environment")
                           .at("details");
  EXPECT_FALSE(details.contains("env.ONEDNN_VERBOSE"));
  EXPECT_EQ(details.at("env.ONEDNN_MAX_CPU_ISA"), "SSE41");
  EXPECT_EQ(details.at("env.MALLOC_ARENA_MAX"), "1");
  EXPECT_TRUE(details.contains("process.nice"));
}

// `nohup bench run` stopped when the terminal closed: a blocked signal is reported although it is
// ignored.
TEST(InheritedState, AnIgnoredSignalDoesNotInterruptARun) {
  const TemporaryFolder folder;
  const std::string script = fmt::format(
      "'{}' run {} --quick --out r.jsonl & pid=$!; i=0; "
      "while kill -HUP $pid 2>/dev/null && [ $i -lt 6000 ]; do i=$((i + 1)); sleep 0.01; done; "
      "wait $pid",
      BENCH_BINARY, kCase);
  const ProgramResult result = run_program(
      {{"timeout", "--signal=KILL", "100", "env", "--ignore-signal=HUP", "/bin/sh", "-c", script},
       folder.path(),
       {}});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("interrupted")));
}

}  // namespace
}  // namespace bench::test::inherited_state_test
