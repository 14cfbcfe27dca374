// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/launch.hpp"

#include "base/inherited_signals.hpp"

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

// `bench profile` returned 0 for a program that exits with 7.
TEST_F(ProgramLaunch, ALostExitStatusIsAnErrorAndNotZero) {
  const auto previous = std::signal(SIGCHLD, SIG_IGN);
  const Result<int> status = run_program_to_end("/bin/sh", {"sh", "-c", "exit 7"}, {});
  std::signal(SIGCHLD, previous);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "/bin/sh: has ended, but its exit status is lost: No child processes; start this tool "
            "with SIGCHLD at its default action");
}

TEST_F(ProgramLaunch, TheProgramGetsTheSignalStateThatThisProcessInherited) {
  const auto previous = std::signal(SIGCHLD, SIG_IGN);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const InheritedSignals inherited = InheritedSignals::replace();
  EXPECT_FALSE(ignores_signal(SIGCHLD));
  // Bit 9 of the blocked signals is SIGUSR1, bit 16 of the ignored ones is SIGCHLD. A shell would
  // change the actions of signals.
  const auto matches = [](const char* line, const InheritedSignals* signals) {
    const Result<int> status =
        run_program_to_end("/bin/grep", {"grep", "-qE", line, "/proc/self/status"}, {}, signals);
    return status.ok() && *status == 0;
  };
  constexpr const char* kBlocked = "^SigBlk:.*[2367abef][0-9a-f]{2}$";
  constexpr const char* kIgnored = "^SigIgn:.*[13579bdf][0-9a-f]{4}$";
  const bool is_restored = matches(kBlocked, &inherited) && matches(kIgnored, &inherited);
  const bool has_own = !matches(kBlocked, nullptr) && !matches(kIgnored, nullptr);
  std::signal(SIGCHLD, previous);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(is_restored);
  EXPECT_TRUE(has_own);
}

}  // namespace
}  // namespace bench
