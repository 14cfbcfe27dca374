// SPDX-License-Identifier: Apache-2.0
// Summarises a case from its processes, and a network from its layers. Pure functions.
#pragma once

#include "harness/result/quiet.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// A fraction: how far medians of two equal runs on one machine differ beyond what the processes of
// one run show. The reason: all processes of a run share one state of the machine. Measured
// (docs/performance.md, "The same run twenty times").
inline constexpr double kRunsFloor = 0.003;

// Arithmetic of times that stops at the largest time, since untrusted files may contain any value.
Nanoseconds saturated_product(Nanoseconds time, std::size_t count);
Nanoseconds saturated_sum(Nanoseconds a, Nanoseconds b);

// Returns nullopt without samples. The interval comes from exact order statistics of process
// medians (stats/summary.hpp).
std::optional<TimeSummary> summarise(std::span<const CountedSamples> processes);

// For processes whose configuration is unknown: no interval is too wide.
inline constexpr double kUnknownPrecision = std::numeric_limits<double>::infinity();

// Fills time (over the quiet samples, see quiet.hpp), time_all, quiet, rates, medians of create,
// reorder and first run, and implementation. Other implementations go into details as
// "implementation.others". Sets the flags `noisy`, `unsteady` and `disturbed`. `noisy`: the
// interval is wider than +-precision, or missing despite enough processes. If canaries selected the
// samples, the interval is wider by kRunsFloor on both sides. Flags stay sorted; other flags are
// kept.
void complete_case(CaseRecord& record, std::span<const ProcessRecord* const> processes,
                   double precision);

// Returns half the width of the interval, relative to the median: the value that is compared with
// the requested precision. Returns nullopt without an interval or if the median is 0.
std::optional<double> interval_half_width(const TimeSummary& time);

// How far the layers explain the whole network, for one cache mode of the layers. A network without
// its own layers in the report has an empty `cache` and no rest.
struct NetworkSummary {
  std::string network;
  std::string network_id;  // case id of the whole network
  std::string cache;       // cache mode of the layers: "cold_weights"
  std::optional<Nanoseconds> network_time;
  Nanoseconds layers_time{0};                 // sum over measured layers of median x multiplicity
  int layers_measured = 0, layers_total = 0;  // distinct layers
  std::vector<std::string> missing;           // ids of layers without a time
  // What a training step does besides the measured layers: "the loss". Empty for networks in
  // inference.
  std::vector<std::string> lacks;
  // (network - layers) / network, signed. nullopt if a layer or the network has no time, or if the
  // sum lacks something.
  std::optional<double> rest;
  struct Entry {
    std::string id;
    std::vector<std::string> layers;
    std::size_t multiplicity = 1;
    Nanoseconds time{0};
    double share = 0;  // fraction of layers_time
  };
  std::vector<Entry> top;        // all layers by median x multiplicity, largest first
  PreparationTimes preparation;  // those of the whole network
};
// Layers are cases whose `network` (or `networks`) is X. The whole network is the case of op
// `network` whose parameter segment is X. If there is only one such case, X may have a suffix for
// batch and flags.
std::vector<NetworkSummary> summarise_networks(const Report& report);

}  // namespace bench
