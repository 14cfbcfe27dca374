// SPDX-License-Identifier: Apache-2.0
// Runs the script in a real bash and checks its replies, and what it leaves to readline.
#include "harness/cli/command.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/option.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace bench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class BashCompletion : public testing::Test {
 protected:
  BashCompletion() { folder_.write("completion.bash", bash_completion()); }

  // Returns the completions of the last of `words`, which are split as bash splits them. Contains
  // "(files)" if readline also completes file names.
  std::vector<std::string> completions_of(const std::vector<std::string>& words) {
    std::string script =
        "set -eu\nsource ./completion.bash\nfiles=yes\n"
        "compopt() { [[ $1 != +o ]] || files=no; }\nCOMP_WORDS=(";
    for (const std::string& word : words) script += "'" + word + "' ";
    script += ")\nCOMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))\n_bench\n";
    script += "printf '%s\\n' \"${COMPREPLY[@]}\"\n[[ $files == no ]] || echo '(files)'\n";
    const test::ProgramResult result =
        test::run_program({{"bash", "-c", script}, folder_.path(), {}});
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<std::string> lines;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    return lines;
  }

  test::TemporaryFolder folder_;
};

TEST_F(BashCompletion, CommandsAndOptionsAreOffered) {
  EXPECT_THAT(completions_of({"bench", "ba"}), ElementsAre("baseline"));
  EXPECT_THAT(completions_of({"bench", "run", "--quick", "--res"}), ElementsAre("--resume"));
  EXPECT_THAT(completions_of({"bench", "help", "expl"}), ElementsAre("explain"));
}

// Regression test: completion used to offer only file names here.
TEST_F(BashCompletion, TheFirstOperandOfBaselineIsAnAction) {
  EXPECT_THAT(completions_of({"bench", "baseline", "s"}), ElementsAre("save", "show"));
  EXPECT_THAT(completions_of({"bench", "baseline", "save", ""}), ElementsAre("(files)"));
  EXPECT_THAT(completions_of({"bench", "completion", ""}), ElementsAre("bash", "zsh"));
}

TEST_F(BashCompletion, ValuesOfOptionsAreOfferedAndNoFiles) {
  EXPECT_THAT(completions_of({"bench", "report", "r.jsonl", "--format", "j"}), ElementsAre("json"));
  EXPECT_THAT(completions_of({"bench", "report", "r.jsonl", "--format", ""}),
              Not(Contains("space")));
  EXPECT_THAT(completions_of({"bench", "analyze", "r.jsonl", "--format", "c"}), ElementsAre("csv"));
  EXPECT_THAT(completions_of({"bench", "compare", "a", "b", "--format", "m"}),
              ElementsAre("markdown"));
  EXPECT_THAT(completions_of({"bench", "trace", "r.jsonl", "--format", ""}),
              ElementsAre("trace", "html", "memory_flow"));
  EXPECT_THAT(completions_of({"bench", "compare", "a", "b", "--fail-on", ""}),
              ElementsAre("regression"));
  EXPECT_THAT(completions_of({"bench", "history", "--fail-on", ""}),
              ElementsAre("regression", "pending"));
  EXPECT_THAT(completions_of({"bench", "baseline", "r"}), ElementsAre("remove"));
  EXPECT_THAT(completions_of({"bench", "history", "--si"}), ElementsAre("--since"));
  EXPECT_THAT(completions_of({"bench", "run", "--device", "cu"}), ElementsAre("cuda"));
  EXPECT_THAT(completions_of({"bench", "run", "--set", "measure.pr"}),
              UnorderedElementsAre("measure.precision=", "measure.processes="));
  EXPECT_THAT(completions_of({"bench", "run", "--set", ""}),
              AllOf(Contains("dtype="), Contains("budget="), Contains("warmup.time="),
                    Not(Contains("measure="))));
}

// Regression test: `-c` of every command used to offer the columns of `report`.
TEST_F(BashCompletion, AShortOptionHasTheValuesOfItsCommand) {
  for (const char* option : {"-c", "--columns"}) {
    EXPECT_THAT(completions_of({"bench", "report", "r.jsonl", option, ""}),
                AllOf(Contains("median_ns"), Not(Contains("layer"))));
    EXPECT_THAT(completions_of({"bench", "analyze", "r.jsonl", option, ""}),
                AllOf(Contains("layer"), Not(Contains("median_ns"))));
  }
}

TEST_F(BashCompletion, AValueMayFollowAnEqualsSign) {
  EXPECT_THAT(completions_of({"bench", "run", "--device", "=", "cu"}), ElementsAre("cuda"));
  EXPECT_THAT(completions_of({"bench", "run", "--profile", "="}), Contains("memory"));
  EXPECT_THAT(completions_of({"bench", "run", "--out", "="}), ElementsAre("(files)"));
  EXPECT_THAT(completions_of({"bench", "run", "--set", "measure.processes", "=", "3"}), IsEmpty());
  // After --profile without a value, the next word is an operand.
  EXPECT_THAT(completions_of({"bench", "run", "--profile", ""}), ElementsAre("(files)"));
}

TEST_F(BashCompletion, FilesAreOfferedForFilesOnly) {
  EXPECT_THAT(completions_of({"bench", "run", "--out", ""}), ElementsAre("(files)"));
  EXPECT_THAT(completions_of({"bench", "run", "-o", ""}), ElementsAre("(files)"));
  EXPECT_THAT(completions_of({"bench", "gate", "--baseline", ""}), ElementsAre("(files)"));
  EXPECT_THAT(completions_of({"bench", "run", "--budget", ""}), IsEmpty());
  EXPECT_THAT(completions_of({"bench", "run", "conf"}), ElementsAre("(files)"));
}

// Regression test: completion used to split file names at blanks. Readline does not split them if
// it completes them itself.
TEST_F(BashCompletion, ANameWithABlankIsOneWord) {
  folder_.write("my result.jsonl", "");
  folder_.write("keys",
                "source ./completion.bash; bench() { printf '<%s>' \"$@\" >words; }\n"
                "bench report my\t\nexit\n");
  const test::ProgramResult result = test::run_program(
      {{"sh", "-c", "script -q -e -c 'bash --norc --noprofile -i' /dev/null <keys"},
       folder_.path(),
       {{"TERM", "dumb"}}});
  EXPECT_EQ(test::read_text(folder_.file("words")), "<report><my result.jsonl>") << result.out;
}

TEST(Completion, EveryOptionWithAValueIsKnownToBash) {
  const std::string script = bash_completion();
  for (const Option& option : options()) {
    if (option.value.empty()) continue;
    EXPECT_NE(script.find(" --" + std::string(option.name) + "\""), std::string::npos)
        << option.name;
  }
}

}  // namespace
}  // namespace bench
