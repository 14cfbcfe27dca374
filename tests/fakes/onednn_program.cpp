// SPDX-License-Identifier: Apache-2.0
// A user's program that uses oneDNN and prints to standard output, as `bench profile` runs it in
// tests. Executes its arguments in order:
//
//   relu          executes an elementwise primitive
//   threads       executes one in each of 4 threads at once
//   fork          also executes one in a child, and waits for it
//   self          executes this program with the remaining arguments in a child
//   print TEXT    prints TEXT and a newline
//   echo TEXT     prints TEXT as an invented verbose line
//   imitate       prints a copy of oneDNN's line of an execution, as its own text
//   verbose N     dnnl_set_verbose(N)
//   close         closes all descriptors from 3 on, and opens /dev/null as many times
//   spin MS       computes outside oneDNN for MS milliseconds of the thread's CPU time
//   team MS       does so in 2 new threads at once
//   child MS      does so in a child, and waits for it
//   prof MS       does so with a profiling timer of its own, and prints if it had its signals
//   block         blocks all signals in its thread
//   bare MS       executes this program in a child with an empty environment, to spin
//   handlers      installs a handler for every real-time signal
//   defaults      sets every real-time signal to its default action
//   exit N        exits with status N
//   kill          ends by SIGKILL
#include <oneapi/dnnl/dnnl.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <functional>
#include <map>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Words = std::vector<std::string>;

// Has external linkage and is never inlined: a test looks for it in backtraces.
__attribute__((noinline)) void execute_relu() {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc shape({2, 8, 4, 4}, dnnl::memory::data_type::f32,
                                 dnnl::memory::format_tag::nchw);
  dnnl::memory memory(shape, engine);
  const dnnl::eltwise_forward::primitive_desc description(
      engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_relu, shape, shape,
      0.0F);
  dnnl::eltwise_forward(description)
      .execute(stream, {{DNNL_ARG_SRC, memory}, {DNNL_ARG_DST, memory}});
  stream.wait();
}

volatile double spun = 1;

std::int64_t cpu_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Has external linkage and is never inlined: a test looks for it in samples.
__attribute__((noinline)) void compute_outside(int rounds) {
  double value = spun;
  for (int i = 0; i < rounds; ++i) value = value * 1.0000001 + 1e-9;
  spun = value;
}

void spin(int milliseconds) {
  constexpr int kRounds = 20'000;  // some ten microseconds
  const std::int64_t end = cpu_time_ns() + std::int64_t{milliseconds} * 1'000'000;
  while (cpu_time_ns() < end) compute_outside(kRounds);
}

void spin_in_threads(int milliseconds) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(spin, milliseconds);
  for (std::thread& thread : threads) thread.join();
}

volatile std::sig_atomic_t own_signals = 0;

void spin_with_own_timer(int milliseconds) {
  std::signal(SIGPROF, [](int) { own_signals = own_signals + 1; });
  const itimerval every{{0, 5000}, {0, 5000}};
  setitimer(ITIMER_PROF, &every, nullptr);
  spin(milliseconds);
  const itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  std::puts(own_signals > 0 ? "own signals" : "no own signals");
}

void handle_all_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { std::abort(); };
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) sigaction(number, &action, nullptr);
}

void reset_all_signals() {
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) std::signal(number, SIG_DFL);
}

void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

void execute_in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(execute_relu);
  for (std::thread& thread : threads) thread.join();
}

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
}

void execute_in_child() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execute_relu();
    std::fflush(stdout);
    _exit(0);
  }
  wait_for(child);
}

void spin_in_child(int milliseconds) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    spin(milliseconds);
    std::exit(0);
  }
  wait_for(child);
}

void execute_self(const Words& words) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> arguments{const_cast<char*>("onednn_program")};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  wait_for(child);
}

void close_all() {
  constexpr int kMaxDescriptor = 1100;  // higher than the descriptors that a careful library uses
  for (int descriptor = 3; descriptor < kMaxDescriptor; ++descriptor) close(descriptor);
  for (int descriptor = 3; descriptor < kMaxDescriptor; ++descriptor) {
    if (open("/dev/null", O_WRONLY) < 0) break;
  }
}

void spin_without_environment(const std::string& milliseconds) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    char* const nothing[] = {nullptr};
    execle("/proc/self/exe", "bench_onednn_program", "spin", milliseconds.c_str(), nullptr,
           nothing);
    _exit(127);
  }
  wait_for(child);
}

// Executes the first word and returns how many words it used.
std::size_t act(const Words& words) {
  static const std::map<std::string, std::function<std::size_t(const Words&)>> actions = {
      {"relu", [](const Words&) { return execute_relu(), 1; }},
      {"threads", [](const Words&) { return execute_in_threads(), 1; }},
      {"fork", [](const Words&) { return execute_in_child(), 1; }},
      {"self",
       [](const Words& rest) {
         execute_self({rest.begin() + 1, rest.end()});
         return rest.size();
       }},
      {"print", [](const Words& rest) { return std::printf("%s\n", rest.at(1).c_str()), 2; }},
      {"echo", [](const Words& rest) { return std::puts(rest.at(1).c_str()), 2; }},
      {"imitate",
       [](const Words&) {
         return std::printf(
                    "onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_inference,"
                    "data_f32::blocked:abcd::f0 diff_undef::undef:::,,alg:eltwise_relu alpha:0 "
                    "beta:0,2x8x4x4,%g\n",
                    14.02),
                1;
       }},
      {"verbose", [](const Words& rest) { return dnnl_set_verbose(std::stoi(rest.at(1))), 2; }},
      {"close", [](const Words&) { return close_all(), 1; }},
      {"spin", [](const Words& rest) { return spin(std::stoi(rest.at(1))), 2; }},
      {"team", [](const Words& rest) { return spin_in_threads(std::stoi(rest.at(1))), 2; }},
      {"child", [](const Words& rest) { return spin_in_child(std::stoi(rest.at(1))), 2; }},
      {"prof", [](const Words& rest) { return spin_with_own_timer(std::stoi(rest.at(1))), 2; }},
      {"defaults", [](const Words&) { return reset_all_signals(), 1; }},
      {"block", [](const Words&) { return block_all_signals(), 1; }},
      {"bare", [](const Words& rest) { return spin_without_environment(rest.at(1)), 2; }},
      {"handlers", [](const Words&) { return handle_all_signals(), 1; }},
      {"exit", [](const Words& rest) { return std::exit(std::stoi(rest.at(1))), 2; }},
      {"kill", [](const Words&) { return std::raise(SIGKILL), 1; }},
  };
  return actions.at(words.at(0))(words);
}

}  // namespace

int main(int argc, char** argv) {
  Words words(argv + 1, argv + argc);
  while (!words.empty()) {
    const std::size_t used_words = act(words);
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(used_words));
  }
}
