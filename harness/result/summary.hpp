// SPDX-License-Identifier: Apache-2.0
// Summarises a case from its processes, and a network from its layers. Pure functions.
#pragma once

#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "harness/result/speed.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Arithmetic that returns the largest time on overflow, since untrusted files may contain any
// value.
Nanoseconds saturated_product(Nanoseconds time, std::size_t count);
Nanoseconds saturated_sum(Nanoseconds a, Nanoseconds b);

// Summarises the time per iteration of samples as they are. Returns nullopt if there are none. The
// interval comes from exact order statistics of process medians (stats/summary.hpp).
std::optional<TimeSummary> summarise(std::span<const CountedSamples> processes);

// Precision for processes whose configuration is unknown: no interval is too wide.
inline constexpr double kUnknownPrecision = std::numeric_limits<double>::infinity();

// Computes the fields of a case record that summarise its processes: times (see quiet.hpp), rates,
// preparation, implementation, the device's values and energy. If processes ran different
// implementations, the detail "implementation.others" lists the others. `level`: the level of speed
// at which to state the time; nullopt chooses that of the processes (choose_level()). Adds the
// flags `noisy`, `unsteady`, `disturbed` and those of flag_device_part(). `noisy`: the interval is
// wider than +-precision. Flags stay sorted.
void complete_case(CaseRecord& record, std::span<const ProcessRecord* const> processes,
                   double precision, std::optional<SpeedLevel> level = std::nullopt);

// Returns half the width of the interval, relative to the median. This value is compared with the
// requested precision. Returns nullopt if there is no interval or the median is 0.
std::optional<double> interval_half_width(const TimeSummary& time);

// The minimum exact coverage of an interval (docs/manual.md), and the number of processes that it
// needs: the extremes of 5 values cover the median with probability 1 - 2^-4.
inline constexpr double kMinIntervalCoverage = 0.9;
inline constexpr int kMinIntervalProcesses = 5;

// The processes of a case from which its interval follows, or would follow.
struct IntervalBasis {
  std::int64_t measured = 0;  // processes with samples; 0 if the file has none
  // Those whose samples state how fast the machine was; without canaries, all of them.
  std::int64_t usable = 0;
  friend bool operator==(const IntervalBasis&, const IntervalBasis&) = default;
};
IntervalBasis find_interval_basis(std::span<const ProcessRecord* const> processes);
// Returns the basis of each of these cases. Reads the processes once, since a run may have tens of
// thousands of them.
std::vector<IntervalBasis> find_interval_bases(const Report& report,
                                               std::span<const CaseRecord* const> cases);
// Returns why a time without an interval has none, as the end of a sentence that begins with the
// time: "3 processes measured it, ...".
std::string explain_missing_interval(const IntervalBasis& basis);

// Returns the flags with which the interval of a time may not bound the truth.
std::vector<Flag> doubtful_flags(std::span<const Flag> flags);
// Whether the record has a time with an interval that bounds the truth.
bool has_certain_interval(const CaseRecord& record);

// Detail of a case: the creation time of its first process, in ns. Present only if it is at least
// twice the median of the later processes. `create_ns` is then that median.
inline constexpr std::string_view kFirstCreation = "create_first_ns";

// How much of a whole network's time its layers explain, for one cache mode of the layers. If the
// report has no layers of a network, `cache` is empty and `rest` is nullopt.
struct NetworkSummary {
  std::string network;
  std::string network_id;  // case id of the whole network
  std::string cache;       // cache mode of the layers: "cold_weights"
  std::optional<Nanoseconds> network_time;
  Nanoseconds layers_time{0};                 // sum over measured layers of median x multiplicity
  int layers_measured = 0, layers_total = 0;  // distinct layers
  std::vector<std::string> missing;           // ids of layers without a time
  // The fraction of the network's multiply-accumulates (of its FLOPs if it has none) that the
  // measured layers make. Less than 1 if the report lacks layers, because the run was stopped or
  // measured a selection. nullopt if the network or a layer states no work.
  std::optional<double> covered_work;
  // What a training step does besides the measured layers, such as "the loss". Empty for inference.
  std::vector<std::string> lacks;
  // The unexplained fraction: (network - layers) / network, signed. nullopt if the layers are
  // incomplete, if the network has no time, or if `lacks` is not empty.
  std::optional<double> rest;
  struct Entry {
    std::string id;
    std::vector<std::string> layers;
    std::size_t multiplicity = 1;
    Nanoseconds time{0};
    double share = 0;  // fraction of layers_time
    // Ideal time and efficiency of one execution; nullopt if the case has no roofline.
    std::optional<Nanoseconds> ideal = {};
    std::optional<double> efficiency = {};
    std::string direction = {};
  };
  std::vector<Entry> top;                     // all layers by median x multiplicity, largest first
  PreparationTimes preparation;               // those of the whole network
  std::optional<Nanoseconds> first_creation;  // detail kFirstCreation of the whole network
};
// Returns whether all layers of the network have a time, as far as their work shows.
bool has_all_layers(const NetworkSummary& network);
// Summarises each network and each cache mode of its layers. The layers of a network are the cases
// with its name in `network` or `networks`. The whole network is the case of operator `network`
// whose parameter segment is this name. If no segment is exactly the name, the segment may have a
// suffix for batch and flags, provided that all candidates have the same suffix.
std::vector<NetworkSummary> summarise_networks(const Report& report);

}  // namespace bench
