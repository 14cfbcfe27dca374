// SPDX-License-Identifier: Apache-2.0
#include "harness/config/expand.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

namespace {

// Adds the layers of `new_membership` to the membership of the same network, or adds a new
// membership.
void merge_membership(std::vector<Membership>& memberships, const Membership& new_membership) {
  const auto same = std::find_if(memberships.begin(), memberships.end(), [&](const Membership& m) {
    return m.network == new_membership.network;
  });
  if (same == memberships.end()) {
    memberships.push_back(new_membership);
    return;
  }
  for (const std::string& layer : new_membership.layers) {
    if (std::find(same->layers.begin(), same->layers.end(), layer) == same->layers.end()) {
      same->layers.push_back(layer);
    }
  }
  for (const ops::Direction direction : new_membership.unmeasured_gradients) {
    auto& gradients = same->unmeasured_gradients;
    if (std::find(gradients.begin(), gradients.end(), direction) == gradients.end()) {
      gradients.push_back(direction);
    }
  }
}

// Two entries that are the same case stand for the executions of both.
std::optional<int> add_counts(const std::optional<int>& first, const std::optional<int>& second) {
  if (!first || !second) return first ? first : second;
  return static_cast<int>(
      std::min<std::int64_t>(std::int64_t{*first} + *second, std::numeric_limits<int>::max()));
}

}  // namespace

void PlanBuilder::reserve(std::size_t cases) {
  cases_.reserve(cases);
  locations_.reserve(cases);
  index_.reserve(cases);
}

void PlanBuilder::add(Case new_case, FileLocation location, const std::string& content) {
  new_case.id = to_id(new_case.key);
  const std::size_t position = cases_.size();
  cases_.push_back(std::move(new_case));
  const auto [existing, inserted] = index_.insert(position);
  if (!inserted) {
    Case duplicate = std::move(cases_.back());
    cases_.pop_back();
    return merge(*existing, std::move(duplicate), location, content);
  }
  locations_.push_back(location);
  if (!content.empty()) contents_.emplace(position, content);
}

const std::string& PlanBuilder::find_content(std::size_t position) const {
  static const std::string kEmpty;
  const auto entry = contents_.find(position);
  return entry == contents_.end() ? kEmpty : entry->second;
}

void PlanBuilder::merge(std::size_t index, Case&& new_case, FileLocation location,
                        const std::string& content) {
  Case& existing = cases_[index];
  const auto report_conflict = [&](const std::string& difference) {
    diagnostics_.add(
        location,
        fmt::format("the case {} also occurs at {} with other settings: {}", existing.id,
                    diagnostics_.place(locations_[index]).text(), difference),
        "give both the same settings, or remove one");
  };
  if (find_content(index) != content) {
    return report_conflict(fmt::format("another network file named {}", existing.key.parameters));
  }
  if (!(existing.warmup == new_case.warmup && existing.measure == new_case.measure)) {
    for (const SettingRow& row : setting_rows()) {
      if (row.member.text == nullptr) continue;
      const std::string there = row.member.text(existing);
      const std::string here = row.member.text(new_case);
      if (there == here) continue;
      return report_conflict(fmt::format("{}{}{} is {} there, {} here", row.group,
                                         row.group.empty() ? "" : ".", row.info.name, there, here));
    }
    return report_conflict("times that differ by less than the shown precision");
  }
  for (const Membership& membership : new_case.memberships) {
    merge_membership(existing.memberships, membership);
  }
  // An entry may give the same case twice, and a file may be included twice.
  if (!(existing.place == new_case.place)) {
    existing.count = add_counts(existing.count, new_case.count);
  }
  // The largest network decides the distance. nullopt is less than every value.
  existing.reuse_distance = std::max(existing.reuse_distance, new_case.reuse_distance);
}

