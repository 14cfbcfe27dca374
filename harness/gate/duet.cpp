// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/duet.hpp"

#include "base/random.hpp"
#include "base/text.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/run/case_step.hpp"
#include "harness/wire/worker_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace bench {
namespace {

// One side of a duet: sends requests to its worker and records why it failed.
class DuetWorker {
 public:
  using Side = SideFailure::Side;
  DuetWorker(Side side, WorkerSession& session, const Case& spec)
      : side_(side), session_(session), spec_(spec) {}

  Side side() const { return side_; }
  const Case& spec() const { return spec_; }
  const std::optional<SideFailure>& failure() const { return failure_; }
  int canary_threads() const { return canary_threads_; }

  // Starts a worker if none is running. Returns whether one is running. If not, failure() has the
  // reason, unless it was aborted.
  bool start() {
    const Status status = session_.ensure(worker_threads(spec_.key));
    if (!status && !session_.must_abort()) {
      failure_ = SideFailure{side_, Outcome::failed, status.error().message()};
    }
    return status.ok();
  }

  // Returns the reply. If there is none, failure() has the reason, unless it was aborted.
  // `expected_time` is how long the work should take; the case's timeout is added to it.
  template <class Message>
  std::optional<typename Message::Answer> ask(const Message& message, Nanoseconds expected_time) {
    auto reply = session_.ask(message, expected_time + spec_.measure.timeout);
    if (reply) return std::move(*reply);
    const RequestFailure& error = reply.error();
    if (error.cause == RequestFailure::Cause::aborted) return std::nullopt;
    failure_ = SideFailure{side_, error.outcome, error.reason};
    return std::nullopt;
  }

  // The timed sample of one turn.
  struct Turn {
    Nanoseconds time{0};  // duration of the whole sample
    std::optional<std::int64_t> clock_hz;
    std::optional<Nanoseconds> canary;
  };
  // Takes `samples` samples of `iterations` iterations each; only the last one counts. Returns
  // nullopt if there is none; failure() has the reason, as for ask().
  std::optional<Turn> take_sample(std::int64_t samples, std::int64_t iterations,
                                  Nanoseconds sample_time) {
    const auto round = ask(RoundRequest{samples, "", iterations}, sample_time * samples);
    if (!round) return std::nullopt;
    const bool is_incomplete = static_cast<std::int64_t>(round->samples.size()) < samples;
    if (is_incomplete && round->device.voided.count > 0) {
      failure_ = SideFailure{side_, Outcome::failed, format_discarded(round->device.voided)};
      return std::nullopt;
    }
    if (round->iterations_per_sample != iterations || round->samples.empty()) {
      failure_ =
          SideFailure{side_, Outcome::failed,
                      "the worker cannot take samples of a given length; its version is too old"};
      return std::nullopt;
    }
    Turn turn{round->samples.back(), std::nullopt, std::nullopt};
    if (round->canaries.threads && round->canaries.times.size() == round->samples.size()) {
      turn.canary = round->canaries.times.back();
      canary_threads_ = *round->canaries.threads;
    }
    if (round->device.clock_hz.size() == round->samples.size()) {
      turn.clock_hz = round->device.clock_hz.back();
    }
    return turn;
  }

