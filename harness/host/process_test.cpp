// SPDX-License-Identifier: Apache-2.0
#include "harness/host/process.hpp"

#include "tests/fakes/fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace bench {
namespace {

using namespace std::chrono_literals;
using Wait = ChildProcess::Wait;

// Long enough for any machine; no test waits for it.
constexpr Nanoseconds kPatience = 60s;

Result<ChildProcess> shell(const std::string& script,
                           std::map<std::string, std::string> environment = {}) {
  return ChildProcess::start({"/bin/sh", {"-c", script}, std::move(environment), {}});
}

TEST(ChildProcess, TalksInLines) {
  MonotonicClock clock;
  auto child = shell("while read x; do echo \"got $x\"; done");
  ASSERT_TRUE(child.ok()) << child.error().message();
  std::string line;
  for (const std::string text : {"one", "two"}) {
    EXPECT_EQ(child->write(text + "\n", kPatience, nullptr, clock), Wait::ready);
    EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
    EXPECT_EQ(line, "got " + text);
  }
  child->close_input();
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::closed);
  EXPECT_EQ(child->finish(kPatience, clock).exit_status, 0);
}

TEST(ChildProcess, OutputThatNobodyHasReadIsKnown) {
  MonotonicClock clock;
  auto child = shell("read x; echo one; read x; printf 'two\\nthree\\n'; read x");
  ASSERT_TRUE(child.ok()) << child.error().message();
  EXPECT_FALSE(child->has_unread_output());
  std::string line;
  EXPECT_EQ(child->write("\n", kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  EXPECT_FALSE(child->has_unread_output());
  EXPECT_EQ(child->write("\n", kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(line, "two");
  while (!child->has_unread_output()) std::this_thread::yield();
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(line, "three");
  EXPECT_FALSE(child->has_unread_output());
}

TEST(ChildProcess, LongMessagesPassInBothDirections) {
  MonotonicClock clock;
  auto child = shell("cat");
  ASSERT_TRUE(child.ok());
  // Fits into the socket and pipe buffers together, because a worker answers only after reading
  // everything.
  const std::string text(100000, 'x');
  std::string line;
  EXPECT_EQ(child->write(text + "\n", kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(line, text);
}

// A misbehaving worker must not exhaust the memory.
TEST(ChildProcess, AnEndlessLineEndsAtItsLimit) {
  MonotonicClock clock;
  auto child = shell("exec tr '\\0' x < /dev/zero", {{"PATH", "/usr/bin:/bin"}});
  ASSERT_TRUE(child.ok());
  std::string line;
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  EXPECT_GT(line.size(), kMaxWorkerLine);
  EXPECT_LT(line.size(), kMaxWorkerLine + (std::size_t{1} << 20));
}

TEST(ChildProcess, GetsExactlyItsEnvironment) {
  MonotonicClock clock;
  auto child = shell("echo \"$A-$HOME\"", {{"A", "b"}});
  ASSERT_TRUE(child.ok());
  std::string line;
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(line, "b-");
}

// The address of the stack determines the alignment of an operator's vectors on it, and so its
// time. It must not depend on other variables in the environment.
TEST(ChildProcess, FixedAddressesDoNotDependOnTheEnvironment) {
  MonotonicClock clock;
  const auto stack = [&](const std::string& value) -> std::string {
    auto child = ChildProcess::start({"/bin/sh",
                                      {"-c",
                                       "while read -r line; do case $line in *'[stack]'*) "
                                       "echo \"$line\";; esac; done < /proc/self/maps"},
                                      {{"NAME", value}},
                                      {},
                                      ProcessRequest::Output::own,
                                      ProcessRequest::Addresses::fixed});
    std::string line;
    if (!child) return child.error().message();
    child->read_line(line, kPatience, nullptr, clock);
    return line;
  };
  const std::string first = stack("short");
  EXPECT_THAT(first, testing::HasSubstr("[stack]"));
  // If the system refuses fixed addresses, they are randomised, and the test cannot check anything.
  if (first != stack("short")) GTEST_SKIP() << "this system draws addresses for every process";
  EXPECT_EQ(stack(std::string(3000, 'x')), first);
}

TEST(ChildProcess, EndsAreToldApart) {
  MonotonicClock clock;
  std::string line;
  auto exits = shell("exit 3");
  EXPECT_EQ(exits->read_line(line, kPatience, nullptr, clock), Wait::closed);
  EXPECT_EQ(exits->finish(kPatience, clock).text(), "exit status 3");
  auto crashes = shell("kill -SEGV $$");
  EXPECT_EQ(crashes->read_line(line, kPatience, nullptr, clock), Wait::closed);
  EXPECT_EQ(crashes->finish(kPatience, clock).text(), "SIGSEGV (Segmentation fault)");
}

TEST(ChildProcess, ADeadlineAndAnInterruptEndTheWaiting) {
  MonotonicClock clock;
  auto child = shell("exec sleep 1000");
  ASSERT_TRUE(child.ok());
  std::string line;
  EXPECT_EQ(child->read_line(line, 0ns, nullptr, clock), Wait::deadline);
  EXPECT_EQ(child->read_line(
                line, kPatience, [] { return true; }, clock),
            Wait::interrupted);
  EXPECT_EQ(child->finish(0ns, clock).signal, SIGKILL);
}

TEST(ChildProcess, WritingToTheDeadIsNoSignal) {
  MonotonicClock clock;
  auto child = shell("exit 0");
  std::string line;
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::closed);
  child->finish(kPatience, clock);
  EXPECT_EQ(child->write("hello\n", kPatience, nullptr, clock), Wait::closed);
}

TEST(ChildProcess, KeepsWhatItComplainsAbout) {
  MonotonicClock clock;
  auto child = shell("echo sorry >&2; exit 1");
  child->finish(kPatience, clock);
  EXPECT_EQ(child->standard_error(), "sorry\n");
  EXPECT_EQ(child->take_standard_error(), "sorry\n");
  EXPECT_EQ(child->take_standard_error(), "");
}

TEST(ChildProcess, SaysWhyAProgramCannotBeExecuted) {
  const auto child = ChildProcess::start({"/nowhere/bench", {}, {}, {}});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message(), "cannot execute `/nowhere/bench`: No such file or directory");
}

// With SIGCHLD ignored, the kernel discards the status of a process that ends. Waiting for it never
// ended.
TEST(ChildProcess, AnEndWhoseStatusIsLostIsAnEnd) {
  MonotonicClock clock;
  const auto previous = std::signal(SIGCHLD, SIG_IGN);
  auto child = shell("exit 3");
  ASSERT_TRUE(child.ok());
  std::string line;
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::closed);
  const ProcessEnd end = child->finish(kPatience, clock);
  std::signal(SIGCHLD, previous);
  EXPECT_EQ(end.exit_status, std::nullopt);
  EXPECT_EQ(end.signal, std::nullopt);
  EXPECT_EQ(end.text(), "an unknown status");
}

TEST(ChildProcess, StartsWithoutTheBlockedAndIgnoredSignalsOfItsParent) {
  MonotonicClock clock;
  const auto previous = std::signal(SIGCHLD, SIG_IGN);
  auto child = shell(
      "while read -r line; do case $line in SigBlk*|SigIgn*) echo $line;; esac; done "
      "< /proc/self/status");
  std::signal(SIGCHLD, previous);
  ASSERT_TRUE(child.ok());
  std::string line;
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  EXPECT_EQ(line, "SigBlk: 0000000000000000");
  EXPECT_EQ(child->read_line(line, kPatience, nullptr, clock), Wait::ready);
  const auto ignored = std::stoull(line.substr(line.find(' ') + 1), nullptr, 16);
  EXPECT_EQ(ignored & (1ULL << (SIGCHLD - 1)), 0U) << line;
  EXPECT_EQ(ignored & (1ULL << (SIGPIPE - 1)), 0U) << line;
}

}  // namespace
}  // namespace bench
