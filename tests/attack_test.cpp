// SPDX-License-Identifier: Apache-2.0
// The built program with hostile inputs, with a full disk and in careless scripts: it loses no
// data, passes no foreign text to a terminal or a CI, and does not hang. Each test repeats an
// attack.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vector>

namespace bench::test::attack_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCase = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";

using Environment = std::map<std::string, std::string>;

ProgramResult bench(std::vector<std::string> arguments, const std::string& folder = ".",
                    Environment environment = {}) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program({std::move(arguments), folder, std::move(environment)});
}

// Runs a line of bash with $BENCH and $CASE. Ends a command that hangs after a minute, with status
// 124.
ProgramResult shell(const std::string& line, const std::string& folder) {
  return run_program(
      {{"timeout", "60", "bash", "-c", line}, folder, {{"BENCH", BENCH_BINARY}, {"CASE", kCase}}});
}

constexpr const char* kRun =
    R"({"record":"run","schema":"bench.result/1","run_id":"1","config":{"files":["a.yaml"],"hash":"h"},)"
    R"("environment":{"machine_class":"NAME","cpu":"NAME","libraries":{"onednn":"NAME"}}})";
constexpr const char* kResult =
    R"({"record":"case","run_id":"1","id":"NAME","op":"gemm","dtype":"f32","device":"cpu",)"
    R"("backend":"onednn","outcome":"failed","reason":"NAME","implementation":"NAME"})";

// Returns a result file in which every name is `name`. Escape it as inside a JSON string.
std::string result_with(const std::string& name) {
  std::string text = std::string(kRun) + "\n" + kResult + "\n";
  for (std::size_t at = 0; (at = text.find("NAME", at)) != std::string::npos; at += name.size())
    text.replace(at, 4, name);
  return text;
}

// --- output ------------------------------------------------------------------------------------

// No worker starts under `false`, so nothing is ever written.
constexpr const char* kRunWithoutRecords = "$BENCH run $CASE --quick --under false --out ";

