// SPDX-License-Identifier: Apache-2.0
#include "harness/run/schedule.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace bench {
namespace {

using Group = std::vector<std::size_t>;

// Groups items by key, in the order of each key's first appearance.
template <class Key>
class Grouping {
 public:
  void add(const Key& key, std::size_t item) {
    const auto [entry, is_new] = index_.emplace(key, groups_.size());
    if (is_new) groups_.emplace_back(key, Group());
    groups_[entry->second].second.push_back(item);
  }
  std::vector<std::pair<Key, Group>> groups() && { return std::move(groups_); }

 private:
  std::map<Key, std::size_t> index_;
  std::vector<std::pair<Key, Group>> groups_;
};

// Shuffles the problems, and the cases of each problem.
Group shuffle_cases(const Plan& plan, const Group& cases, SplitMix& random) {
  Grouping<std::string> by_problem;
  for (const std::size_t i : cases) by_problem.add(problem_id(plan.cases[i].key), i);
  std::vector<std::pair<std::string, Group>> problems = std::move(by_problem).groups();
  random.shuffle(problems);
  Group order;
  for (auto& [id, variants] : problems) {
    random.shuffle(variants);
    order.insert(order.end(), variants.begin(), variants.end());
  }
  return order;
}

}  // namespace

std::string problem_id(const CaseKey& key) {
  CaseKey hot = key;
  hot.cache = CacheMode::hot;
  return to_id(hot);
}

std::vector<WorkerBatch> schedule_process(const Plan& plan, std::span<const std::size_t> cases,
                                          int process, std::uint64_t seed) {
  // Threads and streams; device, since its library must not be in a process that measures another
  // device; problem id of a network, else empty.
  using WorkerKey = std::tuple<WorkerThreads, std::string, std::string>;
  Grouping<WorkerKey> by_worker;
  for (const std::size_t i : cases) {
    const CaseKey& key = plan.cases[i].key;
    by_worker.add({worker_threads(key), key.device, key.op == "network" ? problem_id(key) : ""}, i);
  }
  // Two generators mix seed and process, so that (seed, process + 1) and (seed + 1, process) have
  // different orders.
  SplitMix mixer(seed);
  SplitMix random(mixer.next() + static_cast<std::uint64_t>(process));
  std::vector<std::pair<WorkerKey, Group>> workers = std::move(by_worker).groups();
  random.shuffle(workers);
  std::vector<WorkerBatch> batches;
  for (const auto& [key, group] : workers) {
    batches.push_back({std::get<0>(key), shuffle_cases(plan, group, random)});
  }
  return batches;
}

Bytes largest_reuse_distance(const Plan& plan) {
  Bytes largest{0};
  for (const Case& spec : plan.cases) {
    if (spec.reuse_distance) largest = std::max(largest, *spec.reuse_distance);
  }
  return largest;
}

Plan with_one_process(Plan plan) {
  for (Case& spec : plan.cases) spec.measure.processes = 1;
  return plan;
}

}  // namespace bench
