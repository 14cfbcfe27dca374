// SPDX-License-Identifier: Apache-2.0
#include "harness/result/summary.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/result/energy.hpp"
#include "harness/result/latency.hpp"
#include "harness/result/record.hpp"
#include "harness/stats/equal_speed.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

namespace bench {

Nanoseconds saturated_product(Nanoseconds time, std::size_t count) {
  const auto product = (Checked(time.count()) * Checked(static_cast<std::int64_t>(count))).value();
  return Nanoseconds(product.value_or(std::numeric_limits<std::int64_t>::max()));
}
Nanoseconds saturated_sum(Nanoseconds a, Nanoseconds b) {
  const auto sum = (Checked(a.count()) + b.count()).value();
  return Nanoseconds(sum.value_or(std::numeric_limits<std::int64_t>::max()));
}

std::optional<double> interval_half_width(const TimeSummary& time) {
  if (!time.low || !time.high || time.median.count() <= 0) return std::nullopt;
  const double half =
      (static_cast<double>(time.high->count()) - static_cast<double>(time.low->count())) / 2;
  return half / static_cast<double>(time.median.count());
}

IntervalBasis find_interval_basis(std::span<const ProcessRecord* const> processes) {
  IntervalBasis basis;
  basis.measured =
      std::ranges::count_if(processes, [](const auto* each) { return !each->samples.empty(); });
  const auto by_speed = times_by_speed(processes);
  basis.usable = by_speed ? by_speed->processes : basis.measured;
  return basis;
}

std::vector<IntervalBasis> find_interval_bases(const Report& report,
                                               std::span<const CaseRecord* const> cases) {
  std::unordered_map<std::string_view, std::vector<const ProcessRecord*>> processes;
  for (const CaseRecord* record : cases) processes.try_emplace(record->id);
  for (const ProcessRecord& process : report.processes) {
    const auto found = processes.find(process.id);
    if (found != processes.end()) found->second.push_back(&process);
  }
  std::vector<IntervalBasis> bases;
  for (const CaseRecord* record : cases)
    bases.push_back(find_interval_basis(processes.at(record->id)));
  return bases;
}

std::string explain_missing_interval(const IntervalBasis& basis) {
  if (basis.measured == 0) return "the record has no interval, and no processes that give one";
  if (basis.measured >= kMinIntervalProcesses && basis.usable >= kMinIntervalProcesses)
    return "the record has no interval, although its processes give one";
  const std::string measured =
      basis.measured == 1 ? "1 process" : fmt::format("{} processes", basis.measured);
  if (basis.measured < kMinIntervalProcesses) {
    return fmt::format(
        "{} measured it and an interval needs {}; `bench run --set measure.processes={}` gives it "
        "one",
        measured, kMinIntervalProcesses, kMinIntervalProcesses);
  }
  return fmt::format(
      "of the {} that measured it only {} {} samples at a known speed of the machine, and an "
      "interval needs {}; measure it again",
      measured, basis.usable, basis.usable == 1 ? "has" : "have", kMinIntervalProcesses);
}

std::vector<Flag> doubtful_flags(std::span<const Flag> flags) {
  constexpr std::array kDoubts = {Flag::unsteady,       Flag::disturbed, Flag::interrupted,
                                  Flag::voided_samples, Flag::throttled, Flag::above_ceiling};
  std::vector<Flag> doubts;
  std::ranges::copy_if(flags, std::back_inserter(doubts), [&](Flag flag) {
    return std::ranges::find(kDoubts, flag) != kDoubts.end();
  });
  return doubts;
}

bool has_certain_interval(const CaseRecord& record) {
  return record.time && record.time->low && record.time->high &&
         doubtful_flags(record.flags).empty();
}

namespace {

using Processes = std::span<const ProcessRecord* const>;

// Returns the quantile of each process, per iteration.
std::vector<Nanoseconds> process_quantiles(std::span<const CountedSamples> processes,
                                           double probability) {
  std::vector<Nanoseconds> quantiles;
  for (const CountedSamples& entry : processes) {
    const auto sample = quantile(entry.samples, probability);
    if (sample) quantiles.push_back(per_iteration(*sample, entry.process->iterations_per_sample));
  }
  return quantiles;
}

std::vector<Nanoseconds> pooled_iterations(std::span<const CountedSamples> processes) {
  std::vector<Nanoseconds> pooled;
  for (const CountedSamples& entry : processes) {
    for (Nanoseconds sample : entry.samples)
      pooled.push_back(per_iteration(sample, entry.process->iterations_per_sample));
  }
  return pooled;
}

std::optional<Nanoseconds> median_time(Processes processes,
                                       std::optional<Nanoseconds> PreparationTimes::*member) {
  std::vector<Nanoseconds> values;
  for (const ProcessRecord* process : processes) {
    if (const auto& time = process->preparation.*member) values.push_back(*time);
  }
  return median(values);
}

// Records the kernel that ran. If processes ran different kernels, they are not repetitions, so a
// detail lists the other kernels.
void fill_implementation(CaseRecord& record, Processes processes) {
  std::vector<std::string> names;
  for (const ProcessRecord* process : processes) {
    const bool is_listed =
        std::find(names.begin(), names.end(), process->implementation) != names.end();
    if (!process->implementation.empty() && !is_listed) names.push_back(process->implementation);
  }
  if (names.empty()) return;
  if (!record.implementation) record.implementation = names.front();
  std::string others;
  for (const std::string& name : names) {
    if (name != *record.implementation) others += (others.empty() ? "" : ", ") + name;
  }
  if (!others.empty()) record.details["implementation.others"] = others;
}

// Summarises samples that were corrected to a level of speed.
std::optional<TimeSummary> summarise(const SamplesAtLevel& samples, const SpeedLevel& level) {
  std::optional<TimeSummary> time = summarise(samples.counted);
  if (!time) return std::nullopt;
  const bool has_interval = samples.by_speed.processes >= kMinIntervalProcesses;
  const double half = samples.time.half_width();
  time->at = level;
  time->median = time_from_log<Nanoseconds>(samples.time.value);
  // The median of the rounded samples may differ from it by rounding.
  time->q25 = std::min(time->q25, time->median);
  time->q75 = std::max(time->q75, time->median);
  time->min = std::min(time->min, time->q25);
  time->max = std::max(time->max, time->q75);
  time->p90 = std::clamp(*time->p90, time->q75, time->max);
  time->p99 = std::clamp(*time->p99, *time->p90, time->max);
  time->low = time->high = std::nullopt;
  time->confidence.reset();
  if (!has_interval) return time;
  time->low = time_from_log<Nanoseconds>(samples.time.value - half);
  time->high = time_from_log<Nanoseconds>(samples.time.value + half);
  time->confidence = kEqualSpeedCoverage;
  return time;
}

// Sets `time` and, if it does not cover all samples as they are, `time_all`. Without canaries, the
// time is that of all samples.
void fill_times(CaseRecord& record, Processes processes, std::optional<SpeedLevel> level) {
  record.time_all.reset();
  if (!level) {
    if (const auto own = choose_level(processes)) level = SpeedLevel{*own, LevelSource::run};
  }
  std::optional<TimeSummary> all = summarise(all_samples(processes));
  const auto samples = level ? samples_at(processes, level->canary) : std::nullopt;
  if (!samples) {
    record.time = all;
    return;
  }
  record.time = summarise(*samples, *level);
  record.time_all = all;
  if (!samples->is_level_seen) set_flag(record, Flag::disturbed);
}

bool is_noisy(const TimeSummary& time, double precision) {
  const auto half = interval_half_width(time);
  return half && *half > precision;
}

// Properties that the layers of one summary share. `backend` is empty if several backends share the
// network.
struct LayerGroup {
  std::string network, dtype, backend, device, cache, options;
  auto operator<=>(const LayerGroup&) const = default;
};

struct NetworkCase {
  const CaseRecord* record;
  IdSegments id;
};

// The cases of whole networks.
class NetworkCases {
 public:
  explicit NetworkCases(const Report& report) {
    for (const CaseRecord& record : report.cases) {
      IdSegments id = split_id(record.id);
      if (id.op == "network") cases_.push_back({&record, std::move(id)});
    }
    for (std::size_t i = 0; i < cases_.size(); ++i) add_names(i);
  }

