// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/variant_trial.hpp"

#include "harness/run/case_step.hpp"

#include <map>
#include <utility>

namespace bench {
namespace {

class VariantTrial {
 public:
  VariantTrial(const VariantTask& task, const GateParts& parts, const TimeLimit& limit,
               Clock& clock)
      : task_(task),
        parts_(parts),
        limit_(limit),
        clock_(clock),
        base_(
            parts.start_base, parts.hello, [this] { return limit_.must_abort(); }, clock),
        candidate_(
            parts.start_candidate, parts.hello, [this] { return limit_.must_abort(); }, clock),
        workers_(base_, candidate_, parts.pause),
        measured_(task.variants->size()) {}

  std::vector<VariantResult> run() {
    for (int round = 0; round < task_.duets; ++round) {
      for (std::size_t i = 0; i < measured_.size() && !limit_.stop_cause(); ++i) {
        if (!measured_[i].failure.empty()) continue;
        report_progress(i, round);
        measure((*task_.variants)[i], measured_[i]);
      }
    }
    workers_.finish();
    std::vector<VariantResult> results;
    for (std::size_t i = 0; i < measured_.size(); ++i)
      results.push_back(make_result((*task_.variants)[i].variant, measured_[i]));
    return results;
  }

 private:
  // What was measured of a variant, and what the next duets repeat.
  struct Measured {
    std::vector<Duet> duets, saved_duets;
    std::optional<OutputSample> output, saved_output;
    std::optional<std::string> choices;
    std::string failure;
  };

  VariantResult make_result(const Variant& variant, const Measured& measured) const {
    VariantResult result{
        compute_variant_effect(measured.duets, measured.saved_duets, variant.batches),
        measured.failure, std::nullopt};
    if (!result.reason.empty()) {
      result.effect.reset();
    } else if (std::cmp_less(measured.duets.size(), task_.duets)) {
      result.stopped = limit_.stop_cause();
      result.reason = limit_.is_interrupted() ? "interrupted" : "the budget ended";
    }
    return result;
  }

  void report_progress(std::size_t index, int round) const {
    if (!parts_.progress) return;
    const std::size_t count = measured_.size();
    const std::size_t steps_done = static_cast<std::size_t>(round) * count + index;
    GateStep step{(*task_.variants)[index].spec.id, "duet",
                  static_cast<std::size_t>(task_.duets) * count - steps_done};
    if (steps_done > 0) {
      step.time_left = limit_.elapsed() / static_cast<std::int64_t>(steps_done) *
                       static_cast<std::int64_t>(step.steps_left);
    }
    parts_.progress(step);
  }

  // Lets a worker of its own choose the kernel of a variant that chooses by measuring.
  void choose(const PlannedVariant& planned, Measured& measured) {
    if (measured.choices) return;
    measured.choices = "";
    if (!chooses_by_measuring(planned.spec)) return;
    workers_.finish();
    if (const Status status = candidate_.ensure(worker_threads(planned.spec.key)); !status) {
      measured.failure = status.error().message();
      return;
    }
    StepRequest step{&planned.spec, 0, task_.seed};
    step.extent = StepRequest::Extent::prepare_only;
    StepResult result = run_step(candidate_, step, clock_);
    candidate_.finish();
    if (result.failure) measured.failure = std::move(result.failure->reason);
    if (!result.prepared) return;
    measured.choices = std::move(result.prepared->choices);
    if (planned.variant.tune != 0 && measured.choices->empty())
      measured.failure = "the library has no other kernel for this case";
  }

  void measure(const PlannedVariant& planned, Measured& measured) {
    choose(planned, measured);
    if (!measured.failure.empty()) return;
    add_duet(planned.spec, *measured.choices, measured.output, measured.duets, measured);
    if (!planned.saved || !measured.failure.empty() || limit_.must_abort()) return;
    add_duet(*planned.saved, "", measured.saved_output, measured.saved_duets, measured);
  }

  // Takes a duet of the case (base) and another case (candidate).
  void add_duet(const Case& other, const std::string& choices, std::optional<OutputSample>& output,
                std::vector<Duet>& duets, Measured& measured) {
    DuetRequest request{&other, {}, task_.seed, task_.seed + ++duets_};
    request.candidate_choices = choices;
    request.base_choices = base_choices_;
    request.base_spec = task_.spec;
    if (output) request.expected = &*output;
    if (base_output_) request.base_expected = &*base_output_;
    DuetResult result = run_duet(workers_, request);
    if (result.failure) {
      const bool is_case = result.failure->side == SideFailure::Side::base;
      measured.failure = (is_case ? "the case itself: " : "") + result.failure->reason;
      return;
    }
    if (!result.duet) return;  // aborted
    if (!output) output = std::move(result.candidate->output);
    if (!base_output_) base_output_ = std::move(result.base->output);
    base_choices_ = result.base->choices;
    duets.push_back(std::move(*result.duet));
  }

  const VariantTask& task_;
  const GateParts& parts_;
  const TimeLimit& limit_;
  Clock& clock_;
  WorkerSession base_, candidate_;
  DuetWorkers workers_;  // uses base_ and candidate_
  std::optional<OutputSample> base_output_;
  std::string base_choices_;
  std::vector<Measured> measured_;  // one per variant
  std::uint64_t duets_ = 0;         // number of duets started so far
};

}  // namespace

std::vector<VariantResult> try_variants(const VariantTask& task, const GateParts& parts,
                                        const TimeLimit& limit, Clock& clock) {
  return VariantTrial(task, parts, limit, clock).run();
}

}  // namespace bench
