// SPDX-License-Identifier: Apache-2.0
// A user's CUDA program, as `bench profile` runs it in tests; its device is fake_cuda/control.hpp.
// Executes its arguments in order:
//
//   init          cuInit, and prints what it returns
//   push TEXT     pushes an NVTX range
//   pop           pops one
//   launch NAME STREAM     launches a kernel that takes 1 us
//   copy BYTES    copies to the device
//   busy          two kernels of 1 ms, 1 ms apart
//   threads       runs two threads in lockstep, each on its own stream: each launches one kernel in
//                 a range of a PyTorch operator, then one kernel in a range of a layer
//   replay FILE   pushes and pops ranges as the lines of FILE state ("push TEXT", "pop"), and
//                 launches a kernel in each innermost range
//   cuda on|off   calls cudaProfilerStart or cudaProfilerStop as a program with a statically linked
//                 CUDA runtime does
//   alloc N       allocates N bytes
//   await TEXT    waits until the tracer's file of this process contains TEXT
//   fork          starts a child that ends at once
//   self          runs this program with the remaining arguments in a child
//   exec          becomes this program with the remaining arguments
//   print TEXT    prints TEXT and a newline
//   exit N        exits with status N
//   kill          ends by SIGKILL
//   orphan        ends its parent by SIGKILL
#include "tests/fakes/fake_cuda/control.hpp"

#include <nvtx3/nvToolsExt.h>

#include <barrier>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" int cuInit(unsigned flags);  // NOLINT: CUDA's name

namespace {

using Words = std::vector<std::string>;

// Numbers of cupti_runtime_cbid.h, which never change.
constexpr std::uint32_t kMalloc = 20;
constexpr std::uint32_t kMemcpy = 31;
constexpr std::uint32_t kLaunchKernel = 211;
constexpr std::uint32_t kProfilerStart = 171;
constexpr std::uint32_t kProfilerStop = 172;

// Returns the fake CUPTI that the tracer also loads, or nullptr if there is none. The program also
// runs without it.
const FakeCupti* fake_cupti() {
  static const FakeCupti* found = [] {
    const char* const folder = std::getenv("BENCH_CUDA_LIBS");
    void* const library =
        folder == nullptr
            ? nullptr
            : dlopen((std::string(folder) + "/libcupti.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return static_cast<const FakeCupti*>(nullptr);
    return reinterpret_cast<FakeCuptiFunction*>(dlsym(library, "fake_cupti"))();
  }();
  return found;
}

void launch(const std::string& name, std::uint32_t stream) {
  if (fake_cupti() == nullptr) return;
  const std::uint32_t correlation = fake_cupti()->call(kLaunchKernel);
  const std::uint64_t start = fake_cupti()->now();
  fake_cupti()->kernel(name.c_str(), stream, correlation, start, start + 1000);
}

void copy(std::uint64_t bytes) {
  if (fake_cupti() == nullptr) return;
  const std::uint32_t correlation = fake_cupti()->call(kMemcpy);
  const std::uint64_t start = fake_cupti()->now();
  fake_cupti()->copy(bytes, correlation, start, start + 2000);
}

void be_busy() {
  if (fake_cupti() == nullptr) return;
  constexpr std::uint64_t kMillisecond = 1'000'000;
  const std::uint32_t first = fake_cupti()->call(kLaunchKernel);
  const std::uint32_t second = fake_cupti()->call(kLaunchKernel);
  const std::uint64_t start = fake_cupti()->now();
  fake_cupti()->kernel("_Z4spinv", 7, first, start, start + kMillisecond);
  fake_cupti()->kernel("_Z4spinv", 7, second, start + 2 * kMillisecond, start + 3 * kMillisecond);
}

void allocate(std::uint64_t bytes) {
  if (fake_cupti() == nullptr) return;
  fake_cupti()->allocation(0x7000, bytes, fake_cupti()->call(kMalloc), 0);
}

void work_in_threads() {
  std::barrier turn(2);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 2; ++i) {
    threads.emplace_back([&turn, i] {
      const std::string rows = std::to_string(4 * (i + 1));
      const std::string product =
          "aten::mm, seq = " + std::to_string(i) + ", sizes = [[" + rows + ", 8], [8, 2]]";
      turn.arrive_and_wait();
      nvtxRangePushA(product.c_str());
      turn.arrive_and_wait();
      launch("_Z4gemmi", 10 + i);
      turn.arrive_and_wait();
      nvtxRangePop();
      turn.arrive_and_wait();
      nvtxRangePushA(("layer:branch" + std::to_string(i)).c_str());
      turn.arrive_and_wait();
      launch("_Z3addi", 10 + i);
      turn.arrive_and_wait();
      nvtxRangePop();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void replay(const std::string& file) {
  std::ifstream lines(file);
  bool innermost = false;
  for (std::string line; std::getline(lines, line);) {
    const bool pops = line == "pop";
    if (pops && innermost) launch("_Z6kernelv", 7);
    innermost = !pops;
    if (pops) nvtxRangePop();
    if (line.starts_with("push ")) nvtxRangePushA(line.c_str() + 5);
  }
}

void await_text(const std::string& text) {
  const char* const spool = std::getenv("BENCH_CAPTURE_SPOOL");
  if (spool == nullptr) {
    std::fputs("await_text needs BENCH_CAPTURE_SPOOL\n", stderr);
    std::exit(3);
  }
  const std::string file = std::string(spool) + ".gpu." + std::to_string(getpid());
  constexpr int kMaxTries = 30'000;
  for (int i = 0; i < kMaxTries; ++i) {
    std::ifstream stream(file);
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    if (content.find(text) != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::fprintf(stderr, "never seen: %s\n", text.c_str());
}

std::vector<char*> pointers(Words& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

void exec_self(const char* program, Words words) {
  words.insert(words.begin(), program);
  std::fflush(stdout);
  execv(program, pointers(words).data());
  _exit(127);
}

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
}

void run_self(const char* program, const Words& words) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) exec_self(program, words);
  wait_for(child);
}

void fork_and_end() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  wait_for(child);
}

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv + 1, argv + argc);
  std::size_t at = 0;
  const auto next = [&] { return words.at(++at); };
  const auto rest = [&] {
    Words after(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
    at = words.size();
    return after;
  };
  const std::map<std::string, std::function<void()>> actions = {
      {"init", [] { std::printf("%d\n", cuInit(0)); }},
      {"push", [&] { nvtxRangePushA(next().c_str()); }},
      {"pop", [] { nvtxRangePop(); }},
      {"launch",
       [&] {
         const std::string name = next();
         launch(name, static_cast<std::uint32_t>(std::stoul(next())));
       }},
      {"copy", [&] { copy(std::stoull(next())); }},
      {"busy", be_busy},
      {"threads", work_in_threads},
      {"replay", [&] { replay(next()); }},
      {"cuda",
       [&] {
         const bool on = next() == "on";
         if (fake_cupti() != nullptr) fake_cupti()->call(on ? kProfilerStart : kProfilerStop);
       }},
      {"alloc", [&] { allocate(std::stoull(next())); }},
      {"await", [&] { await_text(next()); }},
      {"fork", fork_and_end},
      {"self", [&] { run_self(argv[0], rest()); }},
      {"exec", [&] { exec_self(argv[0], rest()); }},
      {"print", [&] { std::puts(next().c_str()); }},
      {"exit", [&] { std::exit(std::atoi(next().c_str())); }},
      {"kill", [] { std::raise(SIGKILL); }},
      {"orphan", [] { ::kill(getppid(), SIGKILL); }},
  };
  for (; at < words.size(); ++at) actions.at(words[at])();
}