  std::span<const NetworkCase> all() const { return cases_; }
  // Returns the indices, in the order of the report, of the cases whose parameter segment is this
  // name, optionally with a batch or flags ("resnet50_v1_5-n8+separate").
  std::span<const std::size_t> named(const std::string& network) const {
    const auto found = by_name_.find(network);
    if (found == by_name_.end()) return {};
    return found->second;
  }

 private:
  // A name may contain `-` and `+`, so each of them may begin the batch and flags.
  void add_names(std::size_t index) {
    const std::string& parameters = cases_[index].id.parameters;
    for (std::size_t end = 0; end <= parameters.size(); ++end) {
      if (end == parameters.size() || parameters[end] == '-' || parameters[end] == '+')
        by_name_[parameters.substr(0, end)].push_back(index);
    }
  }

  std::vector<NetworkCase> cases_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

// Returns the case of the whole network to which a group of layers belongs. Prefers an exact name
// to one with batch or flags. Then prefers hot caches (a network streams its own weights anyway),
// then the layers' own cache mode. Returns nullptr if there is no candidate, or if no candidate has
// the exact name and the candidates differ in batch or flags.
const CaseRecord* find_network(const NetworkCases& networks, const LayerGroup& group) {
  const CaseRecord* best = nullptr;
  std::tuple<bool, bool, bool> best_rank;
  std::string best_parameters;
  bool is_ambiguous = false;
  for (const std::size_t index : networks.named(group.network)) {
    const auto& [record, id] = networks.all()[index];
    const bool has_backend = group.backend.empty() || id.backend == group.backend;
    if (id.dtype != group.dtype || !has_backend || id.device != group.device ||
        id.options != group.options)
      continue;
    const bool is_exact = id.parameters == group.network;
    const std::tuple rank(is_exact, id.cache == "hot", id.cache == group.cache);
    if (best != nullptr && !is_exact && !std::get<0>(best_rank) && id.parameters != best_parameters)
      is_ambiguous = true;
    if (best != nullptr && rank <= best_rank) continue;
    best = record;
    best_rank = rank;
    best_parameters = id.parameters;
    if (is_exact) is_ambiguous = false;
  }
  return is_ambiguous ? nullptr : best;
}

// A case of a group, which represents one or more layers of the network.
struct Member {
  const CaseRecord* record;
  std::vector<std::string> layers;
  std::size_t count;  // how many times the network runs it
};

// The groups of layers, in the order of the report.
class LayerGroups {
 public:
  // Joins groups that differ only in the backend, if exactly one of them measured each layer. For
  // example, one backend may measure a network's matrix products, and another one its other layers.
  void join_backends() {
    std::map<LayerGroup, std::vector<std::size_t>> similar;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      LayerGroup key = groups_[i].first;
      key.backend.clear();
      similar[std::move(key)].push_back(i);
    }
    std::set<std::size_t> joined;
    for (const auto& [key, indices] : similar) {
      if (indices.size() < 2 || !are_layers_distinct(indices)) continue;
      auto& [group, members] = groups_[indices.front()];
      group = key;
      for (const std::size_t index : std::span(indices).subspan(1)) {
        for (Member& member : groups_[index].second) members.push_back(std::move(member));
        joined.insert(index);
      }
    }
    std::vector<std::pair<LayerGroup, std::vector<Member>>> remaining;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (!joined.contains(i)) remaining.push_back(std::move(groups_[i]));
    }
    groups_ = std::move(remaining);
  }

