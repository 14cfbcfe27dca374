// SPDX-License-Identifier: Apache-2.0
// A program without a dynamic loader, into which nothing can be preloaded.
#include <cstdio>

int main() {
  std::puts("static");
  return 5;
}
