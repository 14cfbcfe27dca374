// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_estimate.hpp"

#include "harness/config/case_work.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/case_step.hpp"
#include "harness/run/schedule.hpp"
#include "harness/wire/worker_limits.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <variant>

namespace bench {
namespace {

using namespace std::chrono_literals;

// These times were measured on two processors of a virtual machine with AVX-512: `accounting` of
// runs of the shipped configurations, divided by the numbers of workers, processes and cases. The
// machine was idle unless a comment says otherwise. Only the order of magnitude matters, because
// the pace of the run gradually replaces the estimate.

// Start, handshake, calibration of the sample canaries, end: 32 to 55 ms, of which the start takes
// 6 to 10 ms.
constexpr Nanoseconds kWorker = 45ms;
// Per process of a case: creation, canaries between the samples and messages, 3 to 5 ms; 9 ms on a
// busy machine (load 3 to 5).
constexpr Nanoseconds kPreparation = 4ms;
constexpr Nanoseconds kNodePreparation = 5ms;
// Generating, storing and packing one value: 7 ns (layer_norm) to 20 ns (weights of gemm) on a busy
// machine.
constexpr Nanoseconds kElementPreparation = 10ns;
// Computing and comparing one expected value: 30 to 75 ns, besides the operations of products.
constexpr Nanoseconds kElementCheck = 50ns;
constexpr double kReferenceFlopsPerSecond = 8e9;
// The check covers only a part of the output of larger products.
constexpr Nanoseconds kMaxReference = 80ms;
// f32 kernels reached 100 to 240 GFLOP/s and, because most tensors fit into the caches, 15 to
// 110 GB/s.
constexpr double kKernelFlopsPerSecond = 130e9;
constexpr double kKernelBytesPerSecond = 40e9;
// Limit that prevents overflows. No machine has the memory for a longer iteration.
constexpr Nanoseconds kMaxIteration = 1h;
// A sample repeats shorter iterations until it takes about this long.
constexpr Nanoseconds kMinSample = 110us;
// Number of additional samples until the times are steady: 0 to 15 on an idle machine. On a busy
// one 5 to 15 for samples of 0.1 ms, and 50 to over 100 for samples of 1 ms, which interrupts
// disturb more often.
constexpr std::int64_t kUnsteadySamples = 5;
// A process needs kPrecisionSamples / precision samples: medians of 10 to 20 at 5 %, 20 to 40 at
// 2 %, and 20 to 80 at 1 %.
constexpr double kPrecisionSamples = 0.7;

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
  const Nanoseconds time =
      std::max(divide_by_rate(static_cast<double>(work.flops), kKernelFlopsPerSecond),
               divide_by_rate(static_cast<double>(work.traffic().count), kKernelBytesPerSecond));
  return std::min(time, kMaxIteration);
}

Nanoseconds multiply(Nanoseconds time, double factor) {
  return std::chrono::round<Nanoseconds>(factor * std::chrono::duration<double, std::nano>(time));
}

double count_elements(std::span<const ops::Tensor> tensors) {
  double elements = 0;
  for (const ops::Tensor& tensor : tensors) elements += static_cast<double>(tensor.elements());
  return elements;
}

Nanoseconds estimate_preparation(const Case& spec) {
  const ops::Network* network = find_network(spec);
  const auto nodes = network != nullptr ? std::ssize(network->nodes) : 0;
  return kPreparation + nodes * kNodePreparation +
         multiply(kElementPreparation, count_elements(case_tensors(spec)));
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
  return (workers + (has_layers ? 1 : 0)) * kWorker;
}

}  // namespace

RunEstimate estimate_process(const Case& spec, std::optional<Nanoseconds> known_iteration) {
  const Measure& measure = spec.measure;
  const Nanoseconds iteration =
      known_iteration ? std::min(*known_iteration, kMaxIteration) : estimate_iteration(spec);
  const Nanoseconds sample = std::max(iteration, kMinSample);
  const Nanoseconds max_time = measure.max_time / measure.processes;
  const double samples =
      std::clamp(kPrecisionSamples / measure.precision, static_cast<double>(measure.min_iterations),
                 static_cast<double>(kMaxSamples));
  const Nanoseconds max_warmup = kWarmupTimeFactor * spec.warmup.time;
  RunEstimate estimate;
  estimate.timed = std::max(std::min(multiply(sample, samples), max_time), iteration);
  estimate.warmup = std::max(std::min(spec.warmup.time + kUnsteadySamples * sample, max_warmup),
                             spec.warmup.iterations * iteration);
  estimate.preparation = estimate_preparation(spec);
  return estimate;
}

Nanoseconds estimate_check(const Case& spec) {
  // The worker checks a network against another execution of it, which it also has to prepare.
  if (find_network(spec) != nullptr) return estimate_preparation(spec);
  double outputs = 0;
  for (const ops::Tensor& tensor : case_tensors(spec)) {
    if (tensor.role == ops::TensorRole::output) outputs += static_cast<double>(tensor.elements());
  }
  const auto flops = static_cast<double>(case_work(spec).flops);
  return multiply(kElementCheck, outputs) +
         std::min(divide_by_rate(flops, kReferenceFlopsPerSecond), kMaxReference);
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
    const Case& spec = plan.cases[i];
    entries_[i].process = estimate_process(spec).total() + worker;
    entries_[i].check = estimate_check(spec);
  }
}

void RunPace::add_to_sums(const Entry& entry, int sign) {
  remaining_ += sign * entry.remaining * entry.process;
  if (entry.remaining > 0 && !entry.is_checked) checks_ += sign * entry.check;
}

Nanoseconds RunPace::expected_time() const { return checks_ + remaining_; }

void RunPace::expect(std::size_t index, std::int64_t processes) {
  Entry& entry = entries_[index];
  entry.remaining = processes;
  add_to_sums(entry, 1);
  total_ = expected_time();
}

void RunPace::finish(std::size_t index, std::int64_t remaining) {
  Entry& entry = entries_[index];
  add_to_sums(entry, -1);
  done_ += entry.process + (entry.is_checked ? Nanoseconds(0) : entry.check);
  entry.is_checked = true;
  entry.remaining = remaining;
  add_to_sums(entry, 1);
}

Nanoseconds RunPace::remaining(Nanoseconds elapsed) const {
  const Nanoseconds prior = std::max(total_ / kPriorDivisor, Nanoseconds(1));
  const auto pace =
      static_cast<double>((elapsed + prior).count()) / static_cast<double>((done_ + prior).count());
  return multiply(expected_time(), pace);
}

}  // namespace bench
