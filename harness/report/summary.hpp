// SPDX-License-Identifier: Apache-2.0
// From the processes of a case to its summary, and from layers to their network's explanation. Pure
// functions.
#pragma once

#include "harness/report/record.hpp"
#include "harness/report/report.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Absent without samples. Interval: exact order statistics of process medians (stats/interval.hpp).
std::optional<TimeSummary> summarise(std::span<const ProcessRecord* const> processes);

// Fills time, rates, create/reorder/first-run medians and the flags `noisy` (interval wider than
// +-precision) and `unsteady`.
void complete_case(CaseRecord& record, std::span<const ProcessRecord* const> processes,
                   double precision);

// How far the layers explain a network measured as one, for one cache mode of the layers.
struct NetworkSummary {
  std::string network;
  std::string network_id;  // case id of the network as one
  std::string cache;       // of the layers: "cold_weights"
  std::optional<Nanoseconds> network_time;
  Nanoseconds layers_time{0};                 // sum over measured layers of median x multiplicity
  int layers_measured = 0, layers_total = 0;  // distinct layers
  std::vector<std::string> missing;           // ids of layers without a time
  std::optional<double> rest;                 // (network - layers) / network, signed
  struct Entry {
    std::string id;
    std::vector<std::string> layers;
    Nanoseconds time;
    double share;
  };
  std::vector<Entry> top;  // by median x multiplicity, largest first, all of them
  std::optional<Nanoseconds> create, reorder, first_run;  // of the network
};
std::vector<NetworkSummary> summarise_networks(const Report& report);

}  // namespace bench
