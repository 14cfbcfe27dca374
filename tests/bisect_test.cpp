// SPDX-License-Identifier: Apache-2.0
// `git bisect run` with `bench duet --bisect`, on a repository made for the test, as docs/gate.md
// shows it.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bench::test::bisect_test {
namespace {

using testing::HasSubstr;

constexpr const char* kCase = "gemm/forward/m64n64k64/f32/onednn/cpu/hot/t1";

class BisectTest : public testing::Test {
 protected:
  void SetUp() override {
    write_program("good", "");
    write_program("repository", "");
    git({"init", "-q", "-b", "main", "."});
    commit("the release");
    git({"tag", "release"});
  }

  // Writes a checkout whose ./bench starts this build. A line before that changes what it does.
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

  std::vector<std::string> duet() const {
    return {folder_.file("good/bench"),
            "duet",
            kCase,
            "--base",
            folder_.file("good"),
            "--cand",
            ".",
            "--bisect",
            "--quiet",
            "--duets",
            "12"};
  }

  TemporaryFolder folder_;
};

// The third commit takes twice the time. The one before it cannot be built, and is skipped.
TEST_F(BisectTest, finds_the_commit_that_made_a_case_slower) {
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
  for (const std::string& word : duet()) run.push_back(word);
  const ProgramResult result = git(run);
  EXPECT_THAT(git({"bisect", "log"}).out, HasSubstr("first bad commit: "));
  EXPECT_THAT(git({"bisect", "log"}).out, HasSubstr("the slow change")) << result.out << result.err;
  EXPECT_THAT(git({"log", "-1", "--format=%s", "refs/bisect/bad"}).out, "the slow change\n");
}

TEST_F(BisectTest, what_cannot_be_measured_is_skipped) {
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
