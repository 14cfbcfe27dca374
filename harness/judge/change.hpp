// SPDX-License-Identifier: Apache-2.0
// Finds what else differs between two sides whose times are compared. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// One property that differs between the two sides. A side without the property has nullopt.
struct Change {
  std::string field;  // "implementation", "library.onednn"
  std::optional<std::string> from, to;
  friend bool operator==(const Change&, const Change&) = default;
};

// One side of a case as one of its workers prepared it: the properties that are compared exactly.
struct PreparedSide {
  std::string implementation;                // empty: unknown
  std::map<std::string, std::string> facts;  // exact_facts() of harness/result/exact_facts.hpp
  friend bool operator==(const PreparedSide&, const PreparedSide&) = default;
};

// Returns the differences between two sets of facts, ordered by name.
std::vector<Change> changes_between(const std::map<std::string, std::string>& from,
                                    const std::map<std::string, std::string>& to);

// Returns library versions as facts named "library.onednn", ...
std::map<std::string, std::string> library_facts(
    const std::map<std::string, std::string>& libraries);

// Returns the differences between two runs and their machines that may matter. Skips facts that
// differ between any two runs, such as the load, and facts that do not affect times.
std::vector<Change> run_changes(const std::map<std::string, std::string>& from,
                                const std::map<std::string, std::string>& to);

// Returns the exact properties of a case that differ. Skips facts that only one side recorded (a
// difference of tool versions) and digests that vary from process to process.
std::vector<Change> case_changes(const PreparedSide& from, const PreparedSide& to);

// Returns "jit:avx2 -> jit:sse41"; "n/a" stands for a missing value.
std::string values_text(const Change& change);
// Returns "implementation jit:avx2 -> jit:sse41; memory ..."; empty if nothing changed.
std::string changes_text(const std::vector<Change>& changes);

}  // namespace bench
