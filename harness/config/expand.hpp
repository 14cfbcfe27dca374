// SPDX-License-Identifier: Apache-2.0
// Expands an entry of `cases:` into one case per combination of its varying values.
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

// Collects cases in order. Merges cases with equal ids, or reports an error if their settings
// differ.
class PlanBuilder {
 public:
  explicit PlanBuilder(Diagnostics& diagnostics)
      : diagnostics_(diagnostics), index_(0, IdHash{cases_}, IdEqual{cases_}) {}
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  // Reserves memory for this number of cases.
  void reserve(std::size_t cases);
  // Sets the id of a case and adds the case. `content` identifies what the id does not define: the
  // graph of a network. It is empty for operators.
  void add(Case new_case, FileLocation location, const std::string& content);

  // Sets the hashes of all cases and returns the cases.
  std::vector<Case> take() &&;

 private:
  // Hash and compare indices of cases by the ids of the cases. The set `index_` thus needs no
  // copies of the ids.
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
  void merge(std::size_t index, Case&& new_case, FileLocation location, const std::string& content);

  Diagnostics& diagnostics_;
  std::vector<Case> cases_;
  std::vector<FileLocation> locations_;
  // Graphs of whole networks, by case index.
  std::unordered_map<std::size_t, std::string> contents_;
  std::unordered_set<std::size_t, IdHash, IdEqual> index_;
};

// Maximum number of cases of all files together. A convolution case takes 3 kB of memory and
// several seconds of measurement, so this number of cases takes 300 MB and several days.
inline constexpr std::int64_t kMaxCases = 100'000;

// Returns an upper bound of the number of cases of an entry, without creating them. Counts cases
// with equal ids separately. `layers` is the number of layers in the network's definition.
Checked count_cases(const CaseTemplate& entry, std::int64_t layers);

// Create the cases of an entry and add them to `plan`. Report each invalid case at the invalid
// value.
void expand_operator(const CaseTemplate& entry, const ops::OperatorRegistry& registry,
                     Diagnostics& diagnostics, PlanBuilder& plan);
void expand_network(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                    const ops::OperatorRegistry& registry, Diagnostics& diagnostics,
                    PlanBuilder& plan);

}  // namespace bench