  void add(const LayerGroup& group, Member member) {
    const auto [entry, is_new] = index_.try_emplace(group, groups_.size());
    if (is_new) groups_.emplace_back(group, std::vector<Member>());
    groups_[entry->second].second.push_back(std::move(member));
  }
  auto begin() const { return groups_.begin(); }
  auto end() const { return groups_.end(); }

 private:
  // Returns whether all members of these groups have layers, and no layer occurs twice in one
  // direction. A training step has each layer in several directions.
  bool are_layers_distinct(const std::vector<std::size_t>& indices) const {
    std::set<std::string> names;
    for (const std::size_t index : indices) {
      for (const Member& member : groups_[index].second) {
        if (member.layers.empty()) return false;
        for (const std::string& layer : member.layers) {
          const auto& [op, direction] = std::tie(member.record->op, member.record->direction);
          if (!names.insert(fmt::format("{}/{}/{}", op, direction, layer)).second) return false;
        }
      }
    }
    return true;
  }

  std::vector<std::pair<LayerGroup, std::vector<Member>>> groups_;
  std::map<LayerGroup, std::size_t> index_;
};

// Groups layers by network and cache mode.
LayerGroups group_layers(const Report& report) {
  LayerGroups groups;
  for (const CaseRecord& record : report.cases) {
    const IdSegments id = split_id(record.id);
    if (id.op == "network") continue;
    const auto make_group = [&](const std::string& network) {
      return LayerGroup{network, id.dtype, id.backend, id.device, id.cache, id.options};
    };
    for (const NetworkLayers& entry : record.networks)
      groups.add(make_group(entry.network),
                 {&record, entry.layers, std::max<std::size_t>(1, entry.layers.size())});
    if (!record.networks.empty() || !record.network) continue;
    const auto count = record.multiplicity ? static_cast<std::size_t>(*record.multiplicity)
                                           : std::max<std::size_t>(1, record.layers.size());
    groups.add(make_group(*record.network), {&record, record.layers, count});
  }
  groups.join_backends();
  return groups;
}

void fill_network(NetworkSummary& summary, const CaseRecord& network) {
  summary.network_id = network.id;
  if (network.time) summary.network_time = network.time->median;
  summary.preparation = network.preparation;
  const auto first = network.details.find(std::string(kFirstCreation));
  if (first == network.details.end()) return;
  if (const auto time = parse_number<std::int64_t>(first->second))
    summary.first_creation = Nanoseconds(*time);
}

// Returns whether the parameters of a network's id have the flag `+training`, as in
// "mobilenet_v2-n8+training".
bool is_training(std::string_view parameters) {
  constexpr std::string_view kFlag = "+training";
  const std::size_t found = parameters.find(kFlag);
  if (found == std::string_view::npos) return false;
  const std::string_view suffix = parameters.substr(found + kFlag.size());
  return suffix.empty() || suffix.front() == '+';
}

// Returns what a training step does besides the measured layers. The sum of the layers is therefore
// a lower bound of its time.
std::vector<std::string> list_missing_parts(const std::vector<Member>& members) {
  constexpr std::size_t kMaxNames = 3;
  std::map<std::string, std::vector<std::string>> layers;  // layers without gradients, by operator
  for (const Member& member : members) {
    if (member.record->unmeasured_gradients.empty()) continue;
    auto& names = layers[member.record->op];
    names.insert(names.end(), member.layers.begin(), member.layers.end());
  }
  std::vector<std::string> lacks;
  for (const auto& [op, names] : layers) {
    lacks.push_back(names.size() > kMaxNames
                        ? fmt::format("gradients of {} ({} layers)", op, names.size())
                        : fmt::format("gradients of {} ({})", op, fmt::join(names, ", ")));
  }
  // Runs of earlier versions did not measure them.
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"loss", "the loss"}, {"optimizer", "the optimizer"}};
  for (const auto& [op, text] : kEnds) {
    const bool is_measured = std::ranges::any_of(
        members, [&name = op](const Member& member) { return member.record->op == name; });
    if (!is_measured) lacks.emplace_back(text);
  }
  return lacks;
}

