// SPDX-License-Identifier: Apache-2.0
// What else differs between two sides whose times are compared. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Something that differs between the two sides; absent where a side does not have it.
struct Change {
  std::string field;  // "implementation", "library.onednn"
  std::optional<std::string> from, to;
  friend bool operator==(const Change&, const Change&) = default;
};

// A side as one of its workers prepared the case: what is compared exactly.
struct PreparedSide {
  std::string implementation;                // empty: unknown
  std::map<std::string, std::string> facts;  // exact_facts() of harness/result/exact_facts.hpp
  friend bool operator==(const PreparedSide&, const PreparedSide&) = default;
};

// Differences of two sets of facts, in the order of their names.
std::vector<Change> changes_between(const std::map<std::string, std::string>& from,
                                    const std::map<std::string, std::string>& to);

// Versions of libraries by their names, as facts: "library.onednn".
std::map<std::string, std::string> library_facts(
    const std::map<std::string, std::string>& libraries);

// Those of two runs and their machines that may matter: without what differs between any two, as
// the load does, or says nothing of the times.
std::vector<Change> run_changes(const std::map<std::string, std::string>& from,
                                const std::map<std::string, std::string>& to);

// Those of a case that both sides know: without a fact that only one side has, which says something
// of its version, and a digest that varies from process to process, which equals no other.
std::vector<Change> case_changes(const PreparedSide& from, const PreparedSide& to);

// "jit:avx2 -> jit:sse41"; "n/a" for a side that does not have it.
std::string values_text(const Change& change);
// "implementation jit:avx2 -> jit:sse41; memory ..."; empty where nothing changed.
std::string changes_text(const std::vector<Change>& changes);

}  // namespace bench
