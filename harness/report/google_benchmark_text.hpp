// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's JSON (its src/json_reporter.cc), which the reports of runs and of gates write.
#pragma once

#include "base/json_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::google_benchmark {

struct Repetition {
  double time = 0;  // nanoseconds per iteration
  std::int64_t iterations = 1;
};
using Repetitions = std::vector<Repetition>;
// Scales the repetitions so that their median is `time`, in nanoseconds per iteration.
void scale_to(double time, Repetitions& repetitions);
// Returns the number of iterations of a repetition, at most 2^63 - 1. Records from files may
// contain any number of iterations per sample, so the product may be larger.
std::int64_t count_iterations(std::size_t samples, std::int64_t iterations_per_sample);
// A case. A case with an error has no repetitions.
struct Family {
  std::string id;
  Repetitions repetitions;
  std::optional<std::string> error = std::nullopt;
};
// Writes the member `benchmarks`: one item per repetition, and their median as an aggregate if
// there are several, as Google Benchmark does; or one item per family with an error.
void write_benchmarks(JsonWriter& writer, const std::vector<Family>& families);

// The JSON style of the whole document.
inline constexpr JsonStyle kStyle = {.indent = 1, .reals = JsonReals::with_fraction};

}  // namespace bench::google_benchmark
