// SPDX-License-Identifier: Apache-2.0
#include "harness/run/schedule.hpp"

#include "base/random.hpp"
#include "harness/run/run.hpp"

#include <cassert>
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
    const auto [place, inserted] = index_.emplace(key, groups_.size());
    if (inserted) groups_.emplace_back(key, Group());
    groups_[place->second].second.push_back(item);
  }
  std::vector<std::pair<Key, Group>> take() && { return std::move(groups_); }

 private:
  std::map<Key, std::size_t> index_;
  std::vector<std::pair<Key, Group>> groups_;
};

Group shuffled_cases(const Plan& plan, const Group& cases, SplitMix& random) {
  Grouping<std::string> by_problem;
  for (const std::size_t i : cases) by_problem.add(problem_id(plan.cases[i].key), i);
  std::vector<std::pair<std::string, Group>> problems = std::move(by_problem).take();
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

std::vector<WorkerBatch> schedule_process(const Plan& plan, std::span<const std::size_t> wanted,
                                          int process, std::uint64_t seed) {
  // Threads; device, whose library must not be in a process that times another device; the id, for
  // a network.
  using WorkerKey = std::tuple<std::optional<int>, std::string, std::string>;
  Grouping<WorkerKey> by_worker;
  for (const std::size_t i : wanted) {
    const CaseKey& key = plan.cases[i].key;
    by_worker.add({key.threads, key.device, key.op == "network" ? problem_id(key) : ""}, i);
  }
  // Two generators mix seed and process: neighbouring pairs must not have the same order.
  SplitMix mixer(seed);
  SplitMix random(mixer.next() + static_cast<std::uint64_t>(process));
  std::vector<std::pair<WorkerKey, Group>> workers = std::move(by_worker).take();
  random.shuffle(workers);
  std::vector<WorkerBatch> batches;
  for (const auto& [key, cases] : workers) {
    batches.push_back({std::get<0>(key), shuffled_cases(plan, cases, random)});
  }
  return batches;
}

Plan shard_cases(Plan plan, int index, int count) {
  assert(index >= 1 && index <= count);
  std::vector<Case> kept;
  for (std::size_t i = static_cast<std::size_t>(index - 1); i < plan.cases.size();
       i += static_cast<std::size_t>(count)) {
    kept.push_back(std::move(plan.cases[i]));
  }
  plan.cases = std::move(kept);
  return plan;
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
