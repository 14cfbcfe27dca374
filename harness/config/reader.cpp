// SPDX-License-Identifier: Apache-2.0
#include "harness/config/reader.hpp"

#include "base/text.hpp"
#include "ops/foreign_words.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <system_error>

namespace bench {
namespace {

// Maximum width of an option with its value as the place of an error.
constexpr std::size_t kMaxArgument = 200;

bool is_plain_scalar(const yaml::Node& node) {
  return node.kind == yaml::Kind::scalar && node.style == yaml::Style::plain;
}

std::string format_integer_range(std::int64_t minimum, std::int64_t maximum) {
  if (minimum == maximum) return fmt::format("{}", minimum);
  if (maximum == std::numeric_limits<std::int64_t>::max()) {
    return fmt::format("an integer >= {}", minimum);
  }
  return fmt::format("an integer from {} to {}", minimum, maximum);
}

}  // namespace

int Diagnostics::add_file(std::string name) {
  sources_.push_back({std::move(name), true});
  return static_cast<int>(sources_.size()) - 1;
}

int Diagnostics::add_argument(std::string_view text) {
  sources_.push_back({shorten(text, kMaxArgument), false});
  return static_cast<int>(sources_.size()) - 1;
}

void Diagnostics::set_origins(int file, std::vector<Place> origins) {
  sources_[static_cast<std::size_t>(file)].origins = std::move(origins);
}

Place Diagnostics::place(FileLocation location) const {
  const Source& source = sources_[static_cast<std::size_t>(location.file)];
  const auto line = static_cast<std::size_t>(location.position.line);
  if (line > 0 && line <= source.origins.size() && source.origins[line - 1].line > 0)
    return source.origins[line - 1];
  if (!source.has_lines) return {source.name, 0, 0};
  return {source.name, location.position.line, location.position.column};
}

void Diagnostics::add(FileLocation location, std::string what, std::string next) {
  entries_.insert({location.file, location.position.line, location.position.column, std::move(what),
                   std::move(next)});
}

void Diagnostics::add_word(int argument, WordAnswer answer, std::vector<std::string> known) {
  entries_.insert({argument, 0, 0, std::move(answer.what), std::move(answer.next),
                   std::move(answer.example), std::move(known)});
}

std::vector<Diagnostic> Diagnostics::list(std::size_t limit) const {
  std::vector<Diagnostic> result;
  for (const Entry& entry : entries_) {
    if (result.size() == limit) {
      result.push_back({{}, fmt::format("... and {} more", entries_.size() - limit), ""});
      break;
    }
    const FileLocation location{entry.file, {entry.line, entry.column}};
    result.push_back({place(location), entry.what, entry.next, entry.example, entry.known});
  }
  return result;
}

std::string describe(const yaml::Node& node) {
  switch (node.kind) {
    case yaml::Kind::null:
      return "nothing";
    case yaml::Kind::sequence:
      return node.items.empty() ? "an empty list" : "a list";
    case yaml::Kind::mapping:
      return node.entries.empty() ? "an empty mapping" : "a mapping";
    case yaml::Kind::scalar:
      break;
  }
  return node.style == yaml::Style::quoted ? "the quoted text " + quote(node.text)
                                           : quote(node.text);
}

std::optional<std::string> missing_space_hint(std::string_view written) {
  // YAML reads `m:1` as a key without a value in the last lines of a file and between braces.
  const std::string_view word = written.substr(0, written.find(' '));
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == word.size()) {
    return std::nullopt;
  }
  const std::string corrected =
      fmt::format("{}: {}", word.substr(0, colon), word.substr(colon + 1));
  return "a space is missing after the colon: write " + quote(corrected, kMaxArgument);
}

std::string expected_key(std::string_view written, std::span<const std::string_view> names) {
  auto hint = missing_space_hint(written);
  return hint ? *std::move(hint) : ops::expected_word(written, names);
}

void Reader::report_error(yaml::SourceLocation position, std::string what, std::string next) const {
  diagnostics_->add(locate(position), std::move(what), std::move(next));
}

std::optional<yaml::Document> Reader::parse(std::string_view text) const {
  auto document = yaml::parse(text);
  if (!document.ok()) {
    const yaml::Problem& error = document.error();
    report_error(error.location, error.what, error.next);
    return std::nullopt;
  }
  for (const yaml::Problem& problem : document->problems())
    report_error(problem.location, problem.what, problem.next);
  return *std::move(document);
}