TEST(OutputPath, ARunThatWritesNothingRemovesNothingAndMakesNothing) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  const bool has_device =
      // only root can do this
      mknod(folder.file("device").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;
  folder.write("old.jsonl", "old\n");
  fs::create_symlink("old.jsonl", folder.file("link"));
  fs::create_symlink("missing", folder.file("dangling"));
  EXPECT_EQ(shell("cat fifo & " + std::string(kRunWithoutRecords) + "fifo; s=$?; wait; exit $s",
                  folder.path())
                .status,
            3);
  for (const char* name : {"link --force", "old.jsonl --force", "dangling", "new"}) {
    const ProgramResult result = shell(kRunWithoutRecords + std::string(name), folder.path());
    EXPECT_EQ(result.status, 3) << name << result.err;
  }
  if (has_device) {
    EXPECT_EQ(shell(kRunWithoutRecords + std::string("device"), folder.path()).status, 3);
    EXPECT_TRUE(fs::is_character_file(folder.file("device")));
  }
  EXPECT_TRUE(fs::is_fifo(folder.file("fifo")));
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_TRUE(fs::is_symlink(folder.file("dangling")));
  EXPECT_EQ(read_text(folder.file("old.jsonl")), "old\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), has_device ? 5 : 4);
}

TEST(OutputPath, ARunReplacesWhatALinkLeadsToAndKeepsTheLink) {
  const TemporaryFolder folder;
  folder.write("old.jsonl", "old\n");
  fs::create_symlink("old.jsonl", folder.file("link"));
  const ProgramResult result =
      bench({"run", kCase, "--quick", "--out", "link", "--force"}, folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_THAT(read_text(folder.file("old.jsonl")), HasSubstr("\"record\":\"end\""));
}

TEST(OutputPath, AFifoTakesTheRecordsOfARun) {
  const TemporaryFolder folder;
  const ProgramResult result =
      shell("mkfifo f; cat f > copy & $BENCH run $CASE --quick --out f; s=$?; wait; exit $s",
            folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(fs::is_fifo(folder.file("f")));
  EXPECT_THAT(read_text(folder.file("copy")), HasSubstr("\"record\":\"end\""));
}

TEST(OutputPath, WhatIsWrittenLastIsCheckedFirst) {
  const TemporaryFolder folder;
  folder.write("old.jsonl", "old\n");
  fs::create_directory(folder.file("dir"));
  folder.write("dir/gate.md", "old\n");
  folder.write("p.jsonl.spool", "left\n");
  for (const std::string line :
       {"$BENCH selftest $CASE --record old.jsonl", "$BENCH gate $CASE --out dir",
        "$BENCH profile --out p.jsonl -- sh -c 'echo started'"}) {
    const ProgramResult result = shell(line, folder.path());
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_THAT(result.err, HasSubstr("--force")) << line;
    EXPECT_EQ(result.out, "") << line;
  }
  EXPECT_EQ(read_text(folder.file("p.jsonl.spool")), "left\n");
  EXPECT_FALSE(fs::exists(folder.file("dir/gate.jsonl")));
}

TEST(Streams, ClosedOnesDoNotEndUpInTheResultFile) {
  for (const std::string closed : {">&-", "2>&-", "<&- >&- 2>&-"}) {
    const TemporaryFolder folder;
    const ProgramResult result =
        shell("$BENCH run $CASE --quick --out r.jsonl " + closed, folder.path());
    EXPECT_EQ(result.status, 0) << closed;
    std::istringstream lines(read_text(folder.file("r.jsonl")));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_TRUE(nlohmann::json::accept(line)) << line;
    }
    EXPECT_GT(count, 3);
  }
}

TEST(Streams, AFailedWriteOfStandardOutputIsExit2OfEveryCommand) {
  const TemporaryFolder folder;
  folder.write("r.jsonl", result_with("a"));
  fs::create_directory(folder.file("empty"));
  for (const std::string command :
       {"--help", "--version", "completion bash", "manual", "doctor --watch 0s", "list $CASE",
        "list $CASE --json", "run $CASE --quick --out o.jsonl", "run $CASE --dry-run",
        "report r.jsonl", "report r.jsonl --format json", "compare r.jsonl r.jsonl --json",
        "compare r.jsonl r.jsonl", "explain $CASE", "baseline list --baseline empty",
        "baseline verify --baseline empty", "validate $CASE.yaml --json"}) {
    const ProgramResult result = shell("$BENCH " + command + " > /dev/full", folder.path());
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("bench: (standard output): cannot write: No space left on "
                                      "device"))
        << command;
  }
  EXPECT_THAT(read_text(folder.file("o.jsonl")), HasSubstr("\"record\":\"end\""));
}

TEST(Streams, AReaderThatGoesAwayEndsTheOutputQuietly) {
  const TemporaryFolder folder;
  const ProgramResult result = shell(
      "for command in 'manual' 'list configs' 'completion bash'; do "
      "(sleep 0.1; $BENCH manual) | true; s=${PIPESTATUS[0]}; [ $s = 0 ] || exit $s; done",
      folder.path());
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
}

TEST(Streams, ALimitOfTheFileSizeIsAMessageAndKeepsWholeLines) {
  const TemporaryFolder folder;
  // The limit must not apply to the file of standard error, so `cat` writes it; the shell waits for
  // both ends of the pipe.
  const ProgramResult result = shell(
      "set -o pipefail; { ulimit -f 4; $BENCH run $CASE --set measure.processes=40 "
      "--set measure.max_time=10ms --out r.jsonl 2>&1 >&3 3>&-; } 3>&1 | cat >&2",
      folder.path());
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  const std::string text = read_text(folder.file("r.jsonl"));
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
}

TEST(Streams, AProfiledProgramDiesOfSigxfszAndSigpipeAsWithoutUs) {
  const TemporaryFolder folder;
  for (const auto& [name, number] : {std::pair("XFSZ", SIGXFSZ), {"PIPE", SIGPIPE}}) {
    const ProgramResult result = shell(
        std::string("$BENCH profile --no-profile -- sh -c 'kill -") + name + " $$'", folder.path());
    EXPECT_EQ(result.status, 128 + number) << result.err;
  }
}

// --- what is printed ---------------------------------------------------------------------------

// "\n::error::pwn", an escape sequence, C1's CSI, a bidirectional override.
constexpr const char* kHostile =
    "\n::error::pwn\x1b[31m\xc2\x9b"
    "1m\xe2\x80\xae";
constexpr const char* kHostileJson = "\\n::error::pwn\\u001b[31m\\u009b1m\\u202e";

void expect_harmless(const ProgramResult& result, const std::string& what) {
  for (const std::string& text : {result.out, result.err}) {
    EXPECT_THAT(text, Not(HasSubstr("\n::error"))) << what;
    EXPECT_FALSE(text.starts_with("::error")) << what;
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << what;
    EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b"))) << what;
    EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae"))) << what;
  }
}

TEST(Messages, NamesInAConfigurationAreShownAndNotObeyed) {
  const TemporaryFolder folder;
  const std::string name = std::string("\"") + kHostileJson + "\"";
  const std::map<std::string, std::string> texts = {
      {"plugins.yaml", "version: 1\nplugins: [" + name + "]\ncases: []\n"},
      {"unknown.yaml", "version: 1\n" + name + ": 1\ncases: []\n"},
      {"found.yaml", "version: 1\ncases:\n  - { op: " + name + ", m: " + name + " }\n"},
      {"include.yaml", "version: 1\ninclude: [" + name + "]\ncases: []\n"},
      {"network.yaml", "version: 1\ncases:\n  - { network: " + name + " }\n"},
      {"::error::pwn.yaml", "version: 2\n"},
  };
  for (const auto& [file, text] : texts) {
    folder.write(file, text);
    for (const char* command : {"validate", "list", "run"}) {
      const ProgramResult result = bench({command, file}, folder.path());
      EXPECT_EQ(result.status, 2) << file;
      EXPECT_THAT(result.err, HasSubstr("error::pwn")) << file;
      expect_harmless(result, file);
    }
  }
}

TEST(Messages, ArgumentsAreShownAndNotObeyed) {
  const TemporaryFolder folder;
  const std::string name = kHostile;
  const std::vector<std::vector<std::string>> calls = {
      {name},
      {"run", name},
      {"run", kCase, "--set", name},
      {"run", kCase, "--filter", "/(" + name + "/"},
      {"run", kCase, "--out", "none/" + name},
      {"run", "--" + name},
      {"explain", "gemm/forward/" + name},
      {"analyze", name},
      {"report", name, "-o", "x.json"},
      {"compare", name, name},
      {"completion", name},
      {"baseline", name},
      {"baseline", "list", "--baseline", name},
      {"duet", kCase, "--base", name},
      {"gate", kCase, "--base", name},
      {"trace", "--check", name},
      {"profile", "--", name},
  };
  for (const std::vector<std::string>& call : calls) {
    const ProgramResult result = bench(call, folder.path());
    EXPECT_NE(result.status, 0) << call[0];
    expect_harmless(result, call[0]);
  }
}

TEST(Messages, FieldsOfResultFilesAreShownAndNotObeyed) {
  const TemporaryFolder folder;
  folder.write("r.jsonl", result_with(kHostileJson));
  folder.write("start.jsonl", result_with("::error::pwn"));
  folder.write("plain.jsonl", result_with("plain"));
  for (const std::string file : {"r.jsonl", "start.jsonl"}) {
    for (const std::string command :
         {"report FILE", "compare FILE plain.jsonl", "compare FILE plain.jsonl --format markdown",
          "baseline save FILE --baseline store --reason x", "gate --from FILE", "analyze FILE",
          "trace FILE -o t.json", "trace --check FILE", "run $CASE --resume FILE"}) {
      std::string line = "$BENCH " + command;
      for (std::size_t at = 0; (at = line.find("FILE")) != std::string::npos;)
        line.replace(at, 4, file);
      expect_harmless(shell(line, folder.path()), line);
    }
  }
  expect_harmless(bench({"report", "r.jsonl", "-o", "r.json"}, folder.path()), "json");
}

// --- input -------------------------------------------------------------------------------------

TEST(Inputs, AFifoInAStoreIsAProblemAndHangsNothing) {
  const TemporaryFolder folder;
  const ProgramResult saved = shell(
      "$BENCH run $CASE --set measure.processes=5 --set measure.max_time=20ms --out r.jsonl "
      "--quiet "
      "> /dev/null && $BENCH baseline save r.jsonl --reason first && cd baselines/*/ && mkfifo "
      "x.jsonl",
      folder.path());
  ASSERT_EQ(saved.status, 0) << saved.err;
  for (const std::string command :
       {"baseline list", "history", "baseline prune", "baseline show $CASE",
        "baseline save r.jsonl --reason again"}) {
    const ProgramResult result = shell("$BENCH " + command, folder.path());
    EXPECT_EQ(result.status, 0) << command << result.err;
  }
  const ProgramResult verified = shell("$BENCH baseline verify", folder.path());
  EXPECT_EQ(verified.status, 2);
  EXPECT_THAT(verified.out, HasSubstr("x.jsonl: is a FIFO, not a regular file"));
  const ProgramResult compared = shell("$BENCH compare baselines r.jsonl", folder.path());
  EXPECT_EQ(compared.status, 2);
  EXPECT_THAT(compared.err, HasSubstr("x.jsonl: is a FIFO, not a regular file"));
  // The lock must be free.
  EXPECT_EQ(shell("flock --nonblock baselines/*/ true", folder.path()).status, 0);
}

TEST(Inputs, WhatIsNoRegularFileIsRefusedByEveryCommand) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("fifo.yaml").c_str(), 0600), 0);
  for (const std::string command :
       {"run fifo.yaml", "list fifo.yaml", "validate fifo.yaml", "report fifo.yaml",
        "compare fifo.yaml fifo.yaml", "analyze fifo.yaml", "trace fifo.yaml -o t.json",
        "trace --check fifo.yaml", "gate --from fifo.yaml", "selftest --from fifo.yaml",
        "run $CASE --resume fifo.yaml", "baseline save fifo.yaml --reason x",
        "analyze r.jsonl --work fifo.yaml", "list $CASE --plugin ./fifo.yaml",
        "explain $CASE --gpu fifo.yaml"}) {
    const ProgramResult result = shell("$BENCH " + command, folder.path());
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("is a FIFO, not a regular file")) << command;
  }
}

