// SPDX-License-Identifier: Apache-2.0
#include <bench/profiler.hpp>

int main() { bench::profiler::Event event("work"); }
