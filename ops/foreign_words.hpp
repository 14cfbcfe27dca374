// SPDX-License-Identifier: Apache-2.0
// Words of PyTorch and other frameworks for what has another name here, for spelling hints.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

struct ForeignWord {
  std::string_view
      written;            // lower case, without `_` and `-`, without `torch.`, `nn.` and the like
  std::string_view name;  // what it is called here: an operator, a function, a type, a key, ...
  // A sentence, if the name does not say enough. What stands in it as `{ op: ... }` is a case that
  // loads. May be empty.
  std::string_view hint = {};
};

// A word that means several things has several rows; the first one whose name is valid counts.
std::span<const ForeignWord> foreign_words();

// Returns a sentence with the word that is valid here, or nullopt if `written` is not a word of
// another framework for one of `candidates`. A function of `pointwise`, in either spelling, is one
// for an operator.
std::optional<std::string> foreign_word_hint(std::string_view written,
                                             std::span<const std::string_view> candidates);

// The hint for a word that is not one of `candidates`: foreign_word_hint(), else the nearest
// candidate, else all of them (base/nearest_name.hpp).
std::string expected_word(std::string_view written, std::span<const std::string_view> candidates);

}  // namespace bench::ops
