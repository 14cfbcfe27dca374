// SPDX-License-Identifier: Apache-2.0
#include "harness/config/expand.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

namespace {

std::string format_setting_time(Nanoseconds time) { return format_time(time); }

// Settings that cases with equal ids must share, as text for the message.
struct SettingRow {
  std::string_view name;
  std::string (*text)(const Case&);
};

constexpr std::array<SettingRow, 9> kSettings = {{
    {"warmup.iterations", [](const Case& c) { return fmt::to_string(c.warmup.iterations); }},
    {"warmup.time", [](const Case& c) { return format_setting_time(c.warmup.time); }},
    {"measure.processes", [](const Case& c) { return fmt::to_string(c.measure.processes); }},
    {"measure.min_iterations",
     [](const Case& c) { return fmt::to_string(c.measure.min_iterations); }},
    {"measure.precision",
     [](const Case& c) { return fmt::format("{}%", c.measure.precision * 100); }},
    {"measure.max_time", [](const Case& c) { return format_setting_time(c.measure.max_time); }},
    {"measure.timeout", [](const Case& c) { return format_setting_time(c.measure.timeout); }},
    {"tune",
     [](const Case& c) {
       return c.measure.tune == 0 ? std::string("false") : fmt::to_string(c.measure.tune);
     }},
    {"sample_method",
     [](const Case& c) { return std::string(to_string(c.measure.sample_method)); }},
}};

void merge_membership(std::vector<Membership>& memberships, const Membership& added) {
  const auto same = std::find_if(memberships.begin(), memberships.end(),
                                 [&](const Membership& m) { return m.network == added.network; });
  if (same == memberships.end()) {
    memberships.push_back(added);
    return;
  }
  for (const std::string& layer : added.layers) {
    if (std::find(same->layers.begin(), same->layers.end(), layer) == same->layers.end()) {
      same->layers.push_back(layer);
    }
  }
  for (const ops::Direction direction : added.unmeasured_gradients) {
    auto& known = same->unmeasured_gradients;
    if (std::find(known.begin(), known.end(), direction) == known.end()) known.push_back(direction);
  }
}

}  // namespace

std::string format_sample_method(const Measure& measure) {
  if (measure.sample_method == ops::SampleMethod::any) return "";
  return fmt::format(" sample_method {}", to_string(measure.sample_method));
}

void PlanBuilder::reserve(std::size_t cases) {
  cases_.reserve(cases);
  spots_.reserve(cases);
  index_.reserve(cases);
}

void PlanBuilder::add(Case added, Spot spot, const std::string& content) {
  added.id = to_id(added.key);
  const std::size_t position = cases_.size();
  cases_.push_back(std::move(added));
  const auto [place, inserted] = index_.insert(position);
  if (!inserted) {
    Case again = std::move(cases_.back());
    cases_.pop_back();
    return merge(*place, std::move(again), spot, content);
  }
  spots_.push_back(spot);
  if (!content.empty()) contents_.emplace(position, content);
}

const std::string& PlanBuilder::find_content(std::size_t position) const {
  static const std::string kNone;
  const auto found = contents_.find(position);
  return found == contents_.end() ? kNone : found->second;
}

void PlanBuilder::merge(std::size_t index, Case&& added, Spot spot, const std::string& content) {
  Case& known = cases_[index];
  const auto conflict = [&](const std::string& difference) {
    findings_.add(spot,
                  fmt::format("the case {} also occurs at {} with other settings: {}", known.id,
                              findings_.place(spots_[index]).text(), difference),
                  "give both the same settings, or remove one");
  };
  if (find_content(index) != content) {
    return conflict(fmt::format("another network file named {}", known.key.parameters));
  }
  if (!(known.warmup == added.warmup && known.measure == added.measure)) {
    for (const SettingRow& row : kSettings) {
      const std::string there = row.text(known);
      const std::string here = row.text(added);
      if (there != here) {
        return conflict(fmt::format("{} is {} there, {} here", row.name, there, here));
      }
    }
    return conflict("times that differ by less than the shown precision");
  }
  for (const Membership& membership : added.memberships) {
    merge_membership(known.memberships, membership);
  }
  // nullopt compares as the smallest value, so the largest network decides the distance.
  known.reuse_distance = std::max(known.reuse_distance, added.reuse_distance);
}

