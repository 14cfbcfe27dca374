// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress.hpp"

#include "tests/fakes/fake_clock.hpp"
#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <unistd.h>

namespace bench {
namespace {

class ProgressTest : public testing::Test {
 protected:
  // Returns what the progress of a gate's profiles writes to standard error.
  std::string show_phases() {
    const auto progress = make_progress(Verbosity::normal, env_);
    progress->phase("profiling conv/a");
    progress->phase("profiling conv/b");
    return environment_.err.str();
  }

  test::FakeClock clock_;
  test::TestEnv environment_{clock_};
  Env& env_ = environment_.env;
};

// These lines remained on the terminal.
TEST_F(ProgressTest, ATerminalErasesAPhaseWhenTheNextOneBegins) {
  env_.err_is_terminal = true;
  EXPECT_EQ(show_phases(), "\r\x1b[Kprofiling conv/a\r\x1b[Kprofiling conv/b");
  EXPECT_TRUE(environment_.err.str().ends_with("\r\x1b[K")) << "the end erases the last one";
}

TEST_F(ProgressTest, APhaseIsShortenedToTheTerminal) {
  env_.err_is_terminal = true;
  env_.terminal_width = 12;
  EXPECT_EQ(show_phases().find("profiling conv/a"), std::string::npos);
}

// The line had 230 columns, and the table repeats the reason.
TEST_F(ProgressTest, TheLineOfASkippedCaseFitsIntoTheTerminalAndALogHasTheCompleteReason) {
  CaseRecord record;
  record.id = "gemm/forward/m200000n200000k200000/f32/onednn/cpu/hot";
  record.outcome = Outcome::skipped;
  record.reason = "not enough memory: needs " + std::string(200, '9') + " GiB";
  make_progress(Verbosity::normal, env_)->case_finished(record);
  EXPECT_EQ(environment_.err.str(), record.id + ": skipped (" + *record.reason + ")\n");
  environment_.err.str("");
  env_.err_is_terminal = true;
  env_.terminal_width = 72;
  const auto progress = make_progress(Verbosity::normal, env_);
  progress->case_finished(record);
  const std::string text = environment_.err.str();
  const std::string line = text.substr(4, text.find('\n') - 4);  // without erasing the line
  EXPECT_EQ(line.size(), 72U) << line;
  EXPECT_TRUE(line.starts_with("gemm/forward/m200000")) << line;
}

// Sentences of 130 columns were cut within a word at the edge of the terminal.
TEST_F(ProgressTest, ASentenceIsWrappedAtTheWidthOfTheTerminal) {
  const std::string sentence =
      "ceilings: none are stored for this machine, so 12 were measured in 640 ms; `bench peak` "
      "measures and stores them once";
  env_.terminal_width = 80;
  make_progress(Verbosity::normal, env_)->message(sentence);
  EXPECT_EQ(environment_.err.str(), sentence + "\n") << "a log has the sentence on one line";
  environment_.err.str("");
  env_.err_is_terminal = true;
  const auto progress = make_progress(Verbosity::normal, env_);
  progress->message(sentence);
  EXPECT_EQ(environment_.err.str(),
            "\r\x1b[Kceilings: none are stored for this machine, so 12 were measured in 640 ms;\n"
            "`bench peak` measures and stores them once\n");
}

TEST_F(ProgressTest, ALogKeepsALinePerPhase) {
  EXPECT_EQ(show_phases(), "profiling conv/a\nprofiling conv/b\n");
}

// `nohup bench run` was interrupted when the terminal closed: a blocked signal arrives at the
// descriptor although it is ignored.
TEST(InterruptWatch, ASignalThatWasInheritedAsIgnoredDoesNotInterrupt) {
  const auto previous = std::signal(SIGHUP, SIG_IGN);
  {
    InterruptWatch watch;
    kill(getpid(), SIGHUP);
    EXPECT_FALSE(watch.is_interrupted());
    kill(getpid(), SIGTERM);
    EXPECT_TRUE(watch.is_interrupted());
  }
  std::signal(SIGHUP, previous);
}

}  // namespace
}  // namespace bench
