// SPDX-License-Identifier: Apache-2.0
// Collects cases in order. Merges cases with equal ids, or reports them if their settings differ.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bench {

class PlanBuilder {
 public:
  explicit PlanBuilder(Findings& findings)
      : findings_(findings), index_(0, IdHash{cases_}, IdEqual{cases_}) {}
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  // A hint: about this many cases will follow.
  void reserve(std::size_t cases);
  // Adds a case and sets its id. `content` describes the computation beyond the id (a network's
  // graph).
  void add(Case added, Spot spot, const std::string& content);

  // Returns the cases with their hashes.
  std::vector<Case> take() &&;

 private:
  // Indices of cases, looked up by id without copying the ids.
  struct IdHash {
    const std::vector<Case>& cases;
    std::size_t operator()(std::size_t position) const {
      return std::hash<std::string>()(cases[position].id);
    }
  };
  struct IdEqual {
    const std::vector<Case>& cases;
    bool operator()(std::size_t left, std::size_t right) const {
      return cases[left].id == cases[right].id;
    }
  };

  const std::string& content_of(std::size_t position) const;
  void merge(std::size_t index, Case&& added, Spot spot, const std::string& content);

  Findings& findings_;
  std::vector<Case> cases_;
  std::vector<Spot> spots_;
  std::unordered_map<std::size_t, std::string> contents_;  // of whole networks
  std::unordered_set<std::size_t, IdHash, IdEqual> index_;
};

// Returns " sample_method graph" for hashes; empty if the device chooses the method.
std::string sample_method_text(const Measure& measure);

}  // namespace bench