std::vector<Case> PlanBuilder::take() && {
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    Case& finished = cases_[i];
    std::string text = finished.id;
    if (finished.reuse_distance) text += fmt::format(" reuse {}", finished.reuse_distance->count);
    if (const std::string& content = find_content(i); !content.empty())
      text += " network " + content;
    text += format_for_case_hash(finished);
    finished.hash = content_hash(text);
  }
  return std::move(cases_);
}

namespace {

// Maximum number of errors in one entry. A sweep over invalid shapes could give one per case.
constexpr std::size_t kMaxDiagnosticsPerEntry = 200;

// The axes that decide what is computed. They vary more slowly than kExecutionAxes.
constexpr std::array<Axis, 4> kOperatorAxes = {Axis::direction, Axis::dtype, Axis::layout,
                                               Axis::math};
constexpr std::array<Axis, 6> kNetworkAxes = {Axis::batch, Axis::mode,   Axis::fuse,
                                              Axis::dtype, Axis::layout, Axis::math};
// The axes that decide where and how a case runs.
constexpr std::array<Axis, 5> kExecutionAxes = {Axis::device, Axis::backend, Axis::cache,
                                                Axis::threads, Axis::streams};

// One combination of the varying values.
struct CaseCombination {
  ops::ParameterSet parameters{{}};
  std::vector<FileLocation> parameter_locations;
  std::array<AxisValue, kAxisCount> axes;

