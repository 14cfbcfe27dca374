// SPDX-License-Identifier: Apache-2.0
// A program without a dynamic loader, into which nothing can be preloaded. With an argument MS, it
// first computes for MS milliseconds of CPU time.
#include <cstdio>
#include <cstdlib>
#include <ctime>

volatile double computed = 1;

// Has external linkage and is never inlined: a test looks for it in samples.
__attribute__((noinline)) void compute_statically() {
  double value = computed;
  for (int i = 0; i < 20'000; ++i) value = value * 1.0000001 + 1e-9;
  computed = value;
}

int main(int argc, char** argv) {
  const std::clock_t end = argc > 1 ? std::atoi(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;
  while (std::clock() < end) compute_statically();
  std::puts("static");
  return 5;
}
