// SPDX-License-Identifier: Apache-2.0
// Expands the varying values of an entry of `cases:` into single cases.
#pragma once

#include "base/checked.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/network_file.hpp"
#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bench {

// Collects cases in order. Merges cases with equal ids, or reports them if their settings differ.

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

  const std::string& find_content(std::size_t position) const;
  void merge(std::size_t index, Case&& added, Spot spot, const std::string& content);

  Findings& findings_;
  std::vector<Case> cases_;
  std::vector<Spot> spots_;
  std::unordered_map<std::size_t, std::string> contents_;  // of whole networks
  std::unordered_set<std::size_t, IdHash, IdEqual> index_;
};

// Returns " sample_method graph" for hashes; empty if the device chooses the method.
std::string format_sample_method(const Measure& measure);

// Maximum number of cases of a configuration with all its includes. A convolution case takes 3 kB
// and several seconds of measurement, so this limit means 300 MB and several days.
inline constexpr std::int64_t kMaxCases = 100'000;

// Returns an upper bound of the number of cases of a template (before equal ids are merged) without
// creating any. `layers` is the number of layers of the network's definition.
Checked count_cases(const CaseTemplate& entry, std::int64_t layers);

// Creates the cases. Impossible ones are reported at the wrong value.
void expand_operator(const CaseTemplate& entry, const ops::OperatorRegistry& registry,
                     Findings& findings, PlanBuilder& plan);
void expand_network(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                    const ops::OperatorRegistry& registry, Findings& findings, PlanBuilder& plan);

}  // namespace bench