 private:
  Side side_;
  WorkerSession& session_;
  const Case& spec_;
  std::optional<SideFailure> failure_;
  int canary_threads_ = 0;
};

// Returns how long a sample of this many iterations takes on a side.
Nanoseconds sample_duration(const WarmedUpReply& side, std::int64_t iterations) {
  const double iteration =
      static_cast<double>(side.sample.count()) / static_cast<double>(side.iterations_per_sample);
  return Nanoseconds(std::llround(iteration * static_cast<double>(iterations)));
}

// Returns the number of iterations per sample for both sides: the larger number of the two, so that
// the first iteration after a hand-over has the same weight in both. It is smaller if a sample of
// the other side would then be long: its time limit must not depend on the number of this side.
std::int64_t common_iterations(std::span<const WarmedUpReply> sides) {
  std::int64_t iterations = 1;
  for (const WarmedUpReply& side : sides)
    iterations = std::max(iterations, side.iterations_per_sample);
  for (const WarmedUpReply& side : sides) {
    if (sample_duration(side, iterations) <= kLongSample) continue;
    const std::int64_t fitting = side.iterations_per_sample * kLongSample.count() /
                                 std::max(side.sample, Nanoseconds(1)).count();
    iterations = std::min(iterations, std::max(side.iterations_per_sample, fitting));
  }
  return iterations;
}

const Case& base_case(const DuetRequest& request) {
  return request.base_spec != nullptr ? *request.base_spec : *request.spec;
}

class DuetRun {
 public:
  DuetRun(DuetWorkers& workers, const DuetRequest& request)
      : workers_(workers),
        request_(request),
        random_(request.order_seed),
        base_(DuetWorker::Side::base, workers.base(), base_case(request)),
        candidate_(DuetWorker::Side::candidate, workers.candidate(), *request.spec) {}

  DuetResult run() {
    std::array<DuetWorker*, 2> order = in_random_order();
    const bool are_ready =
        std::ranges::all_of(order, [](DuetWorker* worker) { return worker->start(); });
    if (are_ready && prepare() && warm_up()) run_rounds();
    for (const DuetWorker* worker : order) {
      if (worker->failure()) result_.failure = worker->failure();
    }
    if (result_.failure) result_.duet.reset();
    return std::move(result_);
  }

 private:
  std::array<DuetWorker*, 2> in_random_order() {
    std::array<DuetWorker*, 2> order = {&base_, &candidate_};
    if (random_.below(2) == 1) std::swap(order[0], order[1]);
    return order;
  }

  // Prepares the case on both sides and checks that they compute the same. If the expected output
  // is known, the order of the sides is random. So nothing distinguishes the sides of an A/A duet.
  bool prepare() {
    std::array<DuetWorker*, 2> order = {&candidate_, &base_};
    if (request_.expected != nullptr) order = in_random_order();
    return std::ranges::all_of(order, [this](DuetWorker* worker) { return prepare(*worker); });
  }

  bool prepare(DuetWorker& worker) {
    const bool is_base = worker.side() == DuetWorker::Side::base;
    PrepareRequest message =
        prepare_request(worker.spec(), request_.data_seed, request_.input_layouts);
    message.choices = is_base ? request_.base_choices : request_.candidate_choices;
    if (const OutputSample* expected = find_expected(is_base)) {
      message.check = CheckKind::expected;
      message.expected = *expected;
    }
    std::optional<PreparedReply>& prepared = is_base ? result_.base : result_.candidate;
    prepared = worker.ask(message, Nanoseconds(0));
    return prepared.has_value();
  }

  // Returns the output that a side must compute; nullptr if it is to be checked against the
  // reference.
  const OutputSample* find_expected(bool is_base) const {
    if (!is_base) return request_.expected;
    if (request_.base_spec != nullptr) return request_.base_expected;
    if (request_.expected != nullptr) return request_.expected;
    return result_.candidate ? &result_.candidate->output : nullptr;
  }

  bool warm_up() {
    std::vector<WarmedUpReply> sides;
    for (DuetWorker* worker : in_random_order()) {
      const Warmup& warmup = worker->spec().warmup;
      const Nanoseconds time = std::min(warmup.time, kDuetWarmup);
      auto reply = worker->ask(WarmUpRequest{warmup.iterations, time}, kWarmupTimeFactor * time);
      if (!reply) return false;
      sides.push_back(*reply);
    }
    iterations_ = common_iterations(sides);
    for (const WarmedUpReply& side : sides)
      sample_time_ = std::max(sample_time_, sample_duration(side, iterations_));
    return true;
  }

