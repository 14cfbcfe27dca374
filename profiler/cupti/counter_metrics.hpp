// SPDX-License-Identifier: Apache-2.0
// Chooses the metrics for a logical counter on a chip. Chips use different names for the same
// counter. For each counter, a table lists candidates in order. The first one whose metrics the
// chip offers is used. These functions are pure.
#pragma once

#include "profiler/gpu/logical_counter.hpp"

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// sum: the metrics are added. share_of_first: the first metric is divided by the sum of both. Every
// chip counts hits and misses of sectors in different passes: CUPTI's own rate divides counts of
// two executions and may exceed 1. This share cannot, and its error falls with the smaller count.
enum class MetricRule { sum, share_of_first };

// The value is what the rule yields, times `factor`. The rows of a logical counter are consecutive,
// the best first.
struct MetricCandidate {
  LogicalCounter counter;
  std::array<std::string_view, 2> metrics;  // with rollup: "dram__bytes_read.sum"; "" for none
  double factor;
  MetricRule rule = MetricRule::sum;
};
std::span<const MetricCandidate> metric_candidates();

// Returns "dram__bytes_read" for "dram__bytes_read.sum", the form in which chips are queried.
std::string_view base_metric(std::string_view metric);

struct CounterAnswer {
  LogicalCounter counter;
  std::vector<std::string> metrics;
  double factor = 1;
  MetricRule rule = MetricRule::sum;
};

struct CounterPlan {
  std::vector<CounterAnswer> answers;
  std::map<LogicalCounter, std::string> unanswered;  // with the reason
  std::vector<std::string> metrics() const;          // metrics of all answers, each once
};

// Selects for each logical counter the first candidate whose metrics are all offered.
CounterPlan plan_counters(std::string_view chip, std::span<const LogicalCounter> counters,
                          const std::function<bool(std::string_view metric)>& offered);

// `values` contains the values of plan.metrics(), in that order. If a value is not a number, or is
// a share above 1.02, its logical counter has no value.
CounterReadings read_counters(const CounterPlan& plan, std::span<const double> values);

}  // namespace bench