std::vector<Case> PlanBuilder::take() && {
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    Case& finished = cases_[i];
    std::string text = finished.id;
    if (finished.reuse_distance) text += fmt::format(" reuse {}", finished.reuse_distance->count);
    if (const std::string& content = find_content(i); !content.empty())
      text += " network " + content;
    // On a device, `tune` decides which engine computes. oneDNN has no such choice, so its times
    // stay comparable with those of a configuration without `tune`.
    const std::int64_t tune = finished.measure.tune;
    if (tune != 0 && finished.key.device != "cpu") text += fmt::format(" tune {}", tune);
    if (finished.key.device != "cpu") text += format_sample_method(finished.measure);
    finished.hash = content_hash(text);
  }
  return std::move(cases_);
}

namespace {

// Expansion of an entry stops at this many errors, for example in a sweep over impossible shapes.
constexpr std::size_t kMaxFindingsOfEntry = 200;

// Axes that decide what is computed come before those that decide where and how it runs.
constexpr std::array<Axis, 4> kOperatorAxes = {Axis::direction, Axis::dtype, Axis::layout,
                                               Axis::math};
constexpr std::array<Axis, 6> kNetworkAxes = {Axis::batch, Axis::mode,   Axis::fuse,
                                              Axis::dtype, Axis::layout, Axis::math};
constexpr std::array<Axis, 4> kPlaceAxes = {Axis::device, Axis::backend, Axis::cache,
                                            Axis::threads};

// One combination of all varying values.
struct CaseCombination {
  ops::ParameterSet parameters{{}};
  std::vector<Spot> parameter_spots;
  std::array<AxisValue, kAxisCount> axes;