void Reader::report_mismatch(const yaml::Node& node, std::string_view key,
                             std::string_view expected, std::string next) const {
  report_error(node.location,
               fmt::format("`{}`: found {}, expected {}", key, describe(node), expected),
               std::move(next));
}

std::optional<std::int64_t> Reader::integer(const yaml::Node& node, std::string_view key,
                                            std::int64_t minimum, std::int64_t maximum) const {
  std::int64_t value = 0;
  if (is_plain_scalar(node)) {
    const char* end = node.text.data() + node.text.size();
    const auto [stop, error] = std::from_chars(node.text.data(), end, value);
    if (stop == end && error == std::errc::result_out_of_range) {
      report_mismatch(node, key, "an integer below 2^63");
      return std::nullopt;
    }
    if (stop == end && error == std::errc() && value >= minimum && value <= maximum) return value;
  }
  report_mismatch(node, key, format_integer_range(minimum, maximum));
  return std::nullopt;
}

std::optional<double> Reader::real(const yaml::Node& node, std::string_view key) const {
  double value = 0;
  if (is_plain_scalar(node)) {
    const char* end = node.text.data() + node.text.size();
    const auto [stop, error] = std::from_chars(node.text.data(), end, value);
    if (stop == end && error == std::errc() && std::isfinite(value)) return value;
  }
  report_mismatch(node, key, "a number");
  return std::nullopt;
}

std::optional<bool> Reader::flag(const yaml::Node& node, std::string_view key) const {
  if (is_plain_scalar(node) && node.text == "true") return true;
  if (is_plain_scalar(node) && node.text == "false") return false;
  report_mismatch(node, key, "true or false");
  return std::nullopt;
}

std::optional<std::size_t> Reader::word(const yaml::Node& node, std::string_view key,
                                        std::span<const std::string_view> names) const {
  if (node.kind != yaml::Kind::scalar) {
    report_error(node.location, fmt::format("`{}`: found {}", key, describe(node)),
                 ops::expected_word("", names));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == node.text) return i;
  }
  report_error(node.location, fmt::format("`{}`: unknown value {}", key, quote(node.text)),
               ops::expected_word(node.text, names));
  return std::nullopt;
}

std::optional<std::string> Reader::text(const yaml::Node& node, std::string_view key) const {
  if (node.kind == yaml::Kind::scalar && !node.text.empty()) return node.text;
  report_mismatch(node, key, "a text");
  return std::nullopt;
}

std::optional<Nanoseconds> Reader::duration(const yaml::Node& node, std::string_view key,
                                            Nanoseconds minimum) const {
  if (node.kind == yaml::Kind::scalar) {
    const auto value = parse_duration(node.text);
    if (value && *value > kMaxDuration) {
      report_mismatch(node, key, "at most a year (8760h)");
      return std::nullopt;
    }
    if (value && *value >= minimum) return *value;
  }
  report_mismatch(node, key,
                  minimum.count() > 0 ? "a duration above 0 with its unit, such as 100ms or 2s"
                                      : "a duration with its unit, such as 100ms or 2s");
  return std::nullopt;
}

std::optional<double> Reader::percentage(const yaml::Node& node, std::string_view key,
                                         double maximum) const {
  if (node.kind == yaml::Kind::scalar) {
    const auto value = parse_percentage(node.text);
    if (value && *value > 0 && *value <= maximum) return *value;
  }
  report_mismatch(node, key,
                  fmt::format("a percentage above 0% and up to {}%, such as 2%", maximum * 100));
  return std::nullopt;
}

std::vector<const yaml::Node*> Reader::items(const yaml::Node& node, std::string_view key) const {
  if (node.kind != yaml::Kind::sequence) return {&node};
  if (node.items.empty()) report_mismatch(node, key, "at least one value");
  return node.items;
}

bool Reader::is_mapping(const yaml::Node& node, std::string_view key) const {
  if (node.kind == yaml::Kind::mapping) return true;
  report_mismatch(node, key, "a mapping (`key: value` lines, or { key: value })");
  return false;
}

std::string Diagnostic::message() const {
  return Error{what, place.text(), next_with_example()}.message();
}

std::string introduce_example(std::string_view next) {
  return fmt::format("{}{}or example", next, next.ends_with('?') ? " F" : ", f");
}

std::string Diagnostic::next_with_example() const {
  return example.empty() ? next : fmt::format("{} `{}`", introduce_example(next), example);
}

std::string Place::text() const {
  if (line <= 0) return file;
  if (column <= 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}

}  // namespace bench
