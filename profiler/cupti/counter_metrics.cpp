// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/counter_metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

namespace bench {
namespace {

constexpr double kPercent = 0.01;
// A larger share is an error of the measurement: its parts are from different passes.
constexpr double kMaxShare = 1.02;

// Fractions refer to active cycles. A range lasts from the host's push to its pop, so elapsed
// cycles would also count the wait for the launch. Ada has deprecated its first tensor pipe
// counters in favour of "_v2". Chips without their own memory (Orin, Thor, GB10) count nothing in
// DRAM.
constexpr std::array kCandidates = {
    MetricCandidate{
        LogicalCounter::tensor_instructions, {"sm__inst_executed_pipe_tensor_v2.sum"}, 1},
    MetricCandidate{LogicalCounter::tensor_instructions, {"sm__inst_executed_pipe_tensor.sum"}, 1},
    MetricCandidate{LogicalCounter::tensor_group_instructions,
                    {"sm__inst_executed_pipe_tensor_op_gmma.sum"},
                    1},
    MetricCandidate{LogicalCounter::tensor_active_share,
                    {"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active"},
                    kPercent},
    MetricCandidate{LogicalCounter::tensor_active_share,
                    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
                    kPercent},
    MetricCandidate{
        LogicalCounter::tensor_operations_f16, {"sm__ops_path_tensor_src_fp16.sum"}, 1},  // Hopper
    MetricCandidate{
        LogicalCounter::tensor_operations_f16,
        {"sm__ops_path_tensor_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum"},
        1},
    MetricCandidate{
        LogicalCounter::tensor_operations_f16,  // Turing, which has only f16 of the three
        {"sm__ops_path_tensor_src_fp16_dst_fp16.sum",
         "sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum"},
        1},
    MetricCandidate{
        LogicalCounter::tensor_operations_bf16, {"sm__ops_path_tensor_src_bf16_dst_fp32.sum"}, 1},
    MetricCandidate{
        LogicalCounter::tensor_operations_tf32, {"sm__ops_path_tensor_src_tf32_dst_fp32.sum"}, 1},
    MetricCandidate{LogicalCounter::tensor_operations_fp8, {"sm__ops_path_tensor_src_fp8.sum"}, 1},
    MetricCandidate{
        LogicalCounter::tensor_operations_fp8,
        {"sm__ops_path_tensor_src_fp8_dst_fp16.sum", "sm__ops_path_tensor_src_fp8_dst_fp32.sum"},
        1},
    MetricCandidate{LogicalCounter::tensor_operations_fp8,
                    {"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum",
                     "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum"},
                    1},
    MetricCandidate{LogicalCounter::tensor_operations_s8, {"sm__ops_path_tensor_src_int8.sum"}, 1},
    MetricCandidate{LogicalCounter::tensor_operations_f64, {"sm__ops_path_tensor_src_fp64.sum"}, 1},
    MetricCandidate{LogicalCounter::dram_read_bytes, {"dram__bytes_read.sum"}, 1},
    MetricCandidate{LogicalCounter::dram_read_bytes, {"dram__bytes_op_read.sum"}, 1},
    MetricCandidate{LogicalCounter::dram_write_bytes, {"dram__bytes_write.sum"}, 1},
    MetricCandidate{LogicalCounter::dram_write_bytes, {"dram__bytes_op_write.sum"}, 1},
    MetricCandidate{LogicalCounter::l2_hit_share,
                    {"lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum"},
                    1,
                    MetricRule::share_of_first},
    MetricCandidate{LogicalCounter::l2_hit_share, {"lts__t_sector_hit_rate.pct"}, kPercent},
    MetricCandidate{LogicalCounter::achieved_occupancy,
                    {"sm__warps_active.avg.pct_of_peak_sustained_active"},
                    kPercent},
};

std::vector<std::string> list_metrics(const MetricCandidate& candidate) {
  std::vector<std::string> metrics;
  for (const std::string_view metric : candidate.metrics) {
    if (!metric.empty()) metrics.emplace_back(metric);
  }
  return metrics;
}

std::string absence(std::string_view chip, LogicalCounter counter) {
  std::vector<std::string_view> bases;
  for (const MetricCandidate& candidate : kCandidates) {
    if (candidate.counter != counter) continue;
    for (const std::string_view metric : candidate.metrics) {
      const std::string_view base = base_metric(metric);
      if (!base.empty() && std::find(bases.begin(), bases.end(), base) == bases.end()) {
        bases.push_back(base);
      }
    }
  }
  return fmt::format("{} has no {}", chip, fmt::join(bases, ", "));
}

}  // namespace

std::span<const MetricCandidate> metric_candidates() { return kCandidates; }

std::string_view base_metric(std::string_view metric) { return metric.substr(0, metric.find('.')); }

std::vector<std::string> CounterPlan::metrics() const {
  std::vector<std::string> all;
  for (const CounterAnswer& answer : answers) {
    for (const std::string& metric : answer.metrics) {
      if (std::find(all.begin(), all.end(), metric) == all.end()) all.push_back(metric);
    }
  }
  return all;
}

CounterPlan plan_counters(std::string_view chip, std::span<const LogicalCounter> counters,
                          const std::function<bool(std::string_view metric)>& offered) {
  CounterPlan plan;
  for (const LogicalCounter counter : counters) {
    const auto* const found =
        std::find_if(kCandidates.begin(), kCandidates.end(), [&](const MetricCandidate& candidate) {
          if (candidate.counter != counter) return false;
          const std::vector<std::string> metrics = list_metrics(candidate);
          return std::all_of(metrics.begin(), metrics.end(), offered);
        });
    if (found == kCandidates.end()) {
      plan.unanswered.emplace(counter, absence(chip, counter));
    } else {
      plan.answers.push_back({counter, list_metrics(*found), found->factor, found->rule});
    }
  }
  return plan;
}

namespace {

// Combines the values of an answer's metrics, in their order.
CounterReading combine(const CounterAnswer& answer, std::span<const double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const bool is_share_of_first = answer.rule == MetricRule::share_of_first;
  const double value = answer.factor * (is_share_of_first ? values.front() / sum : sum);
  std::string source = is_share_of_first ? fmt::format("{} / ({})", answer.metrics.front(),
                                                       fmt::join(answer.metrics, " + "))
                                         : fmt::format("{}", fmt::join(answer.metrics, " + "));
  if (!std::isfinite(value)) return {std::nullopt, source + " counted nothing"};
  if (counter_row(answer.counter).unit != CounterUnit::share) return {value, std::move(source)};
  if (value > kMaxShare) {
    return {std::nullopt, fmt::format("{} is {:.2f}: it mixes passes that differ", source, value)};
  }
  return {std::min(value, 1.0), std::move(source)};
}

}  // namespace

CounterReadings read_counters(const CounterPlan& plan, std::span<const double> values) {
  const std::vector<std::string> names = plan.metrics();
  CounterReadings readings;
  for (const CounterAnswer& answer : plan.answers) {
    std::vector<double> parts;
    for (const std::string& metric : answer.metrics) {
      const auto place = std::find(names.begin(), names.end(), metric) - names.begin();
      parts.push_back(values[static_cast<std::size_t>(place)]);
    }
    readings[std::string(counter_row(answer.counter).name)] = combine(answer, parts);
  }
  for (const auto& [counter, reason] : plan.unanswered) {
    readings[std::string(counter_row(counter).name)] = {std::nullopt, reason};
  }
  return readings;
}

}  // namespace bench
