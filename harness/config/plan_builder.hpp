// SPDX-License-Identifier: Apache-2.0
// Collects cases in order: equal ids are merged or, with other settings, reported.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

class PlanBuilder {
 public:
  explicit PlanBuilder(Findings& findings) : findings_(findings) {}

  // A hint: about this many cases will be added.
  void reserve(std::size_t cases);
  // Fills in the id. `content` is what decides the computation beyond the id (a network's graph).
  void add(Case added, Spot spot, const std::string& content);

  // The cases with their hashes.
  std::vector<Case> take() &&;

 private:
  void merge(std::size_t index, Case&& added, Spot spot, const std::string& content);

  Findings& findings_;
  std::vector<Case> cases_;
  std::vector<Spot> spots_;
  std::vector<std::string> contents_;
  std::unordered_map<std::string, std::size_t> index_;
};

// " sample_method graph", for hashes; empty where it is left to the device.
std::string sample_method_text(const Measure& measure);

}  // namespace bench
