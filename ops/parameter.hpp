// SPDX-License-Identifier: Apache-2.0
// Parameters of an operator. Each is declared once; YAML, sweeps, case ids, help and JSON use that
// row.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::ops {

BENCH_ENUM(
    ParameterKind, count,  // integer >= minimum
    flag,                  // true or false
    word,                  // one of `words`
    real,                  // finite number
    // An integer >= minimum per spatial dimension, in the order d, h, w. A scalar applies to all.
    spatial,
    padding,  // begin and end >= 0 per spatial dimension; scalar, list, or list of pairs
    shape     // sizes >= 1, outermost first; with the minimum 0: axes
);

// Defaults that are not values: the parameter must be set, or may be missing.
inline constexpr std::string_view kRequired = "required";
inline constexpr std::string_view kOptional = "optional";

struct Parameter {
  std::string_view name;  // the YAML key
  // The letters before the value in a case id ("n", "u"). For a flag, the case id contains "+" and
  // the token ("+ta") if the value is not the default. A flag that is true by default therefore has
  // a token such as "noscale". A word with a token is a flag, too ("+dst_s8" of the token "dst").
  // Usually
  // "" for shapes; a shape with a token is printed among the tokens.
  std::string_view token;
  ParameterKind kind;
  // The default as the manual's table shows it: "1", "false", "required", "optional", "window".
  std::string_view fallback;
  std::string_view help;  // one line, with the unit
  std::int64_t minimum = 1;
  std::span<const std::string_view> words = {};
  std::optional<double> above = {};  // a real must be greater
};

struct PadPair {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const PadPair&, const PadPair&) = default;
};

// A value as written. monostate: not set. spatial and padding have one entry (for all dimensions)
// or one per dimension. Alternatives by kind: count int64, flag bool, word string, real double,
// spatial and shape vector<int64>, padding vector<PadPair>.
using Value = std::variant<std::monostate, std::int64_t, bool, double, std::string,
                           std::vector<std::int64_t>, std::vector<PadPair>>;

// Values in the order of an operator's parameter table, which must outlive the set.
class ParameterSet {
 public:
  explicit ParameterSet(std::span<const Parameter> table) : table_(table), values_(table.size()) {}

  std::span<const Parameter> table() const { return table_; }
  bool has(std::string_view name) const;
  const Value& value(std::string_view name) const;  // asserts that the table has the name
  const Value& value(std::size_t index) const { return values_[index]; }
  void set(std::string_view name, Value value);  // asserts name and alternative
  // Typed reads, which assert presence and kind. Operators read only complete sets.
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

// Checks kind, minimum, words and `above` of one value. Error: `what` contains the found and
// expected values; `where` is the parameter's name.
Status check_value(const Parameter& parameter, const Value& value);

// Returns an error if a required parameter is missing.
Status require(const ParameterSet& given, std::string_view name);

// Returns the value of a constant default of a count, flag, word or real. nullopt: the text is no
// such constant.
std::optional<Value> constant_default(ParameterKind kind, std::string_view fallback);

// Fills in the defaults of a table: constants, earlier parameters' values (unset if these are), and
// the last axis of `shape`. Sizes of an image take the value of the size before. Leaves spatial and
// padding parameters as they are. Then checks all values. Error: a required parameter is missing,
// or a value or a default is not valid.
Result<ParameterSet> complete_defaults(const ParameterSet& given);

// Whether the complete value equals the parameter's default, which is a constant or an earlier
// parameter's name ("window"). "required", "optional" and "like h" (a size that repeats the
// previous one) are not defaults: such values are always printed.
bool is_default(const ParameterSet& complete, std::size_t index);

// Case-id text of a complete set (Operator::complete), in table order. Words and shapes come first,
// joined by '-' and followed by '-' if tokens follow. Then come token + value of what is set and
// not the default, then "+flag"s. Examples: "max-c64h112w112r3u2p1", "n32c64h56w56k64r3s3p1+bias".
// Numbers: one if all dimensions agree, else joined by 'x'. Uneven pads: "0_1". Shapes:
// "1x64x56x56". Reals: the shortest round-trip text ("0.01", "1e-05"), after their token
// ("alpha0.01").
std::string format_tokens(const ParameterSet& complete);

// The inverse: complete(parse(format(x))) == x for every complete set x. Reads the text to its end.
// `rest` contains the flags (post-ops) that the table does not know ("relu", "add"), in order.
struct ParsedTokens {
  ParameterSet parameters;
  std::vector<std::string> rest;
};
Result<ParsedTokens> parse_tokens(std::span<const Parameter> table, std::string_view text);

}  // namespace bench::ops
