// SPDX-License-Identifier: Apache-2.0
// Names of PyTorch and other frameworks that differ from this program's, for spelling hints.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

struct ForeignWord {
  // Lower case, without `_` and `-`, without `torch.`, `nn.` and similar prefixes.
  std::string_view written;
  std::string_view name;  // this program's name: an operator, a function, a type, a key, ...
  // A sentence, if the name alone is not clear enough. Text in it of the form `{ op: ... }` is a
  // valid case. May be empty.
  std::string_view hint = {};
};

// A word with several meanings has several rows. The first row whose name is valid counts.
std::span<const ForeignWord> foreign_words();

// Returns the row of a word for one of `candidates`, or nullptr.
const ForeignWord* find_foreign_word(std::string_view written,
                                     std::span<const std::string_view> candidates);

// Returns a sentence with the valid word, or nullopt if `written` is not another framework's word
// for one of `candidates`. A function of `pointwise`, in either spelling, counts as a word for an
// operator.
std::optional<std::string> foreign_word_hint(std::string_view written,
                                             std::span<const std::string_view> candidates);

// Returns the hint for a word that is not one of `candidates`: foreign_word_hint(), else the
// nearest candidate, else all of them (base/nearest_name.hpp).
std::string expected_word(std::string_view written, std::span<const std::string_view> candidates);

}  // namespace bench::ops
