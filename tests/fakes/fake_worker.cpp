// SPDX-License-Identifier: Apache-2.0
// A worker for fault tests: the real server over a fake backend with the fault of FAKE_FAULT.
//
//   FAKE_FAULT=KIND@PLACE:TOKENS   KIND: segv abort hang exit garbage chatter wrong
//                                  PLACE: create, first (run), timed (a later run)
//                                  TOKENS: parameters of the affected problem, or * for all
//                                  `wrong` works only at `first`; elsewhere it has no effect
//   FAKE_START=exit|hang|protocol  instead of serving
//   FAKE_PIDS=FILE                 each worker appends its process id
#include "harness/wire/messages.hpp"
#include "harness/worker/worker.hpp"
#include "tests/fakes/fake_backend.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>

namespace {

using bench::test::FakeScript;

// Number of the first run that counts as timed. Earlier ones are the first run and the warm-up.
constexpr std::int64_t kTimedRun = 40;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Fault {
  std::string kind, place, tokens;

  static Fault from_environment() {
    const std::string text = variable("FAKE_FAULT");
    const std::size_t at = text.find('@');
    const std::size_t colon = text.find(':');
    if (at == std::string::npos || colon == std::string::npos) return {};
    return {text.substr(0, at), text.substr(at + 1, colon - at - 1), text.substr(colon + 1)};
  }
  bool strikes(const std::string& problem, const std::string& where) const {
    return !kind.empty() && place == where && (tokens == "*" || tokens == problem);
  }
};

// Writes stray output, as a faulty library may, to each descriptor from 3 to 31.
void write_garbage() {
  for (int descriptor = 3; descriptor < 32; ++descriptor) {
    (void)!write(descriptor, "garbage\n", 8);
  }
}

void strike(const std::string& kind) {
  if (kind == "segv") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit instead of dying
    std::raise(SIGSEGV);
  }
  if (kind == "abort") std::abort();
  if (kind == "exit") std::_Exit(3);
  if (kind == "garbage") write_garbage();
  if (kind == "chatter") std::cout << "a library says hello" << std::endl;
  while (kind == "hang") pause();
}

FakeScript script(const Fault& fault, const std::string& problem) {
  FakeScript result;
  result.run = [](std::int64_t) { return bench::Nanoseconds(0); };
  if (fault.strikes(problem, "create")) strike(fault.kind);
  if (fault.kind == "wrong" && fault.strikes(problem, "first")) result.wrong_element = 0;
  result.before_run = [fault, problem](std::int64_t number) {
    if (number == 0 && fault.strikes(problem, "first")) strike(fault.kind);
    if (number >= kTimedRun && fault.strikes(problem, "timed")) strike(fault.kind);
  };
  return result;
}

// Acts out FAKE_START instead of serving. Returns if the variable is empty.
void play_start(const std::string& kind) {
  if (kind == "exit") {
    std::cerr << "error while loading shared libraries: libfake.so.3" << std::endl;
    std::_Exit(127);
  }
  while (kind == "hang") pause();
  if (kind == "protocol") {
    std::string line;
    std::getline(std::cin, line);
    bench::HelloReply hello;
    hello.protocol = bench::kProtocolVersion + 1;
    std::cout << encode(bench::ReplyMessage{hello, {}}) << std::endl;
    std::getline(std::cin, line);
    std::_Exit(0);
  }
}

void note_pid(const std::string& path) {
  if (path.empty()) return;
  if (std::FILE* file = std::fopen(path.c_str(), "a")) {
    std::fprintf(file, "%d\n", static_cast<int>(getpid()));
    std::fclose(file);
  }
}

}  // namespace

int main() {
  note_pid(variable("FAKE_PIDS"));
  play_start(variable("FAKE_START"));
  const Fault fault = Fault::from_environment();
  bench::MonotonicClock clock;
  bench::test::FakeBackend backend(
      [](bench::Nanoseconds) {},
      [&](const std::string& problem) { return script(fault, problem); });
  return bench::serve(STDIN_FILENO, STDOUT_FILENO, backend, clock);
}
