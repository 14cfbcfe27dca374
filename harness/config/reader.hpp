// SPDX-License-Identifier: Apache-2.0
// Reads typed values from YAML nodes. If a node is invalid, the functions return nullopt and report
// an error: where the node is, what was found and what was expected.
#pragma once

#include "base/enumerators.hpp"
#include "base/quote.hpp"
#include "base/units.hpp"
#include "harness/config/known_words.hpp"
#include "harness/config/load.hpp"
#include "harness/config/yaml.hpp"
#include "ops/operator_registry.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

// A position in one of the sources of a Diagnostics object.
struct FileLocation {
  int file = -1;  // number that add_file() or add_argument() returned; -1: no location
  yaml::SourceLocation position = {0, 0};
};

// Maximum number of diagnostics in a list. More would not fit a terminal.
inline constexpr std::size_t kMaxDiagnostics = 100;

// Maximum duration, one year. Sums of such durations cannot overflow.
inline constexpr Nanoseconds kMaxDuration = std::chrono::hours(365 * 24);

// Collects the errors of all files and command-line arguments.
class Diagnostics {
 public:
  // Adds a file and returns its number. list() orders errors by this number.
  int add_file(std::string name);
  // Adds a command-line argument and returns its number. Its errors have no line.
  int add_argument(std::string_view text);
  const std::string& name(int file) const { return sources_[static_cast<std::size_t>(file)].name; }
  // Names the place that each line of a file comes from (ConvertedConfig::origins).
  void set_origins(int file, std::vector<Place> origins);
  // Returns the location with the name of its file, for messages.
  Place place(FileLocation location) const;

  // Adds an error. Drops it if an equal error exists, since a sweep may repeat the same mistake.
  void add(FileLocation location, std::string what, std::string next = {});
  // Adds the error of an argument that names neither a file nor a case.
  void add_word(int argument, WordAnswer answer, std::vector<std::string> known);
  std::size_t count() const { return entries_.size(); }
  // Returns the errors ordered by file and position. If there are more than `limit`, one more entry
  // gives the number of omitted errors.
  std::vector<Diagnostic> list(std::size_t limit = kMaxDiagnostics) const;

 private:
  struct Source {
    std::string name;
    bool has_lines;
    std::vector<Place> origins = {};
  };
  struct Entry {
    int file, line, column;
    std::string what, next, example = {};
    std::vector<std::string> known = {};
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  std::vector<Source> sources_;
  std::set<Entry> entries_;
};

// Reads nodes of one file or argument.
class Reader {
 public:
  // `registry` provides the names of operators and backends.
  Reader(Diagnostics& diagnostics, int file,
         const ops::OperatorRegistry& registry = ops::built_in_operators())
      : diagnostics_(&diagnostics), file_(file), registry_(&registry) {}

  Diagnostics& diagnostics() const { return *diagnostics_; }
  int file() const { return file_; }
  const ops::OperatorRegistry& registry() const { return *registry_; }
  FileLocation locate(yaml::SourceLocation position) const { return {file_, position}; }
  void report_error(yaml::SourceLocation position, std::string what, std::string next = {}) const;
  // Parses a document and reports its problems. Returns nullopt if it has no tree.
  std::optional<yaml::Document> parse(std::string_view text) const;
  // Reports "`key`: found X, expected Y".
  void report_mismatch(const yaml::Node& node, std::string_view key, std::string_view expected,
                       std::string next = {}) const;

  std::optional<std::int64_t> integer(const yaml::Node& node, std::string_view key,
                                      std::int64_t minimum, std::int64_t maximum) const;
  std::optional<double> real(const yaml::Node& node, std::string_view key) const;
  std::optional<bool> flag(const yaml::Node& node, std::string_view key) const;
  // Returns the index of the node's word in `names`.
  std::optional<std::size_t> word(const yaml::Node& node, std::string_view key,
                                  std::span<const std::string_view> names) const;
  std::optional<std::string> text(const yaml::Node& node, std::string_view key) const;
  // Reads a duration such as "100ms", from `minimum` to kMaxDuration.
  std::optional<Nanoseconds> duration(const yaml::Node& node, std::string_view key,
                                      Nanoseconds minimum) const;
  // Reads a percentage as a fraction: "2%" as 0.02. It must be above 0 and at most `maximum`.
  std::optional<double> percentage(const yaml::Node& node, std::string_view key,
                                   double maximum) const;
  // Returns the items of a list, or the node itself if it is not a list. Reports an empty list.
  std::vector<const yaml::Node*> items(const yaml::Node& node, std::string_view key) const;
  // Reports a mismatch if the node is not a mapping.
  bool is_mapping(const yaml::Node& node, std::string_view key) const;