void fill_layers(NetworkSummary& summary, const std::vector<Member>& members) {
  for (const Member& member : members) {
    ++summary.layers_total;
    if (!member.record->time) {
      summary.missing.push_back(member.record->id);
      continue;
    }
    ++summary.layers_measured;
    const Nanoseconds time = saturated_product(member.record->time->median, member.count);
    summary.layers_time = saturated_sum(summary.layers_time, time);
    NetworkSummary::Entry entry{member.record->id, member.layers, member.count, time};
    if (const auto& roofline = member.record->roofline) {
      entry.ideal = roofline->ideal;
      entry.efficiency = roofline->efficiency;
    }
    entry.direction = member.record->direction;
    summary.top.push_back(std::move(entry));
  }
  for (NetworkSummary::Entry& entry : summary.top) {
    if (summary.layers_time.count() == 0) break;
    entry.share =
        static_cast<double>(entry.time.count()) / static_cast<double>(summary.layers_time.count());
  }
  std::stable_sort(summary.top.begin(), summary.top.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
}

std::optional<double> compute_covered_work(const CaseRecord& network,
                                           const std::vector<Member>& members) {
  if (!network.work) return std::nullopt;
  // Products do not depend on what is fused, so those of the layers are those of the network.
  const bool has_products = network.work->macs.value_or(0) > 0;
  const auto count = [&](const ops::Work& work) {
    return static_cast<double>(has_products ? work.macs.value_or(0) : work.flops);
  };
  double covered = 0;
  for (const Member& member : members) {
    if (!member.record->work) return std::nullopt;
    if (member.record->time)
      covered += count(*member.record->work) * static_cast<double>(member.count);
  }
  const double total = count(*network.work);
  return total > 0 ? std::optional(covered / total) : std::nullopt;
}

// Sets the mean and the standard deviation. `times` is not empty.
void set_mean(std::span<const Nanoseconds> times, TimeSummary& summary) {
  const auto count = static_cast<double>(times.size());
  double sum = 0;
  for (const Nanoseconds time : times) sum += static_cast<double>(time.count());
  const double mean = sum / count;
  double squares = 0;
  for (const Nanoseconds time : times) {
    const double difference = static_cast<double>(time.count()) - mean;
    squares += difference * difference;
  }
  const auto rounded = [](double nanoseconds) {
    return std::chrono::round<Nanoseconds>(std::chrono::duration<double, std::nano>(nanoseconds));
  };
  summary.mean = std::clamp(rounded(mean), summary.min, summary.max);
  if (times.size() > 1) summary.deviation = rounded(std::sqrt(squares / (count - 1)));
}

// Returns the unexplained fraction. Returns nullopt if the sum of the layers is incomplete.
std::optional<double> compute_unexplained(const NetworkSummary& summary) {
  if (!summary.network_time || summary.network_time->count() == 0 || summary.top.empty() ||
      !has_all_layers(summary) || !summary.lacks.empty())
    return std::nullopt;
  const auto network = static_cast<double>(summary.network_time->count());
  return (network - static_cast<double>(summary.layers_time.count())) / network;
}

}  // namespace

