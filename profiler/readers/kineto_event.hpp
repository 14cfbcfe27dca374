// SPDX-License-Identifier: Apache-2.0
// One event of a Chrome trace, as the file writes it. Numbers stay texts, so that no digit is lost.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct KinetoField {
  enum class Type { text, number, list, other };
  std::string name;
  Type type = Type::other;
  std::string text;  // the text or number; of a list its JSON with one blank after each comma
};

// Returns the items of a list's text, without the quotes of texts: "[1, 1]" and "True" for
// `["[1, 1]", "True"]`. The views refer to the text.
std::vector<std::string_view> split_list(std::string_view list);

class KinetoEvent {
 public:
  // A member of the event, or of its `args`; nullptr if there is none.
  const KinetoField* find(std::string_view name) const { return find(fields_, used_, name); }
  const KinetoField* argument(std::string_view name) const {
    return find(arguments_, used_arguments_, name);
  }
  // Empty if there is no such member.
  std::string_view text(std::string_view name) const { return text_of(find(name)); }
  std::string_view argument_text(std::string_view name) const { return text_of(argument(name)); }
  // Also reads a whole number that is written as a text. Returns nullopt for others.
  std::optional<std::int64_t> argument_integer(std::string_view name) const;
  std::size_t argument_count() const { return used_arguments_; }
  const KinetoField& argument(std::size_t index) const { return arguments_[index]; }

 private:
  friend class KinetoEventParser;
  using Fields = std::vector<KinetoField>;
  static const KinetoField* find(const Fields& fields, std::size_t used, std::string_view name);
  static std::string_view text_of(const KinetoField* field) {
    return field == nullptr ? std::string_view() : std::string_view(field->text);
  }

  Fields fields_, arguments_;  // entries beyond the numbers in use are memory for reuse
  std::size_t used_ = 0, used_arguments_ = 0;
};

// Parses events into one reused KinetoEvent, without recursion. Not thread-safe.
class KinetoEventParser {
 public:
  KinetoEventParser();
  ~KinetoEventParser();
  // The result is valid until the next call. Returns an error for text that is not a JSON object,
  // or nests deeper than any event.
  Result<const KinetoEvent*> parse(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
