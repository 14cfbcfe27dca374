// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dnnl.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

// Shared by the hand-written oneDNN programs of this folder. They are references: as little as
// possible happens between two clock reads, and they use nothing of `bench` itself.
namespace yardstick {

struct Options {
  int samples = 100;    // timed executions
  int warmup_ms = 200;  // at least this long and three executions, which are not counted
  std::string only;     // conv_loop: measure only this id; empty: all
  bool list = false;    // resnet50_chain: print the primitives, measure nothing
};

// Reads `--name VALUE` and `--list`. If the usage is wrong, prints it and exits with status 2.
Options parse_options(int argc, char** argv, const char* usage);

// Nanoseconds on CLOCK_MONOTONIC.
std::int64_t now_ns();

// The middle value, or the mean of the two middle ones, rounded down. Must not be empty.
std::int64_t median_ns(std::vector<std::int64_t> samples);

// A memory of `desc` (f32) with values uniform in [-bound, bound]. It is written through a reorder
// from the plain layout, so that the padding of blocked layouts is zero, as oneDNN requires.
dnnl::memory random_memory(const dnnl::memory::desc& desc, float bound, const dnnl::engine& engine,
                           std::mt19937& random);

// Warms up, then returns one duration per call of `execute` for `options.samples` calls. `execute`
// must return when the work is complete.
template <typename Execute>
std::vector<std::int64_t> sample(const Options& options, Execute&& execute) {
  constexpr int kMinWarmups = 3;
  const std::int64_t warm = now_ns() + std::int64_t{options.warmup_ms} * 1'000'000;
  for (int i = 0; i < kMinWarmups || now_ns() < warm; ++i) execute();
  std::vector<std::int64_t> samples(static_cast<std::size_t>(options.samples));
  for (std::int64_t& duration : samples) {
    const std::int64_t start = now_ns();
    execute();
    duration = now_ns() - start;
  }
  return samples;
}

}  // namespace yardstick