std::optional<TimeSummary> summarise(std::span<const CountedSamples> processes) {
  const std::vector<Nanoseconds> medians = process_quantiles(processes, 0.5);
  const auto centre = median(medians);
  if (!centre) return std::nullopt;
  const std::vector<Nanoseconds> pooled = pooled_iterations(processes);
  TimeSummary time;
  time.median = *centre;
  time.q25 = *median(process_quantiles(processes, 0.25));
  time.q75 = *median(process_quantiles(processes, 0.75));
  time.min = *std::min_element(pooled.begin(), pooled.end());
  time.max = *std::max_element(pooled.begin(), pooled.end());
  time.p90 = quantile(pooled, 0.90);
  time.p99 = quantile(pooled, 0.99);
  set_mean(pooled, time);
  if (const auto interval = median_interval(medians, kMinIntervalCoverage)) {
    time.low = interval->low;
    time.high = interval->high;
    time.confidence = interval->confidence;
  }
  return time;
}

// A cache that outlives a process, such as that of a GPU's driver, makes later creations shorter
// than the first. A median over all would describe neither.
void separate_first_creation(CaseRecord& record, Processes processes) {
  constexpr int kMuchLonger = 2;
  const std::string name(kFirstCreation);
  record.details.erase(name);
  if (processes.size() < 2) return;
  const auto first = processes.front()->preparation.create;
  const auto later = median_time(processes.subspan(1), &PreparationTimes::create);
  if (!first || !later || *first < kMuchLonger * *later) return;
  record.preparation.create = *later;
  record.details[name] = fmt::to_string(first->count());
}

void complete_case(CaseRecord& record, Processes processes, double precision,
                   std::optional<SpeedLevel> level) {
  fill_times(record, processes, level);
  for (const PreparationTime& row : kPreparationTimes)
    record.preparation.*row.time = median_time(processes, row.time);
  separate_first_creation(record, processes);
  fill_implementation(record, processes);
  fill_device_part(record, processes);
  fill_energy(record, processes);
  record.flops_per_s.reset();
  record.bytes_per_s.reset();
  record.latency = summarise_latencies(processes);
  record.items_per_s = item_rate(record);
  if (!record.time) return;
  if (record.work) {
    record.flops_per_s = record.work->total() / record.time->median;
    record.bytes_per_s = record.work->traffic() / record.time->median;
  }
  if (is_noisy(*record.time, precision)) set_flag(record, Flag::noisy);
  const bool is_steady = std::all_of(processes.begin(), processes.end(),
                                     [](const ProcessRecord* process) { return process->steady; });
  if (!is_steady) set_flag(record, Flag::unsteady);
  flag_device_part(record, processes);
}

bool has_all_layers(const NetworkSummary& network) {
  // FLOPs of fused layers differ a little from those of the network (moe_block: 0.11 %).
  constexpr double kAll = 0.998;
  return network.missing.empty() && network.covered_work.value_or(1) >= kAll;
}

std::vector<NetworkSummary> summarise_networks(const Report& report) {
  std::vector<NetworkSummary> summaries;
  const NetworkCases networks(report);
  std::set<const CaseRecord*> with_layers;
  for (const auto& [group, members] : group_layers(report)) {
    NetworkSummary summary;
    summary.network = group.network;
    summary.cache = group.cache;
    if (const CaseRecord* network = find_network(networks, group)) {
      fill_network(summary, *network);
      summary.covered_work = compute_covered_work(*network, members);
      with_layers.insert(network);
    }
    fill_layers(summary, members);
    if (is_training(group.network)) summary.lacks = list_missing_parts(members);
    summary.rest = compute_unexplained(summary);
    summaries.push_back(std::move(summary));
  }
  // Networks without separately measured layers still have their time and preparation times.
  for (const auto& [record, id] : networks.all()) {
    if (with_layers.contains(record)) continue;
    NetworkSummary& summary = summaries.emplace_back();
    summary.network = id.parameters;
    fill_network(summary, *record);
  }
  return summaries;
}

}  // namespace bench
