// SPDX-License-Identifier: Apache-2.0
// table: one row per reason
#include "harness/report/choice_gap.hpp"

#include "base/plural.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

constexpr std::array<std::string_view, 3> kTunedBackends = {"onednn", "cudnn", "cublaslt"};

constexpr std::string_view kOtherBackend =
    "to compare libraries, give the case several backends and run `bench compare RESULT --by "
    "backend`";
constexpr std::string_view kLayers =
    "tune the layers as cases of their own: `measure: [layers]` with `tune: true`";

std::string_view find_tuned_detail(const TunedCase& tuned) {
  const auto found = tuned.details.find("tuned");
  return found == tuned.details.end() ? std::string_view() : std::string_view(found->second);
}

bool has_one_candidate(const TunedCase& tuned) {
  return tuned.regret != nullptr && tuned.regret->candidates.size() < 2;
}

bool asked_for_one_candidate(const TunedCase& tuned) {
  const auto asked = tuned.details.find(kTuneDetail);
  return has_one_candidate(tuned) && asked != tuned.details.end() && asked->second == "1";
}

std::string format_first_failure(const TunedCase& tuned) {
  const auto& candidates = tuned.regret->candidates;
  const auto failed =
      std::ranges::find_if(candidates, [](const ops::MeasuredCandidate& c) { return !c.time; });
  if (failed == candidates.end()) return "no other candidate could be measured";
  return fmt::format("no other candidate could be measured ({}: {})", failed->name,
                     failed->failure);
}

// A reason, and what the user can do about it. The first row that applies counts.
struct GapRow {
  bool (*applies)(const TunedCase&);
  std::string (*reason)(const TunedCase&);
  std::string_view next_step;
};

constexpr std::array kGapRows = {
    GapRow{asked_for_one_candidate,
           [](const TunedCase&) {
             return std::string("`tune: 1` measures only what the library takes by itself");
           },
           "use `tune: true`, which measures other candidates too"},
    GapRow{has_one_candidate,
           [](const TunedCase&) { return std::string("the library offers no other candidate"); },
           kOtherBackend},
    GapRow{[](const TunedCase& t) { return t.regret != nullptr; }, format_first_failure,
           "`bench explain` with the same `tune` shows why each of them failed"},
    GapRow{[](const TunedCase& t) { return find_tuned_detail(t).starts_with(ops::kNotTuned); },
           [](const TunedCase& t) {
             return std::string(find_tuned_detail(t).substr(ops::kNotTuned.size()));
           },
           "remove the cause (if it is memory, free some or choose a smaller shape) and run the "
           "case again"},
    GapRow{[](const TunedCase& t) { return find_tuned_detail(t).starts_with(ops::kChosenBefore); },
           [](const TunedCase& t) {
             return fmt::format("the run repeats an earlier choice, {}",
                                find_tuned_detail(t).substr(ops::kChosenBefore.size()));
           },
           "run the case without `--resume` to measure its candidates again"},
    GapRow{[](const TunedCase& t) { return !find_tuned_detail(t).empty(); },
           [](const TunedCase& t) {
             return fmt::format("`{}` states no times of its candidates", t.backend);
           },
           "see the detail `tuned` in the result for what it states"},
    GapRow{[](const TunedCase& t) { return t.op == "network" && t.device == "cpu"; },
           [](const TunedCase&) {
             return std::string("`tune` has no effect on a whole network on the CPU");
           },
           kLayers},
    GapRow{[](const TunedCase& t) { return t.op == "network"; },
           [](const TunedCase&) {
             return std::string("a network has a choice per layer, not one for the whole");
           },
           kLayers},
    GapRow{[](const TunedCase& t) { return !offers_choice(t.backend); },
           [](const TunedCase& t) {
             return fmt::format("the backend `{}` offers no choice", t.backend);
           },
           kOtherBackend},
    GapRow{[](const TunedCase&) { return true; },
           [](const TunedCase& t) {
             return fmt::format(
                 "`{}` offers no choice for `{}`: it has one kernel for it, or "
                 "computes it by several kernels",
                 t.backend, t.op);
           },
           "if it is computed by several kernels, tune its parts as cases of their own, such as "
           "`gemm` for `grouped_gemm`"},
};

struct GapGroup {
  ChoiceGap gap;
  std::string first;  // id
  std::size_t count = 0;
};

std::string format_group(const GapGroup& group) {
  return fmt::format("{} no measured alternative ({}{}): {}; {}.",
                     pluralise(group.count, "case with `tune` has", "cases with `tune` have"),
                     group.count == 1 ? "" : "first: ", group.first, group.gap.reason,
                     group.gap.next_step);
}

}  // namespace

bool offers_choice(std::string_view backend) {
  return std::ranges::count(kTunedBackends, backend) > 0;
}

std::optional<ChoiceGap> find_choice_gap(const TunedCase& tuned) {
  if (tuned.regret != nullptr && tuned.regret->is_compared()) return std::nullopt;
  const auto* row =
      std::ranges::find_if(kGapRows, [&](const GapRow& r) { return r.applies(tuned); });
  return ChoiceGap{row->reason(tuned), std::string(row->next_step)};
}

std::vector<std::string> choice_gap_notes(const Report& report) {
  std::vector<GapGroup> groups;
  for (const CaseRecord& record : report.cases) {
    const bool is_tuned = record.regret || record.details.contains(kTuneDetail);
    if (!is_tuned || record.outcome != Outcome::ok) continue;
    const ops::Regret* regret = record.regret ? &*record.regret : nullptr;
    auto gap = find_choice_gap({record.op, record.backend, record.device, record.details, regret});
    if (!gap) continue;
    const auto known = std::ranges::find(groups, *gap, &GapGroup::gap);
    GapGroup& group = known == groups.end()
                          ? groups.emplace_back(GapGroup{*std::move(gap), record.id, 0})
                          : *known;
    ++group.count;
  }
  std::vector<std::string> notes;
  for (const GapGroup& group : groups) notes.push_back(format_group(group));
  return notes;
}

}  // namespace bench
