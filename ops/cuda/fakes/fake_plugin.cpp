// SPDX-License-Identifier: Apache-2.0
// Replaces libbench_cuda.so in tests. It is compiled several times: as plugins with one fault each,
// and as one whose probe returns the file that $BENCH_FAKE_PROBE names.
#include "ops/cuda/plugin/bench_cuda.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#ifndef FAKE_NO_ENTRY

namespace {

#ifdef FAKE_OTHER_ABI
constexpr unsigned kAbi = BENCH_PLUGIN_ABI + 1;
#else
constexpr unsigned kAbi = BENCH_PLUGIN_ABI;
#endif
const bench_plugin kPlugin = {sizeof(bench_plugin), kAbi, "cuda", "9.9", nullptr, 0, nullptr, 0};

}  // namespace

const bench_plugin* bench_plugin_entry(void) { return &kPlugin; }

#endif

#if defined(FAKE_CRASH)

void bench_cuda_probe(int32_t, void (*)(void*, const char*, size_t), void*) {
  // A sanitizer's handler would exit with a status instead of the signal.
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

#elif defined(FAKE_ANSWER)

void bench_cuda_probe(int32_t extent, void (*write)(void*, const char*, size_t), void* self) {
  std::printf("a library that prints, extent %d\n", static_cast<int>(extent));
  const char* path = std::getenv("BENCH_FAKE_PROBE");
  std::stringstream text;
  if (path != nullptr) text << std::ifstream(path).rdbuf();
  const std::string answer = text.str();
  write(self, answer.data(), answer.size());
}

#endif
