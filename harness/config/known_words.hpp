// SPDX-License-Identifier: Apache-2.0
// Answers a word that stands where a case or a configuration is expected, and is neither: what it
// may mean, an example that can be pasted, and what there is.
#pragma once

#include "ops/operator_registry.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What an argument can name besides files.
struct KnownWords {
  const ops::OperatorRegistry* registry = nullptr;  // not owned, never null
  std::vector<std::string> networks;                // names for `network:`
  std::vector<std::string> suites;                  // configurations of this program
};

struct WordAnswer {
  std::string what;     // what is wrong
  std::string next;     // what the word probably means, and what to give instead
  std::string example;  // an argument that is valid
};

// Returns the answer for an argument that cannot be read as a file, for the reason `read_error`.
WordAnswer answer_word(std::string_view argument, const std::string& read_error,
                       const KnownWords& words);

// Returns "operators: conv gemm ...", "networks: ...", "configurations: ...", without empty lists.
// In each list, the name that is nearest to the argument comes first.
std::vector<std::string> list_known_words(std::string_view argument, const KnownWords& words);

// Returns the id of a small case of an operator, or of a network.
std::string example_of_operator(const ops::Operator& op, const ops::OperatorRegistry& registry);
std::string example_of_network(std::string_view name);

// Returns an example with the operator that an argument meant as an id begins with, or nearly; with
// any operator if it begins with none.
std::string example_for_id(std::string_view argument, const KnownWords& words);

}  // namespace bench
