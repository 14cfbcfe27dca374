// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/analysis_options.hpp"

#include "base/characters.hpp"
#include "base/data_type.hpp"
#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "ops/foreign_words.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

namespace bench {
namespace {

Result<std::int64_t> parse_count(const std::string& value, std::string_view option) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end && number >= 0) return number;
  return Error{fmt::format("{} is not a whole number", quote(value)), std::string(option), ""};
}

// Parses a duration. A number without a unit is in seconds, as in profile_analyze.
Result<Nanoseconds> parse_time(const std::string& value, std::string_view option) {
  const bool is_bare = !value.empty() && is_digit(value.back());
  auto time = parse_duration(is_bare ? value + "s" : value);
  if (time.ok()) return time;
  return Error{time.error().what, std::string(option), time.error().next};
}

template <class Enum>
Result<Enum> parse_name(const std::string& value, std::string_view option) {
  if (const auto found = enumerator_from_name<Enum>(value)) return *found;
  return Error{fmt::format("unknown value {}", quote(value)), std::string(option),
               expectation(value, enumerator_names<Enum>())};
}

// Returns `rate`; an error also names the option.
template <class Rate>
Result<Rate> at_option(Result<Rate> rate, std::string_view option) {
  if (rate.ok()) return rate;
  return Error{rate.error().what, std::string(option), rate.error().next};
}

// Appends the names of a list such as "layer,direction".
void append_names(std::string_view list, std::vector<std::string>& names) {
  while (true) {
    const std::size_t end = list.find(',');
    names.emplace_back(list.substr(0, end));
    if (end == std::string_view::npos) return;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

Status set_top(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.top, parse_count(value, "--top"));
  return Done{};
}

Status add_type(Arguments& arguments, const std::string& value) {
  arguments.analysis.types.push_back(value);
  return Done{};
}

Status add_kind(Arguments& arguments, const std::string& value) {
  arguments.analysis.kinds.push_back(value);
  return Done{};
}

Status set_name(Arguments& arguments, const std::string& value) {
  arguments.analysis.name = value;
  return Done{};
}

Status set_layer(Arguments& arguments, const std::string& value) {
  arguments.analysis.layer = value;
  return Done{};
}

Status set_direction(Arguments& arguments, const std::string& value) {
  arguments.analysis.direction = value;
  return Done{};
}

Status set_dtype(Arguments& arguments, const std::string& value) {
  std::vector<std::string_view> names;
  for (const DataTypeInfo& row : data_types()) names.push_back(row.name);
  arguments.analysis.dtypes = {value};
  const ops::ForeignWord* const word = ops::find_foreign_word(value, names);
  if (word == nullptr) return Done{};
  if (!word->hint.empty()) {
    return Error{fmt::format("`{}` may be one of several data types", value), "--dtype",
                 std::string(word->hint)};
  }
  arguments.analysis.dtypes.emplace_back(word->name);
  return Done{};
}

Status set_min_time(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.min_time, parse_time(value, "--min-time"));
  return Done{};
}

Status set_max_time(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.max_time, parse_time(value, "--max-time"));
  return Done{};
}

Status set_phase(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.phase, parse_name<PhaseFilter>(value, "--phase"));
  return Done{};
}

Status set_aggregate_by(Arguments& arguments, const std::string& value) {
  append_names(value, arguments.analysis.aggregate_by);
  return Done{};
}

Status set_aggregate(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.aggregate, parse_name<Aggregate>(value, "--aggregate"));
  return Done{};
}

Status set_order_by(Arguments& arguments, const std::string& value) {
  arguments.analysis.order_by = value;
  return Done{};
}

Status add_columns(Arguments& arguments, const std::string& value) {
  append_names(value, arguments.analysis.columns);
  return Done{};
}

Status set_width(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.width, parse_count(value, "--width"));
  return Done{};
}

Status set_peak_bandwidth(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.peak_bandwidth,
                         at_option(parse_bandwidth(value), "--peak-bandwidth"));
  return Done{};
}

Status set_peak_flops(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.peak_flops,
                         at_option(parse_flop_rate(value), "--peak-flops"));
  return Done{};
}

}  // namespace bench
