// SPDX-License-Identifier: Apache-2.0
// `git bisect run` with `bench duet --bisect` and `bench gate --bisect`, on a repository made for
// the test, as docs/gate.md shows it.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bench::test::bisect_test {
namespace {

using testing::HasSubstr;

class BisectTest : public testing::Test {
 protected:
  void SetUp() override {
    write_program("good", "");
    write_program("repository", "");
    git({"init", "-q", "-b", "main", "."});
    commit("the release");
    git({"tag", "release"});
  }

  // Writes a checkout whose ./bench starts this build. The shell runs `line` before, so that a
  // commit can change what ./bench does.
  void write_program(const std::string& checkout, const std::string& line) {
    const std::string path = folder_.write(
        checkout + "/bench", "#!/bin/sh\n" + line + "\nexec " + BENCH_BINARY + " \"$@\"\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  ProgramResult git(std::vector<std::string> arguments) {
    std::vector<std::string> command = {"git", "-c", "user.name=test", "-c",
                                        "user.email=test@test"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    ProgramResult result = run_program({std::move(command), folder_.file("repository"), {}});
    EXPECT_LT(result.status, 126) << result.err;
    return result;
  }

  void commit(const std::string& title) {
    git({"add", "-A"});
    EXPECT_EQ(git({"commit", "-q", "--allow-empty", "-m", title}).status, 0);
  }

  // A verdict of a step errs in 5 % of the steps if it is to detect any difference; here it is to
  // detect twice the time.
  std::vector<std::string> duet() {
    folder_.write("duet.yaml",
                  "version: 1\nname: bisected\ndefaults: { threads: 1 }\ngate: { detect: 50% }\n"
                  "cases:\n  - { op: gemm, m: 64, n: 64, k: 64 }\n");
    return {folder_.file("good/bench"),
            "duet",
            folder_.file("duet.yaml"),
            "--base",
            folder_.file("good"),
            "--cand",
            ".",
            "--bisect",
            "--quiet",
            "--duets",
            "12"};
  }

  std::vector<std::string> gate() {
    folder_.write("gate.yaml",
                  "version: 1\nname: bisected\ndefaults: { threads: 1 }\ngate: { detect: 50% }\n"
                  "cases:\n  - { op: gemm, m: 64, n: 64, k: 64 }\n"
                  "  - { op: pool, function: max, c: 16, h: 32, window: 2, stride: 2 }\n");
    return {folder_.file("good/bench"),
            "gate",
            folder_.file("gate.yaml"),
            "--base",
            folder_.file("good"),
            "--cand",
            ".",
            "--bisect",
            "--quiet"};
  }

  // Runs git's bisection with `command` on five commits after the release: the second one cannot
  // be built and is skipped; the fourth one takes twice the time.
  void bisect(const std::vector<std::string>& command) {
    commit("another change");
    write_program("repository", "echo 'cannot be built' >&2; exit 1");
    commit("does not build");
    write_program("repository", "");
    commit("builds again");
    write_program("repository", "export BENCH_SLOWDOWN=1");
    commit("the slow change");
    commit("a later change");

    git({"bisect", "start", "main", "release"});
    std::vector<std::string> run = {"bisect", "run"};
    run.insert(run.end(), command.begin(), command.end());
    const ProgramResult result = git(run);
    EXPECT_THAT(git({"bisect", "log"}).out, HasSubstr("first bad commit: "));
    EXPECT_THAT(git({"bisect", "log"}).out, HasSubstr("the slow change"))
        << result.out << result.err;
    EXPECT_THAT(git({"log", "-1", "--format=%s", "refs/bisect/bad"}).out, "the slow change\n");
  }

  TemporaryFolder folder_;
};

TEST_F(BisectTest, DuetFindsTheCommitThatMadeACaseSlower) { bisect(duet()); }

TEST_F(BisectTest, GateFindsTheCommitThatMadeCasesSlower) { bisect(gate()); }

TEST_F(BisectTest, WhatCannotBeMeasuredIsSkipped) {
  write_program("repository", "echo 'cannot be built' >&2; exit 1");
  const ProgramResult result = run_program({duet(), folder_.file("repository"), {}});
  EXPECT_EQ(result.status, 125) << result.err;
  EXPECT_THAT(result.err, HasSubstr("did not print the version of a bench"));
  EXPECT_THAT(result.err, HasSubstr("`git bisect run` skips it\n"));
  EXPECT_EQ(
      run_program({{BENCH_BINARY, "gate", "none.yaml", "--bisect"}, folder_.path(), {}}).status,
      125);
  EXPECT_EQ(run_program({{BENCH_BINARY, "gate", "--bisect", "--wrong"}, folder_.path(), {}}).status,
            125);
}

}  // namespace
}  // namespace bench::test::bisect_test
