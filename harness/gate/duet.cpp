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
#include <utility>

namespace bench {
namespace {

// A device's clock and the host's may differ slightly.
constexpr Nanoseconds kDuetClockTolerance = std::chrono::milliseconds(1);

class DuetWorker {
 public:
  using Side = SideFailure::Side;
  DuetWorker(Side side, WorkerSession& session, const Case& spec)
      : side_(side), session_(session), spec_(spec) {}

  Side side() const { return side_; }
  const std::optional<SideFailure>& failure() const { return failure_; }
  int canary_threads() const { return canary_threads_; }

  // Returns whether a worker is running. If not, failure() gives the reason, except after an
  // interruption.
  bool start() {
    const Status status = session_.ensure(spec_.key.threads);
    if (!status && !session_.is_interrupted()) {
      failure_ = SideFailure{side_, Outcome::failed, status.error().message()};
    }
    return status.ok();
  }

  // Returns the reply. If there is none, failure() gives the reason, except after an interruption.
  template <class Answer>
  std::optional<Answer> ask(const Request& message, Nanoseconds target) {
    auto reply = session_.ask<Answer>(message, target + spec_.measure.timeout);
    if (reply) return std::move(*reply);
    const RequestFailure& why = reply.error();
    if (why.cause == RequestFailure::Cause::interruption) return std::nullopt;
    failure_ = SideFailure{side_, why.outcome, why.reason};
    return std::nullopt;
  }

