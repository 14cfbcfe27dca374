// SPDX-License-Identifier: Apache-2.0
// Parameters of an operator: declared once, and that row serves YAML, sweeps, case ids, help and
// JSON.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::ops {

enum class ParameterKind {
  count,    // integer >= minimum
  flag,     // true or false
  word,     // one of `words`
  real,     // finite number
  spatial,  // an integer >= minimum for each spatial dimension, in the order d, h, w; a scalar
            // stands for all
  padding,  // begin and end >= 0 for each spatial dimension; scalar, list, or list of pairs
  shape,    // sizes >= 1, outermost first
};

struct Parameter {
  std::string_view name;   // the YAML key
  std::string_view token;  // letters before the value in a case id ("n", "u"); "ta" prints "+ta"
                           // for a flag; "" for words and shapes
                           // (one with a token is printed among the tokens)
  ParameterKind kind;
  std::string_view fallback;  // the default as written in a table of the manual: "1", "false",
                              // "required", "optional", "window"
  std::string_view help;      // one line, with the unit
  std::int64_t minimum = 1;
  std::span<const std::string_view> words = {};
};

struct PadPair {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const PadPair&, const PadPair&) = default;
};

// As written: monostate = absent; spatial and padding hold one entry (for all dimensions) or one a
// dimension.
using Value = std::variant<std::monostate, std::int64_t, bool, double, std::string,
                           std::vector<std::int64_t>, std::vector<PadPair>>;
// kind -> alternative: count int64, flag bool, word string, real double, spatial and shape
// vector<int64>, padding vector<PadPair>.

// Values aligned with an operator's parameter table (which must outlive it).
class ParameterSet {
 public:
  explicit ParameterSet(std::span<const Parameter> table) : table_(table), values_(table.size()) {}

  std::span<const Parameter> table() const { return table_; }
  bool has(std::string_view name) const;
  const Value& value(std::string_view name) const;  // asserts that the table has the name
  const Value& value(std::size_t index) const { return values_[index]; }
  void set(std::string_view name, Value value);  // asserts name and alternative
  // Typed reads; assert presence and kind. Operators read canonical sets only.
  std::int64_t count(std::string_view name) const;
  bool flag(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  const std::vector<std::int64_t>& numbers(std::string_view name) const;
  const std::vector<PadPair>& padding(std::string_view name) const;

  friend bool operator==(const ParameterSet& a, const ParameterSet& b) {
    return a.values_ == b.values_;
  }

 private:
  std::span<const Parameter> table_;
  std::vector<Value> values_;
};

const Parameter* find_parameter(std::span<const Parameter> table, std::string_view name);

// Checks kind, minimum and words of one value. Error: `what` says found and expected; `where` is
// the parameter's name.
Status check_value(const Parameter& parameter, const Value& value);

// True where the complete value equals the parameter's fallback (a constant, or the name of another
// parameter: "window"). "required", "optional" and "like h" (a size that repeats the one before it)
// are no defaults: such values are always printed.
bool is_default(const ParameterSet& complete, std::size_t index);

// Case-id text of a complete set (Operator::complete), in table order: words and shapes first,
// joined by '-' and followed by '-' when tokens follow, then token + value of what is present and
// no default, then "+flag"s. "max-c64h112w112r3u2p1", "n32c64h56w56k64r3s3p1+bias". Numbers: one
// where all dimensions agree, else joined by 'x'; uneven pads "0_1"; shapes "1x64x56x56"; reals
// shortest round-trip ("0.01", "1e-05"), after their token ("alpha0.01").
std::string format_tokens(const ParameterSet& complete);

// The inverse: complete(parse(format(x))) == x for every complete set x. Reads the text to its end;
// flags (post-ops) that the table does not know are returned in `rest` ("relu", "add"), in order.
struct ParsedTokens {
  ParameterSet parameters;
  std::vector<std::string> rest;
};
Result<ParsedTokens> parse_tokens(std::span<const Parameter> table, std::string_view text);

}  // namespace bench::ops