TEST(Inputs, AConfigurationCannotNameTheStandardInput) {
  const TemporaryFolder folder;
  folder.write("include.yaml", "version: 1\ninclude: [/dev/stdin]\ncases: []\n");
  folder.write("plugin.yaml", "version: 1\nplugins: [/dev/stdin]\ncases: []\n");
  for (const std::string file : {"include.yaml", "plugin.yaml"}) {
    const ProgramResult result =
        shell("rm -f f; mkfifo f; exec 3<>f; $BENCH validate " + file + " <&3", folder.path());
    EXPECT_EQ(result.status, 2) << file;
    EXPECT_THAT(result.err, HasSubstr(", not a regular file")) << file;
  }
}

// Earlier, the library path in the built program had an empty element, which means the caller's
// folder.
TEST(Libraries, NoneIsLoadedFromTheFolderOfTheCaller) {
  const TemporaryFolder folder;
  for (const char* name : {"libfmt.so.9", "libdnnl.so.3", "libz.so.1"})
    folder.write(name, "not a library");
  const ProgramResult result = bench({"--version"}, folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(Inputs, WhatAShellSubstitutesIsRead) {
  const TemporaryFolder folder;
  folder.write("r.jsonl", result_with("a"));
  folder.write("c.yaml", "version: 1\ncases:\n  - { op: gemm, m: 8, n: 8, k: 8 }\n");
  for (const std::string line :
       {"$BENCH report <(cat r.jsonl)", "cat r.jsonl | $BENCH report /dev/stdin",
        "$BENCH compare <(cat r.jsonl) <(cat r.jsonl)", "$BENCH validate <(cat c.yaml)",
        "$BENCH analyze <(cat r.jsonl)", "cat r.jsonl | $BENCH analyze -"}) {
    const ProgramResult result = shell(line, folder.path());
    EXPECT_EQ(result.status, 0) << line << result.err;
  }
}

// --- usage -------------------------------------------------------------------------------------

TEST(Usage, AnInvalidSlowdownIsExit2BeforeAnythingStarts) {
  const TemporaryFolder folder;
  const Environment invalid = {{"BENCH_SLOWDOWN", "x"}};
  const std::vector<std::vector<std::string>> commands = {
      {"run", kCase, "--quick", "--out", "nn"},
      {"gate", kCase, "--out", "nn"},
      {"duet", kCase, "--base-env", "A=B", "--out", "nn"},
      {"selftest", kCase, "--record", "nn"},
  };
  for (const std::vector<std::string>& command : commands) {
    const ProgramResult result = bench(command, folder.path(), invalid);
    EXPECT_EQ(result.status, 2) << command[0];
    EXPECT_THAT(result.err, HasSubstr("BENCH_SLOWDOWN: `x` is not a fraction of the time"));
  }
  for (const char* command : {"gate", "duet"}) {
    for (const char* option : {"--base-env", "--cand-env"}) {
      const ProgramResult result =
          bench({command, kCase, "--base-env", "A=B", option, "BENCH_SLOWDOWN=300%", "--out", "nn"},
                folder.path());
      EXPECT_EQ(result.status, 2) << command << option;
      EXPECT_THAT(result.err, AllOf(HasSubstr(option), HasSubstr("`300%` is not a fraction")));
    }
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 0);
}

TEST(Usage, AnOptionThatStandsTwiceInAnIdIsRefused) {
  const ProgramResult result = bench({"list", std::string(kCase) + "/t1/t1"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("options `t1` and `t1` both set the threads"));
}

// The tests below come from a second attack, which did not use the list of the first one.
TEST(OutputPath, AReportIsNotResumedInto) {
  const TemporaryFolder folder;
  ASSERT_EQ(bench({"run", kCase, "--quick", "--out", "r.jsonl"}, folder.path()).status, 0);
  ASSERT_EQ(bench({"report", "r.jsonl", "-o", "d.json"}, folder.path()).status, 0);
  const std::string before = read_text(folder.file("d.json"));
  const ProgramResult result =
      bench({"run", kCase, "--quick", "--resume", "d.json"}, folder.path());
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("d.json: is not a result file"));
  EXPECT_EQ(read_text(folder.file("d.json")), before);
}

TEST(OutputPath, ATraceDoesNotReplaceItsOwnResult) {
  const TemporaryFolder folder;
  const ProgramResult result =
      bench({"run", kCase, "--quick", "--out", "a.json", "--trace", "./a.json", "--force"},
            folder.path());
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_FALSE(fs::exists(folder.file("a.json")));
}

TEST(OutputPath, EvidenceOfAGateIsARegularFile) {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("gate"));
  ASSERT_EQ(mkfifo(folder.file("gate/gate.jsonl").c_str(), 0600), 0);
  const ProgramResult result =
      bench({"gate", kCase, "--quick", "--out", "gate", "--force"}, folder.path());
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("gate.jsonl: is not a regular file"));
}

