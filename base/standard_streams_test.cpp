// SPDX-License-Identifier: Apache-2.0
#include "base/standard_streams.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

// Runs `body` in a separate process, which ends with the number that `body` returns.
template <class Body>
int status_of(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(StandardDescriptors, ClosedOnesBecomeDevNull) {
  EXPECT_EQ(status_of([] {
              close(STDOUT_FILENO);
              close(STDERR_FILENO);
              open_standard_descriptors();
              const bool discards =
                  write(STDOUT_FILENO, "x", 1) == 1 && write(STDERR_FILENO, "x", 1) == 1;
              const int next = open("/dev/null", O_RDONLY);
              return discards && next > STDERR_FILENO ? 0 : 1;
            }),
            0);
}

TEST(StandardDescriptors, OpenOnesStay) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(status_of([&] {
              dup2(ends[1], STDOUT_FILENO);
              close(STDIN_FILENO);
              open_standard_descriptors();
              return write(STDOUT_FILENO, "x", 1) == 1 ? 0 : 1;
            }),
            0);
  char got = 0;
  EXPECT_EQ(read(ends[0], &got, 1), 1);
  EXPECT_EQ(got, 'x');
  close(ends[0]);
  close(ends[1]);
}

TEST(FailedWrites, AFileSizeLimitAndAClosedPipeAreErrorsOfTheWrite) {
  EXPECT_EQ(status_of([] {
              survive_failed_writes();
              int ends[2];
              if (pipe(ends) != 0) return 1;
              close(ends[0]);
              CheckedStream closed(ends[1]);
              closed << "x";
              if (closed.finish() != EPIPE) return 2;
              std::string name = "/tmp/bench-streams-XXXXXX";
              const int file = mkstemp(name.data());
              unlink(name.c_str());
              const rlimit limit{4, 4};
              setrlimit(RLIMIT_FSIZE, &limit);
              CheckedStream stream(file);
              stream << "too long";
              return stream.finish() == EFBIG && !stream.good() ? 0 : 3;
            }),
            0);
}

TEST(FailedWrites, ProgramsStartedLaterDieOfTheSignalAsEver) {
  EXPECT_EQ(status_of([] {
              survive_failed_writes();
              execlp("sh", "sh", "-c", "kill -XFSZ $$", nullptr);
              return 1;
            }),
            128 + SIGXFSZ);
  EXPECT_EQ(status_of([] {  // an ignored signal stays ignored
              std::signal(SIGPIPE, SIG_IGN);
              survive_failed_writes();
              execlp("sh", "sh", "-c", "kill -PIPE $$", nullptr);
              return 1;
            }),
            0);
}

TEST(CheckedStream, KeepsTheReasonOfTheFirstFailure) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  CheckedStream stream(full);
  stream << std::string(200'000, 'x');
  errno = 0;
  stream << "more" << std::flush;
  EXPECT_EQ(stream.finish(), ENOSPC);
  EXPECT_FALSE(stream.good());
  close(full);
}

TEST(CheckedStream, WritesAllInOrder) {
  std::string name = "/tmp/bench-streams-XXXXXX";
  const int file = mkstemp(name.data());
  unlink(name.c_str());
  std::string expected;
  {
    CheckedStream stream(file);
    for (int i = 0; i < 30'000; ++i) {
      stream << i << ' ';
      stream.put('\n');
      expected += std::to_string(i) + " \n";
    }
    EXPECT_EQ(stream.finish(), 0);
  }
  std::string got(expected.size() + 1, '\0');
  EXPECT_EQ(pread(file, got.data(), got.size(), 0), static_cast<ssize_t>(expected.size()));
  got.resize(expected.size());
  EXPECT_EQ(got, expected);
  close(file);
}

}  // namespace
}  // namespace bench
