// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_estimate.hpp"

#include "harness/run/case_progress.hpp"
#include "harness/run/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <variant>

namespace bench {
namespace {

using namespace std::chrono_literals;

// These times were measured on two processors of a virtual machine. Only the order of magnitude
// matters, because the pace of the run gradually replaces the estimate.
constexpr Nanoseconds kWorker = 150ms;        // start, handshake, end
constexpr Nanoseconds kCanaryWorker = 250ms;  // start, handshake, four canaries, end
constexpr int kCanaryWorkers = 3;             // before, midway, after
constexpr Nanoseconds kPreparation = 70ms;    // per case: creation, sample canaries, arena
constexpr Nanoseconds kNodePreparation = 5ms;
// Generating, storing and packing one random value.
constexpr Nanoseconds kElementPreparation = 20ns;
constexpr double kKernelFlopsPerSecond = 50e9;
constexpr double kKernelBytesPerSecond = 10e9;
constexpr double kReferenceFlopsPerSecond = 1e9;
constexpr Nanoseconds kMaxReference = 1s;  // the check covers only a part of larger outputs
// Duration of a warm-up in halves of its configured time. It usually takes another half until the
// times are steady.
constexpr int kWarmupHalves = 3;

// When 1 / kPriorDivisor of the run is done, its pace has as much weight as the estimate.
constexpr int kPriorDivisor = 8;

using NetworkPointer = std::shared_ptr<const ops::Network>;

const ops::Network* find_network(const Case& spec) {
  const auto* network = std::get_if<NetworkPointer>(&spec.work);
  return network != nullptr ? network->get() : nullptr;
}

Nanoseconds divide_by_rate(double amount, double per_second) {
  return std::chrono::round<Nanoseconds>(std::chrono::duration<double>(amount / per_second));
}

Nanoseconds estimate_iteration(const Case& spec) {
  const ops::Work& work = case_work(spec);
  return std::max(divide_by_rate(static_cast<double>(work.flops), kKernelFlopsPerSecond),
                  divide_by_rate(static_cast<double>(work.traffic().count), kKernelBytesPerSecond));
}

Nanoseconds estimate_preparation(const Case& spec) {
  double elements = 0;
  for (const ops::Tensor& tensor : case_tensors(spec)) {
    elements += static_cast<double>(tensor.elements());
  }
  const ops::Network* network = find_network(spec);
  const auto nodes = network != nullptr ? std::ssize(network->nodes) : 0;
  return kPreparation + nodes * kNodePreparation +
         std::chrono::round<Nanoseconds>(
             elements * std::chrono::duration<double, std::nano>(kElementPreparation));
}

Nanoseconds estimate_workers(const Plan& plan) {
  std::vector<std::size_t> all(plan.cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  int rounds = 0;
  bool has_layers = false;
  for (const Case& spec : plan.cases) {
    rounds = std::max(rounds, spec.measure.processes);
    has_layers = has_layers || spec.layer_of != nullptr;
  }
  const auto workers = std::ssize(schedule_process(plan, all, 0, 0)) * rounds;
  return kCanaryWorkers * kCanaryWorker + (workers + (has_layers ? 1 : 0)) * kWorker;
}

}  // namespace

RunEstimate estimate_process(const Case& spec) {
  const Nanoseconds iteration = estimate_iteration(spec);
  RunEstimate estimate;
  estimate.timed = std::max(spec.measure.max_time / spec.measure.processes, iteration);
  estimate.warmup =
      std::max(kWarmupHalves * spec.warmup.time / 2, spec.warmup.iterations * iteration);
  estimate.preparation = estimate_preparation(spec);
  return estimate;
}

Nanoseconds estimate_check(const Case& spec) {
  // The worker checks a network against another execution of it, which it also has to prepare.
  if (find_network(spec) != nullptr) return estimate_preparation(spec);
  const auto flops = static_cast<double>(case_work(spec).flops);
  return std::min(divide_by_rate(flops, kReferenceFlopsPerSecond), kMaxReference);
}

RunEstimate estimate_run(const Plan& plan) {
  RunEstimate sum;
  for (const Case& spec : plan.cases) {
    const RunEstimate process = estimate_process(spec);
    const int processes = spec.measure.processes;
    sum.timed += processes * process.timed;
    sum.warmup += processes * process.warmup;
    sum.preparation += processes * process.preparation + estimate_check(spec);
  }
  if (!plan.cases.empty()) sum.workers = estimate_workers(plan);
  return sum;
}

RunPace::RunPace(const Plan& plan) : entries_(plan.cases.size()) {
  std::int64_t processes = 0;
  for (const Case& spec : plan.cases) processes += spec.measure.processes;
  if (processes == 0) return;
  const Nanoseconds worker = estimate_workers(plan) / processes;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].process = estimate_process(plan.cases[i]).total() + worker;
    entries_[i].check = estimate_check(plan.cases[i]);
  }
}

Nanoseconds RunPace::remaining_time(const Entry& entry) {
  const bool needs_check = entry.remaining > 0 && !entry.is_checked;
  return entry.remaining * entry.process + (needs_check ? entry.check : Nanoseconds(0));
}

void RunPace::expect(std::size_t index, std::int64_t processes) {
  Entry& entry = entries_[index];
  entry.remaining = processes;
  remaining_ += remaining_time(entry);
  total_ += remaining_time(entry);
}

void RunPace::finish(std::size_t index, std::int64_t remaining) {
  Entry& entry = entries_[index];
  remaining_ -= remaining_time(entry);
  done_ += entry.process + (entry.is_checked ? Nanoseconds(0) : entry.check);
  entry.is_checked = true;
  entry.remaining = remaining;
  remaining_ += remaining_time(entry);
}

Nanoseconds RunPace::remaining(Nanoseconds elapsed) const {
  const Nanoseconds prior = std::max(total_ / kPriorDivisor, Nanoseconds(1));
  const auto pace =
      static_cast<double>((elapsed + prior).count()) / static_cast<double>((done_ + prior).count());
  return std::chrono::round<Nanoseconds>(pace *
                                         std::chrono::duration<double, std::nano>(remaining_));
}

}  // namespace bench
