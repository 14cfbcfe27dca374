// SPDX-License-Identifier: Apache-2.0
// Which metrics answer a question on which chip. Chips call the same thing by different names, so
// the table has candidates in order, and what a chip offers decides. Pure.
#pragma once

#include "profiler/gpu/counter_question.hpp"

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The answer is the sum of the metrics times `factor`. The rows of a question stand together, the
// best first.
struct MetricCandidate {
  CounterQuestion question;
  std::array<std::string_view, 2> metrics;  // with rollup: "dram__bytes_read.sum"; "": none
  double factor;
};
std::span<const MetricCandidate> metric_candidates();

// "dram__bytes_read" of "dram__bytes_read.sum", as chips are asked for.
std::string_view base_metric(std::string_view metric);

struct CounterAnswer {
  CounterQuestion question;
  std::vector<std::string> metrics;
  double factor = 1;
};

struct CounterPlan {
  std::vector<CounterAnswer> answers;
  std::map<CounterQuestion, std::string> unanswered;  // with the reason
  std::vector<std::string> metrics() const;           // of all answers, each once
};

// For each question the first candidate all of whose metrics are offered.
CounterPlan plan_counters(std::string_view chip, std::span<const CounterQuestion> questions,
                          const std::function<bool(std::string_view metric)>& offered);

// `values` are those of plan.metrics(), in that order; one that is no number leaves its question
// unanswered.
CounterReadings read_counters(const CounterPlan& plan, std::span<const double> values);

}  // namespace bench
