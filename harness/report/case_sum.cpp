// SPDX-License-Identifier: Apache-2.0
#include "harness/report/case_sum.hpp"

#include "harness/result/summary.hpp"
#include "ops/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace bench {
namespace {

// Returns the id without its cache mode.
std::string remove_cache_mode(std::string_view id) {
  const IdSegments segments = split_id(id);
  return fmt::format("{}/{}/{}/{}/{}/{}/{}", segments.op, segments.direction, segments.parameters,
                     segments.dtype, segments.backend, segments.device, segments.options);
}

// The networks of which at least one layer has a time.
class NetworksWithLayers {
 public:
  explicit NetworksWithLayers(const Report& report) {
    for (const CaseRecord& record : report.cases) {
      if (record.network && record.time) names_.insert(*record.network);
    }
  }
  // Whether the case is one of these networks as a whole.
  bool contain(const CaseRecord& record) const {
    const IdSegments id = split_id(record.id);
    return id.op == "network" && std::ranges::any_of(names_, [&](const std::string& name) {
             return id.parameters == name || id.parameters.starts_with(name + "-") ||
                    id.parameters.starts_with(name + "+");
           });
  }

 private:
  std::set<std::string> names_;
};

bool has_ceiling(const CaseRecord& record) {
  return record.roofline && record.roofline->ideal.count() >= 0;
}

SummedCase make_summed_case(const CaseRecord& record) {
  SummedCase entry;
  entry.record = &record;
  entry.multiplicity = static_cast<std::size_t>(std::max(record.multiplicity.value_or(1), 1));
  entry.median = saturated_product(record.time->median, entry.multiplicity);
  if (has_ceiling(record))
    entry.ideal = saturated_product(record.roofline->ideal, entry.multiplicity);
  return entry;
}

}  // namespace

Nanoseconds SummedCase::recoverable() const {
  return ideal ? std::max(median - *ideal, Nanoseconds(0)) : Nanoseconds(0);
}

Nanoseconds CaseSum::median() const {
  Nanoseconds sum{0};
  for (const SummedCase& entry : cases) sum = saturated_sum(sum, entry.median);
  return sum;
}

std::string format_multiplicity(const SummedCase& entry) {
  if (entry.multiplicity <= 1) return "";
  return entry.record->network ? fmt::format("in {} layers", entry.multiplicity)
                               : fmt::format("executed {} times", entry.multiplicity);
}

CaseSum sum_cases(const Report& report, SumOf which) {
  const NetworksWithLayers networks(report);
  CaseSum sum;
  std::set<std::string> ids_without_mode;
  for (const CaseRecord& record : report.cases) {
    if (!record.time || (which == SumOf::with_ceiling && !has_ceiling(record))) continue;
    if (networks.contain(record)) {
      ++sum.networks;
    } else if (ids_without_mode.insert(remove_cache_mode(record.id)).second) {
      sum.cases.push_back(make_summed_case(record));
    } else {
      ++sum.other_modes;
    }
  }
  return sum;
}

std::string format_cache_mode(const CaseSum& sum) {
  if (sum.other_modes == 0 || sum.cases.empty()) return "";
  const std::string first = split_id(sum.cases.front().record->id).cache;
  const bool has_one_mode = std::ranges::all_of(sum.cases, [&](const SummedCase& entry) {
    return split_id(entry.record->id).cache == first;
  });
  return has_one_mode ? fmt::format(" with cache {}", first) : " (each in its first cache mode)";
}

std::vector<SummedCase> sort_by_gain(const CaseSum& sum) {
  std::vector<SummedCase> cases = sum.cases;
  std::ranges::stable_sort(cases, std::greater<>(), &SummedCase::recoverable);
  return cases;
}

std::string format_layer_names(const std::vector<std::string>& layers,
                               const std::string& direction) {
  if (layers.empty()) return "";
  const bool is_gradient = !direction.empty() && direction != to_string(ops::Direction::forward);
  std::string label =
      is_gradient ? fmt::format("{} {}", layers.front(), direction) : layers.front();
  if (layers.size() > 1) label += fmt::format(" +{}", layers.size() - 1);
  return label;
}

}  // namespace bench