 private:
  Diagnostics* diagnostics_;
  int file_;
  const ops::OperatorRegistry* registry_;
};

// Returns a node's description for messages: "`bf15`", "a list" or "nothing". Shortens long texts.
std::string describe(const yaml::Node& node);

// Returns the hint for a key without a space after its colon (`m:1`). Returns nullopt for other
// keys.
std::optional<std::string> missing_space_hint(std::string_view written);

// Returns the hint for an unknown key: missing_space_hint() if it applies, or else
// ops::expected_word().
std::string expected_key(std::string_view written, std::span<const std::string_view> names);

// Describes one key of a mapping, for reading, spelling hints and the manual.
struct KeyInfo {
  std::string_view name;
  std::string_view type;  // "duration", "list of `layers`, `network`"
  // The default value, "required", or "" if a missing key has its own meaning.
  std::string_view default_value;
  std::string_view help;  // one line
  // Limits of the value, for read_value(): an integer, the nanoseconds of a duration, or the
  // percent of a percentage.
  std::int64_t minimum = 0;
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
};

// Reads the value of a key: a duration, a percentage (a `double`), the name of an enumerator, a
// text or an integer within the limits of the key.
template <class Value>
std::optional<Value> read_value(const Reader& reader, const KeyInfo& key, const yaml::Node& node) {
  if constexpr (std::is_same_v<Value, Nanoseconds>) {
    return reader.duration(node, key.name, Nanoseconds(key.minimum));
  } else if constexpr (std::is_same_v<Value, double>) {
    return reader.percentage(node, key.name, static_cast<double>(key.maximum) / 100);
  } else if constexpr (NamedEnum<Value>) {
    const auto index = reader.word(node, key.name, enumerator_names<Value>());
    return index ? std::optional(static_cast<Value>(*index)) : std::nullopt;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return reader.text(node, key.name);
  } else {
    const auto value = reader.integer(node, key.name, key.minimum, key.maximum);
    return value ? std::optional(static_cast<Value>(*value)) : std::nullopt;
  }
}

// Reads the value of a key into `member`, which keeps its value after an error.
template <class Member>
void read_into(const Reader& reader, const KeyInfo& key, const yaml::Node& node, Member& member) {
  if (auto value = read_value<Member>(reader, key, node)) member = *std::move(value);
}
template <class Value>
void read_into(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
               std::optional<Value>& member) {
  member = read_value<Value>(reader, key, node);
}

// One key of a mapping that is read into a Target.
template <class Target>
struct KeyRow {
  KeyInfo info;
  void (*read)(const Reader&, const KeyInfo&, const yaml::Node&, Target&);
};

// Functions for KeyRow::read: store the value in a member, or only check an integer.
template <auto member, class Target>
void read_member(const Reader& reader, const KeyInfo& key, const yaml::Node& node, Target& target) {
  read_into(reader, key, node, target.*member);
}
template <class Target>
void check_integer(const Reader& reader, const KeyInfo& key, const yaml::Node& node, Target&) {
  static_cast<void>(read_value<std::int64_t>(reader, key, node));
}

// Reads the keys of a mapping with the functions in `rows`, which have the members of a KeyRow.
// Reports unknown keys with the nearest name.
template <class Rows, class Target>
void read_keys(const Reader& reader, const yaml::Node& node, const Rows& rows, Target& target) {
  for (const yaml::Entry& entry : node.entries) {
    const auto row = std::ranges::find_if(
        rows, [&](const auto& candidate) { return candidate.info.name == entry.key; });
    if (row != rows.end()) {
      row->read(reader, row->info, *entry.value, target);
      continue;
    }
    std::vector<std::string_view> names;
    for (const auto& candidate : rows) names.push_back(candidate.info.name);
    reader.report_error(entry.location, "unknown key " + quote(entry.key),
                        expected_key(entry.key, names));
  }
}

}  // namespace bench
