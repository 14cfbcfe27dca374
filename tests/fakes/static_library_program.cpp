// SPDX-License-Identifier: Apache-2.0
// A program that looks as if it contained oneDNN with hidden functions: it has constants of the
// library (profiler/capture/preload/module.cpp) and prints a line like it.
#include <cstdio>

namespace {

// The program reads these texts at run time, so that the compiler keeps each as a separate text.
const char* const volatile kImplementations[] = {"ref:any", "simple:any"};
const char* const volatile kAlgorithms[] = {"eltwise_relu", "eltwise_tanh"};

}  // namespace

int main() {
  std::puts("before");
  std::printf(
      "onednn_verbose,exec,cpu,eltwise,%s,forward_inference,data_f32::blocked:ab::f0 "
      "diff_undef::undef:::,,alg:%s alpha:0 beta:0,2x8,%g\n",
      kImplementations[1], kAlgorithms[0], 0.25);
  std::puts("after");
}