  void run_rounds() {
    const bool has_pools = base_.spec().key.threads != 1 || candidate_.spec().key.threads != 1;
    // An untimed sample comes first: the other side has used the caches, and the thread pool
    // sleeps.
    const std::int64_t samples = has_pools || sample_time_ < kLongSample ? 2 : 1;
    const Nanoseconds turn_time =
        samples * sample_time_ + (has_pools ? kHandOverPause : Nanoseconds(0));
    const auto planned = static_cast<int>(std::clamp<std::int64_t>(
        kDuetTime / std::max(2 * turn_time, Nanoseconds(1)), kMinDuetRounds, kMaxDuetRounds));
    result_.duet.emplace();
    result_.duet->id = request_.spec->id;
    result_.duet->iterations_per_sample = iterations_;
    for (int round = 0; round < planned; ++round) {
      for (DuetWorker* worker : in_random_order()) {
        if (has_pools) workers_.pause(kHandOverPause);
        const auto turn = worker->take_sample(samples, iterations_, sample_time_);
        if (!turn) return result_.duet.reset();
        add_turn(worker->side(), *turn, *result_.duet);
      }
    }
    if (!check_again()) return result_.duet.reset();
    drop_incomplete_clocks(*result_.duet);
    drop_incomparable_canaries(*result_.duet);
  }

  // Checks that both sides still compute what they computed before the samples.
  bool check_again() {
    return std::ranges::all_of(in_random_order(), [](DuetWorker* worker) {
      return worker->ask(ReleaseRequest{.check = true}, Nanoseconds(0)).has_value();
    });
  }

  static void add_turn(DuetWorker::Side side, const DuetWorker::Turn& turn, Duet& duet) {
    const bool is_base = side == DuetWorker::Side::base;
    (is_base ? duet.base : duet.candidate).push_back(turn.time);
    if (turn.clock_hz) {
      (is_base ? duet.base_clock_hz : duet.candidate_clock_hz).push_back(*turn.clock_hz);
    }
    if (turn.canary) {
      (is_base ? duet.base_canary : duet.candidate_canary).push_back(*turn.canary);
    }
  }
  static void drop_incomplete_clocks(Duet& duet) {
    if (duet.base_clock_hz.size() < duet.base.size()) duet.base_clock_hz.clear();
    if (duet.candidate_clock_hz.size() < duet.candidate.size()) duet.candidate_clock_hz.clear();
  }

  // Removes the canaries if a side lacks some, or if the sides took them on different numbers of
  // threads.
  void drop_incomparable_canaries(Duet& duet) const {
    const bool are_comparable = duet.base_canary.size() == duet.base.size() &&
                                duet.candidate_canary.size() == duet.candidate.size() &&
                                base_.canary_threads() == candidate_.canary_threads();
    if (are_comparable) return;
    duet.base_canary.clear();
    duet.candidate_canary.clear();
  }

  DuetWorkers& workers_;
  const DuetRequest& request_;
  SplitMix random_;
  DuetWorker base_, candidate_;
  DuetResult result_;
  std::int64_t iterations_ = 1;  // per sample
  Nanoseconds sample_time_{0};
};

}  // namespace

DuetWorkers::DuetWorkers(WorkerSession& base, WorkerSession& candidate,
                         std::function<void(Nanoseconds)> pause)
    : base_(base), candidate_(candidate), pause_(std::move(pause)) {}

void DuetWorkers::begin(const Case& base, const Case& candidate) {
  const std::pair pair(base.id, candidate.id);
  const std::pair threads(worker_threads(base.key), worker_threads(candidate.key));
  const bool must_replace = served_.size() == kMaxCasesPerWorkers || served_.contains(pair);
  if (must_replace || threads != threads_) finish();
  threads_ = threads;
  served_.insert(pair);
}

void DuetWorkers::finish() {
  base_.finish();
  candidate_.finish();
  served_.clear();
}

DuetResult run_duet(DuetWorkers& workers, const DuetRequest& request) {
  workers.begin(base_case(request), *request.spec);
  DuetResult result = DuetRun(workers, request).run();
  if (!result.failure) return result;
  const bool were_shared = workers.are_shared();
  workers.finish();
  return were_shared ? run_duet(workers, request) : result;
}

}  // namespace bench
