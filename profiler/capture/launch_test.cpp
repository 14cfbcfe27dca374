// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/launch.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Sends this process the signal `due_signal` during its next fork(), unless it is 0.
volatile std::sig_atomic_t due_signal = 0;
void send_due_signal() {
  const int signal = due_signal;
  due_signal = 0;
  if (signal != 0) raise(signal);
}

class ProgramLaunch : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(pthread_atfork(send_due_signal, nullptr, nullptr), 0); }
  // The tests may run below a program that ignores signals, such as nohup.
  ProgramLaunch() {
    for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  }
};

// A signal that arrived before the handler knew the program was lost: neither process ended.
TEST_F(ProgramLaunch, ASignalWhileTheProgramStartsReachesIt) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    due_signal = signal;
    const Result<int> status = run_program_to_end("/bin/sleep", {"sleep", "60"}, {});
    ASSERT_TRUE(status.ok()) << status.error().message();
    EXPECT_EQ(*status, 128 + signal);
  }
}

TEST_F(ProgramLaunch, ASignalToThisProcessIsForwardedToTheProgram) {
  const std::string script =
      "trap 'exit 7' TERM; kill -TERM $PPID; i=0; while [ $i -lt 10000000 ]; do i=$((i + 1)); done";
  const Result<int> status = run_program_to_end("/bin/sh", {"sh", "-c", script}, {});
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_EQ(*status, 7);
}

// Returns for each signal its handler and whether it is blocked.
std::vector<std::pair<sighandler_t, bool>> signal_states() {
  sigset_t mask;
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
  std::vector<std::pair<sighandler_t, bool>> states;
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    EXPECT_EQ(sigaction(signal, nullptr, &action), 0);
    states.emplace_back(action.sa_handler, sigismember(&mask, signal) == 1);
  }
  return states;
}

TEST_F(ProgramLaunch, HandlersAndMaskAreRestored) {
  const auto before = signal_states();
  EXPECT_TRUE(run_program_to_end("/bin/true", {"true"}, {}).ok());
  EXPECT_EQ(signal_states(), before);
  EXPECT_FALSE(run_program_to_end("/nonexistent", {"nonexistent"}, {}).ok());
  EXPECT_EQ(signal_states(), before);
}

}  // namespace
}  // namespace bench