  AxisValue& axis(Axis name) { return axes[static_cast<std::size_t>(name)]; }
  const AxisValue& axis(Axis name) const { return axes[static_cast<std::size_t>(name)]; }
};

CaseCombination first_combination(const CaseTemplate& entry) {
  CaseCombination combination;
  combination.parameters = entry.parameters;
  combination.parameter_spots = entry.parameter_spots;
  for (std::size_t i = 0; i < kAxisCount; ++i) combination.axes[i] = entry.settings.axes[i].front();
  return combination;
}

bool is_swept(const CaseTemplate& entry, Axis axis) {
  const auto assigns = [&](const Choice& choice) {
    return std::any_of(choice.begin(), choice.end(),
                       [&](const Assignment& made) { return made.axis == axis; });
  };
  return std::any_of(entry.dimensions.begin(), entry.dimensions.end(),
                     [&](const Dimension& d) { return std::any_of(d.begin(), d.end(), assigns); });
}

// Returns the lists of axes as dimensions; omits an axis that a sweep assigns.
std::vector<Dimension> axis_dimensions(const CaseTemplate& entry, std::span<const Axis> axes) {
  std::vector<Dimension> dimensions;
  for (const Axis axis : axes) {
    if (is_swept(entry, axis)) continue;
    Dimension dimension;
    for (const AxisValue& value : entry.settings.axis(axis)) {
      dimension.push_back({Assignment{axis, 0, {}, value, value.spot}});
    }
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

void apply(const Choice& choice, CaseCombination& combination) {
  for (const Assignment& made : choice) {
    if (made.axis) {
      combination.axis(*made.axis) = made.axis_value;
      continue;
    }
    combination.parameters.set(combination.parameters.table()[made.parameter].name, made.value);
    combination.parameter_spots[made.parameter] = made.spot;
  }
}

// Calls `leaf` for every combination, with the last dimension varying fastest; stops if it returns
// false.
bool combine(std::span<const Dimension> dimensions, CaseCombination& combination,
             const std::function<bool(const CaseCombination&)>& leaf) {
  if (dimensions.empty()) return leaf(combination);
  for (const Choice& choice : dimensions.front()) {
    apply(choice, combination);
    if (!combine(dimensions.subspan(1), combination, leaf)) return false;
  }
  return true;
}

DataType to_data_type(const AxisValue& value) {
  const auto words = axis_row(Axis::dtype).words(ops::built_in_operators());
  return *data_type_from_name(words[static_cast<std::size_t>(value.value)]);
}

// Device, backend, cache mode and threads of one case.
struct Site {
  std::string_view device;
  std::string_view backend;
  CacheMode cache;
  std::optional<int> threads;
};

// Combines devices with backends. Leaves out pairs that do not match, and reports a value that
// matches nothing.
class Sites {
 public:
  Sites(const CaseTemplate& entry, const ops::OperatorRegistry& registry, Findings& findings)
      : entry_(entry),
        registry_(registry),
        findings_(findings),
        dimensions_(axis_dimensions(entry, kPlaceAxes)) {}

  std::vector<Site> of(const CaseCombination& combination, std::string_view op) {
    std::vector<Site> sites;
    CaseCombination varied;
    varied.axes = combination.axes;
    combine(dimensions_, varied, [&](const CaseCombination& leaf) {
      if (const auto site = make(leaf, op)) sites.push_back(*site);
      return true;
    });
    return sites;
  }

  // Call after the last combination.
  void report_unmatched() const {
    for (const auto& [name, value] : values_) {
      if (value.matched) continue;
      const Spot spot = value.spot.file < 0 ? entry_.spot : value.spot;
      findings_.add(spot, value.what, value.next);
    }
  }

 private:
  struct Value {
    Spot spot;
    bool matched;
    std::string what, next;
  };

  std::optional<Site> make(const CaseCombination& combination, std::string_view op) {
    const AxisValue& device_value = combination.axis(Axis::device);
    const AxisValue& backend_value = combination.axis(Axis::backend);
    const std::string_view device = device_names()[static_cast<std::size_t>(device_value.value)];
    std::string_view backend = registry_.default_backend(device, op);
    if (backend_value.value != kAutomatic) {
      const ops::BackendRow& row =
          registry_.backends()[static_cast<std::size_t>(backend_value.value)];
      const bool match = row.device == device;
      note(row.name, backend_value.spot, match,
           fmt::format("backend `{}` runs on device {}, which is not among this case's devices",
                       row.name, row.device),
           fmt::format("write `device: {}`", row.device));
      note(device, device_value.spot, match,
           fmt::format("no backend of this case runs on device `{}`", device),
           fmt::format("write `backend: {}`", registry_.default_backend(device, op)));
      if (!match) return std::nullopt;
      backend = row.name;
    }
    const std::int64_t threads = combination.axis(Axis::threads).value;
    return Site{device, backend, static_cast<CacheMode>(combination.axis(Axis::cache).value),
                threads == 0 ? std::nullopt : std::optional<int>(static_cast<int>(threads))};
  }

  void note(std::string_view name, Spot spot, bool match, std::string what, std::string next) {
    const auto [place, inserted] =
        values_.try_emplace(name, Value{spot, match, std::move(what), std::move(next)});
    place->second.matched |= match;
  }

  const CaseTemplate& entry_;
  const ops::OperatorRegistry& registry_;
  Findings& findings_;
  std::vector<Dimension> dimensions_;
  std::map<std::string_view, Value> values_;
};

// Creates a case with the properties that all cases of one entry share.
Case make_case(const CaseTemplate& entry, const Findings& findings, const Site& site) {
  Case result;
  result.warmup = entry.settings.warmup;
  result.measure = entry.settings.measure;
  result.place = findings.place(entry.spot);
  result.place.column = 0;  // reports show only the line
  result.key.device = site.device;
  result.key.backend = site.backend;
  result.key.cache = site.cache;
  result.key.threads = site.threads;
  return result;
}

// A plan stays in memory. Copying the problem drops its spare capacity. Its formulas are cleared,
// since only `explain` shows them, and it creates them again.
void set_problem(Case& result, const ops::Problem& problem, const std::string& tokens) {
  result.key.op = problem.op->name;
  result.key.direction = problem.direction;
  result.key.parameters = tokens;
  result.key.dtype = problem.dtype;
  result.key.layout = problem.layout;
  result.key.math = problem.math;
  result.work = problem;
}

// Returns the location of what make_problem() names: a parameter, an axis, or post_ops.
Spot find_spot(const CaseTemplate& entry, const CaseCombination& combination,
               std::string_view where) {
  Spot spot;
  const auto table = entry.op->parameters;
  const ops::Parameter* parameter = ops::find_parameter(table, where);
  if (parameter != nullptr) {
    spot = combination.parameter_spots[static_cast<std::size_t>(parameter - table.data())];
  } else if (const AxisRow* axis = find_axis(where)) {
    spot = combination.axis(axis->axis).spot;
  } else if (where == "post_ops") {
    spot = entry.post_ops_spot;
  }
  return spot.file < 0 ? entry.spot : spot;
}

ops::ProblemRequest make_problem_request(const CaseTemplate& entry,
                                         const CaseCombination& combination) {
  return {.op = entry.op,
          .direction = static_cast<ops::Direction>(combination.axis(Axis::direction).value),
          .dtype = to_data_type(combination.axis(Axis::dtype)),
          .layout = static_cast<ops::Layout>(combination.axis(Axis::layout).value),
          .math = static_cast<ops::Math>(combination.axis(Axis::math).value),
          .parameters = combination.parameters,
          .post_ops = entry.post_ops};
}

// Expands one network entry.
class NetworkExpansion {
 public:
  NetworkExpansion(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                   const ops::OperatorRegistry& registry, Findings& findings, PlanBuilder& plan)
      : entry_(entry),
        file_(file),
        networks_(networks),
        findings_(findings),
        plan_(plan),
        sites_(entry, registry, findings) {}

  void add(const CaseCombination& combination) {
    const AxisValue& math = combination.axis(Axis::math);
    if (const Status allowed = check_network_math(static_cast<ops::Math>(math.value)); !allowed) {
      return findings_.add(math.spot, allowed.error().what, allowed.error().next);
    }
    const BoundNetwork* bound = networks_.bind(
        file_, make_segment(combination), to_data_type(combination.axis(Axis::dtype)), entry_.spot);
    if (bound == nullptr) return;
    if (entry_.settings.parts != NetworkParts::network) {
      for (const ops::DistinctLayer& layer : bound->layers) add_layer(*bound, layer, combination);
    }
    if (entry_.settings.parts != NetworkParts::layers) add_whole(*bound, combination);
  }

  void finish() const { sites_.report_unmatched(); }

 private:
  NetworkSegment make_segment(const CaseCombination& combination) const {
    NetworkSegment segment;
    segment.name = entry_.network;
    segment.batch = combination.axis(Axis::batch).value;
    segment.mode = static_cast<ops::Mode>(combination.axis(Axis::mode).value);
    const std::int64_t fuse = combination.axis(Axis::fuse).value;
    const bool fused = fuse == kAutomatic ? segment.mode == ops::Mode::inference : fuse != 0;
    segment.fusion = fused ? ops::Fusion::fused : ops::Fusion::separate;
    return segment;
  }

  // One measurement of a layer: a problem in one direction, and the layers that it represents.
  struct LayerCase {
    ops::Problem problem;
    std::vector<std::string> layers;
  };

  // Returns the layers for which a training step computes the gradient.
  static std::vector<std::string> gradient_layers(const ops::DistinctLayer& layer,
                                                  ops::Direction direction) {
    if (direction == ops::Direction::backward_data) return layer.data_gradient_layers;
    return layer.learns ? layer.layers : std::vector<std::string>{};
  }

  // Returns nullopt if the operator does not support the direction, or after reporting an error.
  std::optional<ops::Problem> make_layer_problem(const ops::DistinctLayer& layer,
                                                 ops::Direction direction,
                                                 const CaseCombination& combination) const {
    const ops::Problem& problem = layer.problem;
    const bool is_gradient = direction != problem.direction;
    const auto known = std::ranges::find(problem.op->directions, direction);
    if (is_gradient && known == problem.op->directions.end()) return std::nullopt;
    auto made = ops::make_problem(
        {.op = problem.op,
         .direction = direction,
         .dtype = problem.dtype,
         .layout = static_cast<ops::Layout>(combination.axis(Axis::layout).value),
         .math = static_cast<ops::Math>(combination.axis(Axis::math).value),
         .parameters = problem.parameters,
         .post_ops = is_gradient ? std::vector<ops::PostOp>{} : problem.post_ops});
    if (made.ok()) return *std::move(made);
    // An operator may support a direction only for some of its functions.
    if (is_gradient && made.error().where == "direction") return std::nullopt;
    findings_.add(
        entry_.network_spot,
        fmt::format("layer {} of {}: {}", layer.layers.front(), entry_.network, made.error().what),
        made.error().next);
    return std::nullopt;
  }

  void add_layer(const BoundNetwork& bound, const ops::DistinctLayer& layer,
                 const CaseCombination& combination) {
    std::vector<LayerCase> gradients;
    std::vector<ops::Direction> unmeasured;
    if (bound.planned->mode == ops::Mode::training) {
      for (const auto direction :
           {ops::Direction::backward_data, ops::Direction::backward_weights}) {
        std::vector<std::string> layers = gradient_layers(layer, direction);
        if (layers.empty()) continue;
        if (auto made = make_layer_problem(layer, direction, combination)) {
          gradients.push_back({*std::move(made), std::move(layers)});
        } else {
          unmeasured.push_back(direction);
        }
      }
    }
    auto forward = make_layer_problem(layer, layer.problem.direction, combination);
    if (!forward) return;
    add_case(bound, {*std::move(forward), layer.layers}, std::move(unmeasured), combination);
    for (LayerCase& gradient : gradients) add_case(bound, std::move(gradient), {}, combination);
  }

  void add_case(const BoundNetwork& bound, LayerCase layer,
                std::vector<ops::Direction> unmeasured_gradients,
                const CaseCombination& combination) {
    const Membership membership{bound.segment, std::move(layer.layers),
                                std::move(unmeasured_gradients)};
    layer.problem.formulas.clear();  // `bench explain` creates them again
    const std::string tokens = ops::problem_tokens(layer.problem);
    for (const Site& site : sites_.of(combination, layer.problem.op->name)) {
      Case result = make_case(entry_, findings_, site);
      set_problem(result, layer.problem, tokens);
      result.memberships.push_back(membership);
      if (layer.problem.direction == ops::Direction::forward) result.layer_of = bound.planned;
      if (site.cache == CacheMode::cold_weights) {
        result.reuse_distance = bound.network->weights_size();
      }
      plan_.add(std::move(result), entry_.spot, {});
    }
  }

  // A network is measured hot, or cold on request. cold_weights applies to its layers, since a
  // whole network streams its weights anyway.
  void add_whole(const BoundNetwork& bound, const CaseCombination& combination) {
    for (const Site& site : sites_.of(combination, "network")) {
      Case result = make_case(entry_, findings_, site);
      if (site.cache == CacheMode::cold_weights) {
        if (entry_.origin == CaseTemplate::Origin::id) return refuse_cold_weights(combination);
        result.key.cache = CacheMode::hot;
      }
      result.key.op = "network";
      result.key.parameters = bound.segment;
      result.key.dtype = bound.network->dtype;
      result.key.layout = static_cast<ops::Layout>(combination.axis(Axis::layout).value);
      result.key.math = static_cast<ops::Math>(combination.axis(Axis::math).value);
      result.work = bound.network;
      result.network = bound.planned;
      plan_.add(std::move(result), entry_.spot, bound.content);
    }
  }

  // An id's network has no layers to which the cache mode could apply.
  void refuse_cold_weights(const CaseCombination& combination) {
    findings_.add(combination.axis(Axis::cache).spot,
                  "cache mode `cold_weights` is for layers, not for a whole network",
                  "use hot or cold: a network streams its weights anyway");
  }

  const CaseTemplate& entry_;
  const NetworkFile& file_;
  NetworkStore& networks_;
  Findings& findings_;
  PlanBuilder& plan_;
  Sites sites_;
};

// Returns the dimensions before the place axes: sweeps as written, then the axes.
std::vector<Dimension> outer_dimensions(const CaseTemplate& entry, std::span<const Axis> axes) {
  std::vector<Dimension> dimensions = entry.dimensions;
  for (Dimension& axis : axis_dimensions(entry, axes)) dimensions.push_back(std::move(axis));
  return dimensions;
}

std::span<const Axis> computed_axes(const CaseTemplate& entry) {
  if (entry.op != nullptr) return kOperatorAxes;
  return kNetworkAxes;
}

// Returns the maximum number of directions in which an entry measures a layer.
std::int64_t layer_directions(const CaseTemplate& entry) {
  const auto trains = [](const AxisValue& value) {
    return static_cast<ops::Mode>(value.value) == ops::Mode::training;
  };
  bool training = std::ranges::any_of(entry.settings.axis(Axis::mode), trains);
  for (const Dimension& dimension : entry.dimensions) {
    for (const Choice& choice : dimension) {
      training |= std::ranges::any_of(choice, [&](const Assignment& made) {
        return made.axis == Axis::mode && trains(made.axis_value);
      });
    }
  }
  return training ? std::ssize(ops::direction_names()) : 1;
}

}  // namespace

Checked count_cases(const CaseTemplate& entry, std::int64_t layers) {
  Checked count = 1;
  for (const Dimension& d : outer_dimensions(entry, computed_axes(entry))) count *= std::ssize(d);
  for (const Dimension& d : axis_dimensions(entry, kPlaceAxes)) count *= std::ssize(d);
  if (entry.op != nullptr) return count;
  switch (entry.settings.parts) {
    case NetworkParts::network:
      return count;
    case NetworkParts::layers:
      return count * layers * layer_directions(entry);
    case NetworkParts::layers_and_network:
      return count * (Checked(layers) * layer_directions(entry) + 1);
  }
  return count;
}

void expand_operator(const CaseTemplate& entry, const ops::OperatorRegistry& registry,
                     Findings& findings, PlanBuilder& plan) {
  CaseCombination combination = first_combination(entry);
  Sites sites(entry, registry, findings);
  const std::size_t limit = findings.count() + kMaxFindingsOfEntry;
  combine(outer_dimensions(entry, kOperatorAxes), combination, [&](const CaseCombination& leaf) {
    auto problem = ops::make_problem(make_problem_request(entry, leaf));
    if (!problem.ok()) {
      const Error& error = problem.error();
      findings.add(find_spot(entry, leaf, error.where), error.what, error.next);
      return findings.count() < limit;
    }
    problem->formulas.clear();
    const std::string tokens = ops::problem_tokens(*problem);
    for (const Site& site : sites.of(leaf, entry.op->name)) {
      Case result = make_case(entry, findings, site);
      set_problem(result, *problem, tokens);
      plan.add(std::move(result), entry.spot, {});
    }
    return true;
  });
  sites.report_unmatched();
}

void expand_network(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                    const ops::OperatorRegistry& registry, Findings& findings, PlanBuilder& plan) {
  CaseCombination combination = first_combination(entry);
  NetworkExpansion expansion(entry, file, networks, registry, findings, plan);
  const std::size_t limit = findings.count() + kMaxFindingsOfEntry;
  combine(outer_dimensions(entry, kNetworkAxes), combination, [&](const CaseCombination& leaf) {
    expansion.add(leaf);
    return findings.count() < limit;
  });
  expansion.finish();
}

}  // namespace bench
