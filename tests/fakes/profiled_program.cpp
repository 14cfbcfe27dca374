// SPDX-License-Identifier: Apache-2.0
// A user's program with bench/profiler.hpp. Its argument selects one of the functions below.
#include <bench/profiler.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace prof = bench::profiler;

namespace {

std::size_t count_lines(const std::string& path) {
  std::ifstream file(path);
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

void use_everything() {
  prof::Domain domain("training");
  { prof::Task task = domain.new_task("epoch"); }
  { prof::Frame frame(domain, "step"); }
  { prof::Event event("load"); }
  prof::Counter counter = domain.new_counter("samples", 5);
  counter += 3;
  counter -= 10;
  counter.set(7);
  counter.increment();
  counter.decrement(2);
  prof::Marker marker(domain, "best");
  marker.mark();
  for (const auto scope : {prof::MarkerScope::global, prof::MarkerScope::thread,
                           prof::MarkerScope::task, prof::MarkerScope::marker}) {
    marker.mark(scope);
  }
  const prof::Scope encoder("encoder");
  const prof::Scope inner("a:b");
  prof::Event attention("attention");
}

void use_scopes() {
  const prof::Scope encoder("encoder");
  const prof::Scope inner(std::string("a:b"));
}

int all() {
  prof::start();
  use_everything();
  return 0;
}

int pause_and_resume() {
  prof::start();
  { prof::Event first("first"); }
  prof::pause();
  { prof::Event hidden("hidden"); }
  prof::resume();
  { prof::Event last("last"); }
  prof::stop();
  { prof::Event after("after"); }
  prof::start();
  { prof::Event again("again"); }
  return 0;
}

// Prints the number of lines of the file after each dump: two after new events, and one without.
int dump_twice() {
  prof::start();
  for (int i = 0; i < 2; ++i) {
    { prof::Event event("e"); }
    prof::dump();
    std::printf("%zu\n", count_lines(prof::file()));
  }
  prof::dump();
  std::printf("%zu\n", count_lines(prof::file()));
  return 0;
}

// Ends by SIGKILL as soon as the continuous dump has written something.
int killed() {
  prof::set("dump_period", "1ms");
  prof::start();
  while (count_lines(prof::file()) < 3) prof::Event event("e");
  return std::raise(SIGKILL);
}

int limits() {
  prof::start();
  prof::Domain domain("d");
  prof::Counter high(domain, "high", INT64_MAX);
  prof::Counter low(domain, "low", 0);
  high += 1;
  low -= INT64_MIN;
  std::printf("%d\n", high.value() == INT64_MAX && low.value() == INT64_MAX);
  low.set(INT64_MIN);
  low.decrement();
  std::printf("%d\n", low.value() == INT64_MIN);
  return 0;
}

int forks() {
  prof::set("file", "mine.jsonl");
  prof::start();
  const prof::Scope scope("parent");
  { prof::Event event("before"); }
  if (const pid_t child = fork(); child == 0) {
    prof::Event event("in child");
    event.stop();
    std::exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  prof::Event event("after");
  return 0;
}

int threads() {
  prof::start();
  std::vector<std::thread> all_threads;
  prof::Domain domain("d");
  prof::Counter counter(domain, "count");
  for (int i = 0; i < 4; ++i) {
    all_threads.emplace_back([&] {
      for (int k = 0; k < 250; ++k) {
        const prof::Scope scope("thread");
        prof::Event event("e");
        counter += 1;
      }
    });
  }
  for (std::thread& thread : all_threads) thread.join();
  std::printf("%lld\n", static_cast<long long>(counter.value()));
  return 0;
}

int sums() {
  prof::start();
  { prof::Event event("load"); }
  { prof::Event event("load"); }
  std::printf("%s", prof::dumps(prof::Format::json, prof::Sort::count, prof::Order::ascending,
                                prof::Reset::yes)
                        .c_str());
  return 0;
}

int table() {
  prof::start();
  use_everything();
  std::printf("%s", prof::dumps().c_str());
  return 0;
}

int bad_calls() {
  const bool unknown = prof::set("knds", "all");
  const std::string reason = prof::last_error();
  prof::set("file", "/nowhere/at/all.jsonl");
  const bool started = prof::start();
  std::printf("%d %s %d\n", unknown, reason.c_str(), started);
  use_everything();
  return 0;
}

struct Mode {
  const char* name;
  int (*run)();
};

constexpr Mode kModes[] = {
    {"plain", [] { return use_everything(), 0; }},
    {"all", all},
    {"pause", pause_and_resume},
    {"dump", dump_twice},
    {"killed", killed},
    {"limits", limits},
    {"fork", forks},
    {"threads", threads},
    {"sums", sums},
    {"table", table},
    {"bad", bad_calls},
    {"scopes", [] { return use_scopes(), 0; }},
    {"start-scopes", [] { return prof::start(), use_scopes(), 0; }},
};

}  // namespace

int main(int, char** argv) {
  for (const Mode& mode : kModes) {
    if (std::strcmp(mode.name, argv[1]) == 0) return mode.run();
  }
  return 99;
}