  AxisValue& axis(Axis name) { return axes[static_cast<std::size_t>(name)]; }
  const AxisValue& axis(Axis name) const { return axes[static_cast<std::size_t>(name)]; }
  // Returns the value of an axis as an integer or as the enumerator that its words name.
  template <class Value>
  Value get(Axis name) const {
    return static_cast<Value>(axis(name).value);
  }
};

CaseCombination make_first_combination(const CaseTemplate& entry) {
  CaseCombination combination;
  combination.parameters = entry.parameters;
  combination.parameter_locations = entry.parameter_locations;
  for (std::size_t i = 0; i < kAxisCount; ++i) combination.axes[i] = entry.settings.axes[i].front();
  return combination;
}

// Returns whether an assignment of `sweep` or `zip` has a property.
template <class Property>
bool any_assignment(const CaseTemplate& entry, const Property& property) {
  return std::ranges::any_of(entry.dimensions, [&](const Dimension& dimension) {
    return std::ranges::any_of(
        dimension, [&](const Choice& choice) { return std::ranges::any_of(choice, property); });
  });
}

bool is_swept(const CaseTemplate& entry, Axis axis) {
  return any_assignment(entry,
                        [&](const Assignment& assignment) { return assignment.axis == axis; });
}

// Returns one dimension per axis, with the values of its list. Omits axes that `sweep` or `zip`
// assigns.
std::vector<Dimension> make_axis_dimensions(const CaseTemplate& entry, std::span<const Axis> axes) {
  std::vector<Dimension> dimensions;
  for (const Axis axis : axes) {
    if (is_swept(entry, axis)) continue;
    Dimension dimension;
    for (const AxisValue& value : entry.settings.axis(axis)) {
      dimension.push_back({Assignment{axis, 0, {}, value, value.location}});
    }
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

void apply(const Choice& choice, CaseCombination& combination) {
  for (const Assignment& assignment : choice) {
    if (assignment.axis) {
      combination.axis(*assignment.axis) = assignment.axis_value;
      continue;
    }
    const std::size_t index = assignment.parameter;
    combination.parameters.set(combination.parameters.table()[index].name, assignment.value);
    combination.parameter_locations[index] = assignment.location;
  }
}

// Calls `visit` for every combination; the last dimension varies fastest. Stops and returns false
// if `visit` returns false.
bool for_each_combination(std::span<const Dimension> dimensions, CaseCombination& combination,
                          const std::function<bool(const CaseCombination&)>& visit) {
  if (dimensions.empty()) return visit(combination);
  for (const Choice& choice : dimensions.front()) {
    apply(choice, combination);
    if (!for_each_combination(dimensions.subspan(1), combination, visit)) return false;
  }
  return true;
}

DataType to_data_type(const AxisValue& value) {
  const auto words = axis_row(Axis::dtype).words(ops::built_in_operators());
  return *data_type_from_name(words[static_cast<std::size_t>(value.value)]);
}

// Device, backend, cache mode, threads and streams of one case.
struct ExecutionTarget {
  std::string_view device;
  std::string_view backend;
  CacheMode cache;
  std::optional<int> threads;
  int streams;
};

// Lists the execution targets of an entry. Omits pairs of a device and a backend of another device.
// Reports values that occur in no valid pair, and more streams than threads.
class ExecutionTargets {
 public:
  ExecutionTargets(const CaseTemplate& entry, const ops::OperatorRegistry& registry,
                   Diagnostics& diagnostics)
      : entry_(entry),
        registry_(registry),
        diagnostics_(diagnostics),
        dimensions_(make_axis_dimensions(entry, kExecutionAxes)) {}

  std::vector<ExecutionTarget> list(const CaseCombination& combination, std::string_view op) {
    std::vector<ExecutionTarget> targets;
    CaseCombination varied;
    varied.axes = combination.axes;
    for_each_combination(dimensions_, varied, [&](const CaseCombination& leaf) {
      if (const auto target = make_target(leaf, op)) targets.push_back(*target);
      return true;
    });
    return targets;
  }

  // Reports the values without a valid pair. Call this after the last list().
  void report_unmatched() const {
    for (const auto& [name, value] : values_) {
      if (value.is_matched) continue;
      const FileLocation location = value.location.file < 0 ? entry_.location : value.location;
      diagnostics_.add(location, value.what, value.next);
    }
  }

 private:
  // A device or backend, and the error to report if it occurs in no valid pair.
  struct Value {
    FileLocation location;
    bool is_matched;
    std::string what, next;
  };

  // Returns nullopt if the backend does not run on the device, or if there are more streams than
  // threads.
  std::optional<ExecutionTarget> make_target(const CaseCombination& combination,
                                             std::string_view op) {
    const AxisValue& device_value = combination.axis(Axis::device);
    const AxisValue& backend_value = combination.axis(Axis::backend);
    const std::string_view device = device_names()[static_cast<std::size_t>(device_value.value)];
    std::string_view backend = registry_.default_backend(device, op);
    if (backend_value.value != kAutomatic) {
      const ops::BackendRow& row =
          registry_.backends()[static_cast<std::size_t>(backend_value.value)];
      const bool is_match = row.device == device;
      record_match(
          row.name, backend_value.location, is_match,
          fmt::format("backend `{}` runs on device {}, which is not among this case's devices",
                      row.name, row.device),
          fmt::format("write `device: {}`", row.device));
      record_match(device, device_value.location, is_match,
                   fmt::format("no backend of this case runs on device `{}`", device),
                   fmt::format("write `backend: {}`", registry_.default_backend(device, op)));
      if (!is_match) return std::nullopt;
      backend = row.name;
    }
    const auto threads = combination.get<int>(Axis::threads);
    const AxisValue& streams_value = combination.axis(Axis::streams);
    const auto streams = static_cast<int>(streams_value.value);
    // How many threads `all` are is known only where the case runs.
    const Status fits = threads == 0 ? Status(Done{}) : check_streams(streams, threads);
    if (!fits && too_few_threads_.insert({threads, streams}).second) {
      const FileLocation location =
          streams_value.location.file < 0 ? entry_.location : streams_value.location;
      diagnostics_.add(location, fits.error().what, fits.error().next);
    }
    if (!fits) return std::nullopt;
    return ExecutionTarget{device, backend, combination.get<CacheMode>(Axis::cache),
                           threads == 0 ? std::nullopt : std::optional<int>(threads), streams};
  }

  void record_match(std::string_view name, FileLocation location, bool is_match, std::string what,
                    std::string next) {
    const auto [entry, inserted] =
        values_.try_emplace(name, Value{location, is_match, std::move(what), std::move(next)});
    entry->second.is_matched |= is_match;
  }

  const CaseTemplate& entry_;
  const ops::OperatorRegistry& registry_;
  Diagnostics& diagnostics_;
  std::vector<Dimension> dimensions_;
  std::map<std::string_view, Value> values_;       // by name of the device or backend
  std::set<std::pair<int, int>> too_few_threads_;  // reported pairs of threads and streams
};

// Creates a case with the properties that all cases of one entry share.
Case make_case(const CaseTemplate& entry, const Diagnostics& diagnostics,
               const ExecutionTarget& target) {
  Case result;
  result.warmup = entry.settings.warmup;
  result.measure = entry.settings.measure;
  result.count = entry.count;
  result.place = diagnostics.place(entry.location);
  result.place.column = 0;  // reports show only the line
  result.key.device = target.device;
  result.key.backend = target.backend;
  result.key.cache = target.cache;
  result.key.threads = target.threads;
  result.key.streams = target.streams;
  return result;
}

// Copies a problem and its key fields into a case. The copy saves memory in the plan, since it has
// no spare capacity. The caller has cleared the formulas; only `explain` shows them, and creates
// them again.
void set_problem(Case& result, const ops::Problem& problem, const std::string& tokens) {
  result.key.op = problem.op->name;
  result.key.direction = problem.direction;
  result.key.parameters = tokens;
  result.key.dtype = problem.dtype;
  result.key.layout = problem.layout;
  result.key.math = problem.math;
  result.work = problem;
}

// Returns the location of the item that an error of make_problem() names: a parameter, an axis, or
// post_ops. Returns the location of the entry if the item is not written.
FileLocation find_error_location(const CaseTemplate& entry, const CaseCombination& combination,
                                 std::string_view where) {
  FileLocation location;
  const auto table = entry.op->parameters;
  const ops::Parameter* parameter = ops::find_parameter(table, where);
  if (parameter != nullptr) {
    location = combination.parameter_locations[static_cast<std::size_t>(parameter - table.data())];
  } else if (const AxisRow* axis = find_axis(where)) {
    location = combination.axis(axis->axis).location;
  } else if (where == "post_ops") {
    location = entry.post_ops_location;
  }
  return location.file < 0 ? entry.location : location;
}

ops::ProblemRequest make_problem_request(const CaseTemplate& entry,
                                         const CaseCombination& combination) {
  return {.op = entry.op,
          .direction = combination.get<ops::Direction>(Axis::direction),
          .dtype = to_data_type(combination.axis(Axis::dtype)),
          .layout = combination.get<ops::Layout>(Axis::layout),
          .math = combination.get<ops::Math>(Axis::math),
          .parameters = combination.parameters,
          .post_ops = entry.post_ops};
}

// Expands one network entry.
class NetworkExpansion {
 public:
  NetworkExpansion(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                   const ops::OperatorRegistry& registry, Diagnostics& diagnostics,
                   PlanBuilder& plan)
      : entry_(entry),
        file_(file),
        networks_(networks),
        diagnostics_(diagnostics),
        plan_(plan),
        targets_(entry, registry, diagnostics) {}

  void add(const CaseCombination& combination) {
    if (const Status status = check_network_math(combination.get<ops::Math>(Axis::math)); !status) {
      return diagnostics_.add(combination.axis(Axis::math).location, status.error().what,
                              status.error().next);
    }
    const BoundNetwork* bound =
        networks_.bind(file_, make_segment(combination),
                       to_data_type(combination.axis(Axis::dtype)), entry_.location);
    if (bound == nullptr) return;
    if (entry_.settings.parts != NetworkParts::network) {
      for (const ops::DistinctLayer& layer : bound->layers) add_layer(*bound, layer, combination);
    }
    if (entry_.settings.parts != NetworkParts::layers) add_network(*bound, combination);
  }

  void report_unmatched() const { targets_.report_unmatched(); }

 private:
  NetworkSegment make_segment(const CaseCombination& combination) const {
    NetworkSegment segment;
    segment.name = entry_.network;
    segment.batch = combination.axis(Axis::batch).value;
    segment.mode = combination.get<ops::Mode>(Axis::mode);
    const std::int64_t fuse = combination.axis(Axis::fuse).value;
    const bool is_fused = fuse == kAutomatic ? segment.mode == ops::Mode::inference : fuse != 0;
    segment.fusion = is_fused ? ops::Fusion::fused : ops::Fusion::separate;
    return segment;
  }

  // Returns nullopt after reporting an error.
  std::optional<ops::Problem> make_layer_problem(const ops::DistinctLayer& layer,
                                                 const CaseCombination& combination) const {
    auto result = ops::make_problem({.op = layer.problem.op,
                                     .direction = layer.problem.direction,
                                     .dtype = layer.problem.dtype,
                                     .layout = combination.get<ops::Layout>(Axis::layout),
                                     .math = combination.get<ops::Math>(Axis::math),
                                     .parameters = layer.problem.parameters,
                                     .post_ops = layer.problem.post_ops});
    if (result.ok()) return *std::move(result);
    diagnostics_.add(entry_.network_location,
                     fmt::format("layer {} of {}: {}", layer.layers.front(), entry_.network,
                                 result.error().what),
                     result.error().next);
    return std::nullopt;
  }

  void add_layer(const BoundNetwork& bound, const ops::DistinctLayer& layer,
                 const CaseCombination& combination) {
    auto problem = make_layer_problem(layer, combination);
    if (!problem) return;
    problem->formulas.clear();  // `bench explain` creates them again
    const Membership membership{bound.segment, layer.layers, layer.without_gradient};
    const std::string tokens = ops::problem_tokens(*problem);
    for (const ExecutionTarget& target : targets_.list(combination, problem->op->name)) {
      Case result = make_case(entry_, diagnostics_, target);
      set_problem(result, *problem, tokens);
      result.memberships.push_back(membership);
      if (layer.pass == ops::Pass::forward) result.layer_of = bound.planned;
      if (target.cache == CacheMode::cold_weights) {
        result.reuse_distance = bound.network->weights_size();
      }
      plan_.add(std::move(result), entry_.location, {});
    }
  }

  // Adds the cases of the whole network. With `cold_weights` the network is measured hot, since it
  // streams its weights anyway. The cache mode then applies only to its layers.
  void add_network(const BoundNetwork& bound, const CaseCombination& combination) {
    for (const ExecutionTarget& target : targets_.list(combination, "network")) {
      Case result = make_case(entry_, diagnostics_, target);
      if (target.cache == CacheMode::cold_weights) {
        if (entry_.origin == CaseTemplate::Origin::id) return report_cold_weights(combination);
        result.key.cache = CacheMode::hot;
      }
      result.key.op = "network";
      result.key.parameters = bound.segment;
      result.key.dtype = bound.network->dtype;
      result.key.layout = combination.get<ops::Layout>(Axis::layout);
      result.key.math = combination.get<ops::Math>(Axis::math);
      result.work = bound.network;
      result.network = bound.planned;
      plan_.add(std::move(result), entry_.location, bound.content);
    }
  }

  // Reports `cold_weights` of an id: without layers, no case could use the cache mode.
  void report_cold_weights(const CaseCombination& combination) {
    diagnostics_.add(combination.axis(Axis::cache).location,
                     "cache mode `cold_weights` is for layers, not for a whole network",
                     "use hot or cold: a network streams its weights anyway");
  }

  const CaseTemplate& entry_;
  const NetworkFile& file_;
  NetworkStore& networks_;
  Diagnostics& diagnostics_;
  PlanBuilder& plan_;
  ExecutionTargets targets_;
};

// Returns the dimensions of `sweep` and `zip`, then those of the axes.
std::vector<Dimension> make_outer_dimensions(const CaseTemplate& entry,
                                             std::span<const Axis> axes) {
  std::vector<Dimension> dimensions = entry.dimensions;
  for (Dimension& axis : make_axis_dimensions(entry, axes)) dimensions.push_back(std::move(axis));
  return dimensions;
}

// Returns the axes that decide what the cases of an entry compute.
std::span<const Axis> find_problem_axes(const CaseTemplate& entry) {
  if (entry.op != nullptr) return kOperatorAxes;
  return kNetworkAxes;
}

// Returns the maximum number of directions in which an entry measures a layer.
std::int64_t count_layer_directions(const CaseTemplate& entry) {
  const auto is_training = [](const AxisValue& value) {
    return static_cast<ops::Mode>(value.value) == ops::Mode::training;
  };
  const bool has_training =
      std::ranges::any_of(entry.settings.axis(Axis::mode), is_training) ||
      any_assignment(entry, [&](const Assignment& assignment) {
        return assignment.axis == Axis::mode && is_training(assignment.axis_value);
      });
  return has_training ? std::ssize(enumerator_names<ops::Direction>()) : 1;
}

}  // namespace

Checked count_cases(const CaseTemplate& entry, std::int64_t layers) {
  Checked count = 1;
  for (const Dimension& d : make_outer_dimensions(entry, find_problem_axes(entry)))
    count *= std::ssize(d);
  for (const Dimension& d : make_axis_dimensions(entry, kExecutionAxes)) count *= std::ssize(d);
  if (entry.op != nullptr) return count;
  switch (entry.settings.parts) {
    case NetworkParts::network:
      return count;
    case NetworkParts::layers:
      return count * layers * count_layer_directions(entry);
    case NetworkParts::layers_and_network:
      return count * (Checked(layers) * count_layer_directions(entry) + 1);
  }
  return count;
}

void expand_operator(const CaseTemplate& entry, const ops::OperatorRegistry& registry,
                     Diagnostics& diagnostics, PlanBuilder& plan) {
  CaseCombination combination = make_first_combination(entry);
  ExecutionTargets targets(entry, registry, diagnostics);
  const std::size_t limit = diagnostics.count() + kMaxDiagnosticsPerEntry;
  for_each_combination(
      make_outer_dimensions(entry, kOperatorAxes), combination, [&](const CaseCombination& leaf) {
        auto problem = ops::make_problem(make_problem_request(entry, leaf));
        if (!problem.ok()) {
          const Error& error = problem.error();
          diagnostics.add(find_error_location(entry, leaf, error.where), error.what, error.next);
          return diagnostics.count() < limit;
        }
        problem->formulas.clear();
        const std::string tokens = ops::problem_tokens(*problem);
        for (const ExecutionTarget& target : targets.list(leaf, entry.op->name)) {
          Case result = make_case(entry, diagnostics, target);
          set_problem(result, *problem, tokens);
          plan.add(std::move(result), entry.location, {});
        }
        return true;
      });
  targets.report_unmatched();
}

void expand_network(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                    const ops::OperatorRegistry& registry, Diagnostics& diagnostics,
                    PlanBuilder& plan) {
  CaseCombination combination = make_first_combination(entry);
  NetworkExpansion expansion(entry, file, networks, registry, diagnostics, plan);
  const std::size_t limit = diagnostics.count() + kMaxDiagnosticsPerEntry;
  for_each_combination(make_outer_dimensions(entry, kNetworkAxes), combination,
                       [&](const CaseCombination& leaf) {
                         expansion.add(leaf);
                         return diagnostics.count() < limit;
                       });
  expansion.report_unmatched();
}

}  // namespace bench