  struct Turn {
    Nanoseconds time{0};
    std::optional<std::int64_t> clock_hz;
    std::optional<Nanoseconds> canary;
  };
  std::optional<Turn> sample(std::int64_t samples, std::int64_t iterations, Nanoseconds expected) {
    const auto round = ask<RoundReply>(RoundRequest{samples, "", iterations}, expected * samples);
    if (!round) return std::nullopt;
    const bool fewer = static_cast<std::int64_t>(round->samples.size()) < samples;
    if (fewer && round->device.voided.count > 0) {
      failure_ = SideFailure{side_, Outcome::failed, format_discarded(round->device.voided)};
      return std::nullopt;
    }
    if (round->iterations_per_sample != iterations || round->samples.empty()) {
      failure_ =
          SideFailure{side_, Outcome::failed,
                      "the worker cannot take samples of a given length; its version is too old"};
      return std::nullopt;
    }
    if (round->samples.back() > session_.last_call() + kDuetClockTolerance) {
      failure_ = SideFailure{
          side_, Outcome::failed,
          fmt::format("the worker reports a sample of {}, which is longer than the request ({})",
                      format_time(round->samples.back()), format_time(session_.last_call()))};
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

class DuetRun {
 public:
  DuetRun(DuetWorkers& workers, const DuetRequest& request)
      : workers_(workers),
        request_(request),
        random_(request.order_seed),
        base_(DuetWorker::Side::base, workers.base(), *request.spec),
        candidate_(DuetWorker::Side::candidate, workers.candidate(), *request.spec) {}

  DuetResult run() {
    std::array<DuetWorker*, 2> order = in_random_order();
    const bool are_ready =
        std::ranges::all_of(order, [](DuetWorker* player) { return player->start(); });
    if (are_ready && prepare() && warm_up()) take_turns();
    for (const DuetWorker* player : order) {
      if (player->failure()) result_.failure = player->failure();
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

  // The base must compute the same as the candidate. Once the expected output is known, the order
  // of preparation is random like everything else: nothing distinguishes the sides of an A/A duet.
  bool prepare() {
    PrepareRequest message =
        prepare_request(*request_.spec, request_.data_seed, request_.input_layouts);
    std::array<DuetWorker*, 2> order = {&candidate_, &base_};
    if (request_.expected != nullptr) {
      order = in_random_order();
      message.check = CheckKind::expected;
      message.expected = *request_.expected;
    }
    for (DuetWorker* player : order) {
      const bool is_base = player->side() == DuetWorker::Side::base;
      std::optional<PreparedReply>& prepared = is_base ? result_.base : result_.candidate;
      prepared = player->ask<PreparedReply>(message, Nanoseconds(0));
      if (!prepared) return false;
      if (message.check == CheckKind::expected) continue;
      message.check = CheckKind::expected;
      message.expected = prepared->output;
    }
    return true;
  }

  bool warm_up() {
    const Warmup& wanted = request_.spec->warmup;
    const Nanoseconds time = std::min(wanted.time, kDuetWarmup);
    for (DuetWorker* player : in_random_order()) {
      const auto warm = player->ask<WarmedUpReply>(WarmUpRequest{wanted.iterations, time},
                                                   kWarmupTimeFactor * time);
      if (!warm) return false;
      // Both sides use the same batch size, so the first iteration after a hand-over has the same
      // weight.
      if (warm->iterations_per_sample >= iterations_) {
        iterations_ = warm->iterations_per_sample;
        sample_ = std::max(sample_, warm->sample);
      }
    }
    return true;
  }

  void take_turns() {
    const bool pools = request_.spec->key.threads != 1;
    // The other side has used the caches and pools sleep, so an untimed sample comes first.
    const std::int64_t samples = pools || sample_ < kLongSample ? 2 : 1;
    const Nanoseconds turn = samples * sample_ + (pools ? kHandOver : Nanoseconds(0));
    const auto rounds = static_cast<int>(std::clamp<std::int64_t>(
        kDuetTime / std::max(2 * turn, Nanoseconds(1)), kMinDuetRounds, kMaxDuetRounds));
    result_.duet.emplace();
    result_.duet->id = request_.spec->id;
    result_.duet->iterations_per_sample = iterations_;
    for (int round = 0; round < rounds; ++round) {
      for (DuetWorker* player : in_random_order()) {
        if (pools) workers_.pause(kHandOver);
        const auto sample = player->sample(samples, iterations_, sample_);
        if (!sample) return result_.duet.reset();
        add(player->side(), *sample, *result_.duet);
      }
    }
    keep_whole_clocks(*result_.duet);
    keep_whole_canaries(*result_.duet);
  }

  static void add(DuetWorker::Side side, const DuetWorker::Turn& turn, Duet& duet) {
    const bool is_base = side == DuetWorker::Side::base;
    (is_base ? duet.base : duet.candidate).push_back(turn.time);
    if (turn.clock_hz) {
      (is_base ? duet.base_clock_hz : duet.candidate_clock_hz).push_back(*turn.clock_hz);
    }
    if (turn.canary) {
      (is_base ? duet.base_canary : duet.candidate_canary).push_back(*turn.canary);
    }
  }
  static void keep_whole_clocks(Duet& duet) {
    if (duet.base_clock_hz.size() < duet.base.size()) duet.base_clock_hz.clear();
    if (duet.candidate_clock_hz.size() < duet.candidate.size()) duet.candidate_clock_hz.clear();
  }

  // Canaries are comparable only if both sides took them, on the same number of threads.
  void keep_whole_canaries(Duet& duet) {
    const bool whole = duet.base_canary.size() == duet.base.size() &&
                       duet.candidate_canary.size() == duet.candidate.size() &&
                       base_.canary_threads() == candidate_.canary_threads();
    if (!whole || duet.base.empty()) {
      duet.base_canary.clear();
      duet.candidate_canary.clear();
      return;
    }
    const int threads = base_.canary_threads();
    QuietLevels own;
    QuietLevels& levels = request_.levels != nullptr ? *request_.levels : own;
    levels.learn(threads, duet.base_canary);
    levels.learn(threads, duet.candidate_canary);
    duet.quiet_level = levels.level(threads).value_or(Nanoseconds(0));
  }

  DuetWorkers& workers_;
  const DuetRequest& request_;
  SplitMix random_;
  DuetWorker base_, candidate_;
  DuetResult result_;
  std::int64_t iterations_ = 1;
  Nanoseconds sample_{0};
};

}  // namespace

DuetWorkers::DuetWorkers(WorkerSession& base, WorkerSession& candidate,
                         std::function<void(Nanoseconds)> pause)
    : base_(base), candidate_(candidate), pause_(std::move(pause)) {}

void DuetWorkers::begin(const Case& spec) {
  const bool are_spent = served_.size() == kCasesOfWorkers || served_.contains(spec.id);
  if (are_spent || spec.key.threads != threads_) finish();
  threads_ = spec.key.threads;
  served_.insert(spec.id);
}

void DuetWorkers::finish() {
  base_.finish();
  candidate_.finish();
  served_.clear();
}

DuetResult run_duet(DuetWorkers& workers, const DuetRequest& request) {
  workers.begin(*request.spec);
  DuetResult result = DuetRun(workers, request).run();
  if (!result.failure) return result;
  const bool were_shared = workers.are_shared();
  workers.finish();
  return were_shared ? run_duet(workers, request) : result;
}

}  // namespace bench
