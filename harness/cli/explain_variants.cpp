// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain_variants.hpp"

#include "base/text.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/turn.hpp"
#include "harness/gate/sides.hpp"
#include "harness/gate/variant_trial.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/run/plugin_workers.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Pairs of processes per variant. Its interval needs 6; with twice as many, one disturbed pair does
// not widen it.
constexpr int kDefaultVariantDuets = 12;

// Plans the cases of variants: the same plugins and networks as the case's, and its settings.
class VariantPlanner {
 public:
  VariantPlanner(const Case& spec, const Arguments& arguments, PluginWorkers& workers)
      : spec_(spec), arguments_(arguments), workers_(workers) {}

  // Returns the case of a key, or why there is none.
  Result<Case> plan(const CaseKey& key) {
    Arguments changed = arguments_;
    changed.inputs = {to_id(key)};
    changed.filters.clear();
    changed.devices.clear();
    changed.overrides.clear();
    LoadRequest request = make_load_request(changed);
    request.load_plugins = [this](const std::vector<std::string>& files) {
      return workers_.registry(files);
    };
    if (!looks_like_id(spec_.place.file)) {
      const auto beside = std::filesystem::path(spec_.place.file).parent_path() / "networks";
      request.network_folders.insert(request.network_folders.begin(), beside.string());
    }
    auto plan = load_plan(request);
    if (!plan.ok()) return Error{plan.error().front().what, "", ""};
    Case result = std::move(plan->cases.front());
    result.warmup = spec_.warmup;
    result.measure = spec_.measure;
    return result;
  }

 private:
  const Case& spec_;
  const Arguments& arguments_;
  PluginWorkers& workers_;
};

// Returns the planned variant, or why it is impossible.
Result<PlannedVariant> plan_variant(VariantPlanner& planner, Variant variant) {
  BENCH_ASSIGN_OR_RETURN(Case spec, planner.plan(variant.key));
  if (variant.tune != 0) spec.measure.tune = variant.tune;
  PlannedVariant planned{std::move(variant), std::move(spec)};
  if (planned.variant.saved) {
    BENCH_ASSIGN_OR_RETURN(planned.saved, planner.plan(*planned.variant.saved));
  }
  return planned;
}

// The variants that are measured, and those of --try that are impossible, with the reason.
struct Selection {
  std::vector<PlannedVariant> possible;
  TriedVariants impossible;
};

Selection select_variants(const Case& spec, const Arguments& arguments, PluginWorkers& workers) {
  std::vector<std::string> names = arguments.tried->names;
  const bool has_names = !names.empty();
  VariantPlanner planner(spec, arguments, workers);
  Selection selection;
  for (Variant& variant : propose_variants(spec, count_processors(allowed_cores()))) {
    const bool is_named = std::erase(names, variant.name) > 0;
    if (has_names && !is_named) continue;
    auto planned = plan_variant(planner, variant);
    if (planned.ok()) {
      selection.possible.push_back(*std::move(planned));
    } else if (is_named) {
      selection.impossible.variants.push_back({std::move(variant), spec});
      selection.impossible.results.push_back({std::nullopt, planned.error().what});
    }
  }
  for (const std::string& name : names) {
    Variant variant{};
    variant.name = *std::ranges::find(variant_names(), name);
    variant.key = spec.key;
    selection.impossible.variants.push_back({std::move(variant), spec});
    selection.impossible.results.push_back({std::nullopt, "this change does not fit the case"});
  }
  return selection;
}

}  // namespace

Result<std::vector<TriedVariants>> try_variants(const Plan& plan, const Arguments& arguments,
                                                Env& env) {
  InterruptWatch watch;
  const auto interrupted = [&watch] { return watch.is_interrupted(); };
  const TimeLimit limit(arguments.budget, interrupted, *env.clock);
  BENCH_ASSIGN_OR_RETURN(const GateSide side, find_side(own_path(), {}, limit, *env.clock));
  BENCH_ASSIGN_OR_RETURN(const MachineTurn turn,
                         take_turn(arguments, limit.remaining(), interrupted, env));
  GateParts parts = real_gate_parts(side, side, plan, env);
  parts.interrupted = interrupted;
  auto progress = make_progress(arguments.verbosity, env);
  parts.progress = duet_progress(*progress);
  PluginWorkers workers(own_path(), env);
  std::vector<TriedVariants> tried;
  for (const Case& spec : plan.cases) {
    Selection selection = select_variants(spec, arguments, workers);
    workers.rest();
    const VariantTask task{&spec, &selection.possible,
                           arguments.gate.duets.value_or(kDefaultVariantDuets),
                           arguments.seed.value_or(1)};
    TriedVariants& entry = tried.emplace_back(
        TriedVariants{selection.possible, try_variants(task, parts, limit, *env.clock)});
    const auto append = [](auto& list, auto& more) {
      list.insert(list.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
    };
    append(entry.variants, selection.impossible.variants);
    append(entry.results, selection.impossible.results);
  }
  return tried;
}

}  // namespace bench
