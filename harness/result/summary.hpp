// SPDX-License-Identifier: Apache-2.0
// From the processes of a case to its summary, and from layers to their network's explanation. Pure
// functions.
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

// What the medians of two runs of the same code on the same machine differ by beyond what the
// processes of one tell, as a share: the processes of a run meet one phase of the machine. Measured
// (docs/performance.md, "The same run twenty times").
inline constexpr double kRunsFloor = 0.003;

// Absent without samples. Interval: exact order statistics of process medians (stats/summary.hpp).
std::optional<TimeSummary> summarise(std::span<const CountedSamples> processes);

// For processes whose configuration is not known: no interval counts as too wide.
inline constexpr double kUnknownPrecision = std::numeric_limits<double>::infinity();

// Fills time (of the quiet samples, quiet.hpp), time_all, quiet, rates, create/reorder/first-run
// medians, implementation (those of processes that ran another one in details:
// "implementation.others") and the flags `noisy` (interval wider than
// +-precision, or none although there were processes enough for one), `unsteady` and `disturbed`.
// Where canaries judged the samples, the interval is wider by kRunsFloor to either side. Flags stay
// sorted, others are kept.
void complete_case(CaseRecord& record, std::span<const ProcessRecord* const> processes,
                   double precision);

// How far the layers explain a network measured as one, for one cache mode of the layers. A network
// without layers of its own in the report has an empty `cache` and no rest.
struct NetworkSummary {
  std::string network;
  std::string network_id;  // case id of the network as one
  std::string cache;       // of the layers: "cold_weights"
  std::optional<Nanoseconds> network_time;
  Nanoseconds layers_time{0};                 // sum over measured layers of median x multiplicity
  int layers_measured = 0, layers_total = 0;  // distinct layers
  std::vector<std::string> missing;           // ids of layers without a time
  // What a training step does beyond the layers that were measured, in words: "the loss"; empty for
  // networks in inference.
  std::vector<std::string> lacks;
  std::optional<double> rest;  // (network - layers) / network, signed; absent while a layer or the
                               // network has no time, or the sum lacks something
  struct Entry {
    std::string id;
    std::vector<std::string> layers;
    std::size_t multiplicity = 1;
    Nanoseconds time{0};
    double share = 0;  // of layers_time
  };
  std::vector<Entry> top;  // by median x multiplicity, largest first, all of them
  std::optional<Nanoseconds> create, reorder, first_run;  // of the network
};
// Layers are cases whose `network` (or `networks`) is X; the network as one is the case of op
// `network` whose parameter segment is X, or X with batch and flags when there is only one such.
std::vector<NetworkSummary> summarise_networks(const Report& report);

}  // namespace bench
