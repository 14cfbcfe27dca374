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

// Measured on two processors of a virtual machine. Only the order of magnitude matters, because the
// run's own pace replaces these values.
constexpr Nanoseconds kWorker = 150ms;        // start, handshake, end
constexpr Nanoseconds kCanaryWorker = 250ms;  // the same, and the four fixed workloads
constexpr int kCanaryWorkers = 3;             // before, midway, after
constexpr Nanoseconds kPreparation = 70ms;    // per case: creation, sample canaries, arena
constexpr Nanoseconds kNodePreparation = 5ms;
// generating a random value, storing and packing it
constexpr Nanoseconds kElementPreparation = 20ns;
constexpr double kKernelFlopsPerSecond = 50e9;
constexpr double kKernelBytesPerSecond = 10e9;
constexpr double kReferenceFlopsPerSecond = 1e9;
constexpr Nanoseconds kMaxReference = 1s;  // larger outputs are compared only in part
// A warm-up continues beyond its time until the times are steady, usually for another half of it.
constexpr int kWarmupHalves = 3;

// When this part of the run is done, its own pace has as much weight as the estimate.
constexpr int kPriorPart = 8;

using NetworkPointer = std::shared_ptr<const ops::Network>;

const ops::Network* find_network(const Case& spec) {
  const auto* network = std::get_if<NetworkPointer>(&spec.work);
  return network != nullptr ? network->get() : nullptr;
}

Nanoseconds time_at(double amount, double per_second) {
  return std::chrono::round<Nanoseconds>(std::chrono::duration<double>(amount / per_second));
}

Nanoseconds iteration_time(const Case& spec) {
  const ops::Work& work = case_work(spec);
  return std::max(time_at(static_cast<double>(work.flops), kKernelFlopsPerSecond),
                  time_at(static_cast<double>(work.traffic().count), kKernelBytesPerSecond));
}

Nanoseconds preparation_time(const Case& spec) {
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

Nanoseconds worker_time(const Plan& plan) {
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
  const Nanoseconds iteration = iteration_time(spec);
  RunEstimate estimate;
  estimate.timed = std::max(spec.measure.max_time / spec.measure.processes, iteration);
  estimate.warmup =
      std::max(kWarmupHalves * spec.warmup.time / 2, spec.warmup.iterations * iteration);
  estimate.preparation = preparation_time(spec);
  return estimate;
}

Nanoseconds estimate_check(const Case& spec) {
  // A network is checked against another execution of itself, which also has to be prepared.
  if (find_network(spec) != nullptr) return preparation_time(spec);
  const auto flops = static_cast<double>(case_work(spec).flops);
  return std::min(time_at(flops, kReferenceFlopsPerSecond), kMaxReference);
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
  if (!plan.cases.empty()) sum.workers = worker_time(plan);
  return sum;
}

RunPace::RunPace(const Plan& plan) : entries_(plan.cases.size()) {
  std::int64_t processes = 0;
  for (const Case& spec : plan.cases) processes += spec.measure.processes;
  if (processes == 0) return;
  const Nanoseconds worker = worker_time(plan) / processes;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].process = estimate_process(plan.cases[i]).total() + worker;
    entries_[i].check = estimate_check(plan.cases[i]);
  }
}

Nanoseconds RunPace::remaining_time(const Entry& entry) {
  const bool checks = entry.left > 0 && !entry.is_checked;
  return entry.left * entry.process + (checks ? entry.check : Nanoseconds(0));
}

void RunPace::expect(std::size_t index, std::int64_t processes) {
  Entry& entry = entries_[index];
  entry.left = processes;
  left_ += remaining_time(entry);
  whole_ += remaining_time(entry);
}

void RunPace::finish(std::size_t index, std::int64_t left) {
  Entry& entry = entries_[index];
  left_ -= remaining_time(entry);
  done_ += entry.process + (entry.is_checked ? Nanoseconds(0) : entry.check);
  entry.is_checked = true;
  entry.left = left;
  left_ += remaining_time(entry);
}

Nanoseconds RunPace::remaining(Nanoseconds elapsed) const {
  const Nanoseconds prior = std::max(whole_ / kPriorPart, Nanoseconds(1));
  const auto pace =
      static_cast<double>((elapsed + prior).count()) / static_cast<double>((done_ + prior).count());
  return std::chrono::round<Nanoseconds>(pace * std::chrono::duration<double, std::nano>(left_));
}

}  // namespace bench