TEST(OutputPath, RecordsAndTableShareAnOpenStandardOutput) {
  const TemporaryFolder folder;
  ASSERT_EQ(bench({"run", kCase, "--quick", "--out", "r.jsonl"}, folder.path()).status, 0);
  const ProgramResult result =
      shell("$BENCH run $CASE --quick -q --out /dev/stdout > all", folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string all = read_text(folder.file("all"));
  EXPECT_EQ(all.find("{\"record\":\"run\""), 0U) << all.substr(0, 80);
  EXPECT_THAT(all, HasSubstr("\"record\":\"end\""));
}

// Result files have the suffix of a store's files. Earlier, a folder with result files was
// therefore taken for that of a machine class.
TEST(Inputs, AStoreMayLieBesideResultFiles) {
  const TemporaryFolder folder;
  ASSERT_EQ(bench({"run", kCase, "--quick", "--out", "r.jsonl"}, folder.path()).status, 0);
  const ProgramResult saved =
      bench({"baseline", "save", "r.jsonl", "--reason", "x", "--baseline", "."}, folder.path());
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_EQ(bench({"baseline", "verify", "--baseline", "."}, folder.path()).status, 0);
}

TEST(Inputs, TheFolderOfOneMachineClassIsNoStore) {
  const TemporaryFolder folder;
  ASSERT_EQ(bench({"run", kCase, "--quick", "--out", "r.jsonl"}, folder.path()).status, 0);
  ASSERT_EQ(bench({"baseline", "save", "r.jsonl", "--reason", "x"}, folder.path()).status, 0);
  const std::string inner =
      "baselines/" + fs::directory_iterator(folder.file("baselines"))->path().filename().string();
  for (const std::vector<std::string>& action :
       {std::vector<std::string>{"baseline", "verify"},
        {"baseline", "list"},
        {"baseline", "save", "r.jsonl", "--reason", "x"}}) {
    std::vector<std::string> command = action;
    command.insert(command.end(), {"--baseline", inner});
    EXPECT_EQ(bench(command, folder.path()).status, 2) << action[1];
  }
}

}  // namespace
}  // namespace bench::test::attack_test
