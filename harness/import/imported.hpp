// SPDX-License-Identifier: Apache-2.0
// What an import found in the files of another program: the cases that compute the same, and what
// no case can express.
#pragma once

#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// Maximum number of problems of one import, the same as the limit of a configuration's cases.
inline constexpr std::size_t kMaxImportedProblems = 100'000;

// A line of a file. `file` is an index into Imported::files; lines count from 1.
struct ImportPlace {
  std::size_t file = 0;
  int line = 0;
  friend bool operator==(const ImportPlace&, const ImportPlace&) = default;
};

// An entry's key and its value in YAML. The keys of all cases of an operator are the same, in the
// same order: its parameters, then the axes, then the post-ops.
struct SuiteField {
  std::string value;        // "64", "[1, 2]"; empty if the parameter has no value
  bool is_default = false;  // an entry without the key means the same
  friend bool operator==(const SuiteField&, const SuiteField&) = default;
};

// A case as text. It takes a tenth of the memory of its problem.
struct ImportedCase {
  const ops::Operator* op = nullptr;
  std::vector<SuiteField> fields;
  ImportPlace place;
  std::string text;  // what the file says: the descriptor of a problem
};

struct RefusedProblem {
  ImportPlace place;
  std::string text;
  std::string reason;     // a clause: "the result is s32, that of a case f32"
  std::size_t count = 1;  // combinations of options of this line that have the same reason
};

struct Imported {
  std::vector<std::string> files;  // all files that were read, in the order of their first lines
  std::vector<ImportedCase> cases;
  std::vector<RefusedProblem> refused;

  // "inputs/conv/mine:4"
  std::string place_text(const ImportPlace& place) const {
    return files[place.file] + ':' + std::to_string(place.line);
  }
  std::size_t refused_count() const {
    std::size_t count = 0;
    for (const RefusedProblem& problem : refused) count += problem.count;
    return count;
  }
};

}  // namespace bench
