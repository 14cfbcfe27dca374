// SPDX-License-Identifier: Apache-2.0
// Typed reading of YAML nodes. Each function returns a value or reports an error with the location,
// what was found and what was expected.
#pragma once

#include "base/units.hpp"
#include "harness/config/load.hpp"
#include "harness/config/yaml.hpp"
#include "ops/operator_registry.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// A position in one of the files of a Findings object.
struct Spot {
  int file = -1;
  yaml::SourceLocation location = {0, 0};
};

// Maximum number of diagnostics: what a terminal can show and a person will read.
inline constexpr std::size_t kMaxDiagnostics = 100;

// Maximum duration, one year. Sums of such durations cannot overflow.
inline constexpr Nanoseconds kMaxDuration = std::chrono::hours(365 * 24);

// Collects all errors of all files.
class Findings {
 public:
  // Adds a file; errors are listed in the order of these calls.
  int add_file(std::string name);
  // Adds a command-line argument; its errors have no line.
  int add_argument(std::string text);
  const std::string& name(int file) const { return sources_[static_cast<std::size_t>(file)].name; }
  Place place(Spot spot) const;

  // Adds an error. Keeps equal ones once, since a sweep may repeat the same mistake.
  void add(Spot spot, std::string what, std::string next = {});
  std::size_t count() const { return findings_.size(); }
  // Returns the errors ordered by file and position. Beyond `limit`, the last entry gives the
  // number of remaining ones.
  std::vector<Diagnostic> list(std::size_t limit = kMaxDiagnostics) const;

 private:
  struct Source {
    std::string name;
    bool has_lines;
  };
  struct Finding {
    int file, line, column;
    std::string what, next;
    friend auto operator<=>(const Finding&, const Finding&) = default;
  };
  std::vector<Source> sources_;
  std::set<Finding> findings_;
};

// Reads one file or argument.
class Reader {
 public:
  // `registry` provides the names of operators and backends.
  Reader(Findings& findings, int file,
         const ops::OperatorRegistry& registry = ops::built_in_operators())
      : findings_(&findings), file_(file), registry_(&registry) {}

  Findings& findings() const { return *findings_; }
  int file() const { return file_; }
  const ops::OperatorRegistry& registry() const { return *registry_; }
  Spot spot(yaml::SourceLocation location) const { return {file_, location}; }
  void complain(yaml::SourceLocation location, std::string what, std::string next = {}) const;
  // Reports "`key`: found X, expected Y".
  void mismatch(const yaml::Node& node, std::string_view key, std::string_view expected,
                std::string next = {}) const;

  std::optional<std::int64_t> integer(const yaml::Node& node, std::string_view key,
                                      std::int64_t minimum, std::int64_t maximum) const;
  std::optional<double> real(const yaml::Node& node, std::string_view key) const;
  std::optional<bool> flag(const yaml::Node& node, std::string_view key) const;
  // Returns the index of the word in `names`.
  std::optional<std::size_t> word(const yaml::Node& node, std::string_view key,
                                  std::span<const std::string_view> names) const;
  std::optional<std::string> text(const yaml::Node& node, std::string_view key) const;
  // Reads "100ms"; at least `minimum` and at most kMaxDuration.
  std::optional<Nanoseconds> duration(const yaml::Node& node, std::string_view key,
                                      Nanoseconds minimum) const;
  // Reads "2%" as 0.02; above 0 and at most `maximum`.
  std::optional<double> percentage(const yaml::Node& node, std::string_view key,
                                   double maximum) const;
  // Returns the items of a list, or the node itself if it is a scalar in place of a list. Reports
  // an empty list.
  std::vector<const yaml::Node*> items(const yaml::Node& node, std::string_view key) const;
  bool is_mapping(const yaml::Node& node, std::string_view key) const;

 private:
  Findings* findings_;
  int file_;
  const ops::OperatorRegistry* registry_;
};

// Returns "`bf15`", "a list" or "nothing": a node's description in messages. Cuts long texts.
std::string describe(const yaml::Node& node);
std::string quote(std::string_view text);

// Returns the hint for a key that lacks the space after its colon (`m:1`), or nullopt.
std::optional<std::string> missing_space(std::string_view written);

// Returns the hint for an unknown key: a missing space after its colon (`m:1`), or else
// ops::expected_word().
std::string expected_key(std::string_view written, std::span<const std::string_view> names);

// One key of a mapping. The same row serves reading, spelling hints and the manual.
struct KeyInfo {
  std::string_view name;
  std::string_view type;      // "duration", "list of `layers`, `network`"
  std::string_view fallback;  // the default, "required", or "" if a missing key has its own meaning
  std::string_view help;      // one line
};

template <class Target>
struct KeyRow {
  KeyInfo info;
  void (*read)(const Reader&, const yaml::Node&, Target&);
};

// Reads the keys of a mapping by its table. Reports unknown keys with the nearest name.
template <class Target>
void read_keys(const Reader& reader, const yaml::Node& node, std::span<const KeyRow<Target>> rows,
               Target& target) {
  for (const yaml::Entry& entry : node.entries) {
    const KeyRow<Target>* found = nullptr;
    for (const KeyRow<Target>& row : rows) {
      if (row.info.name == entry.key) found = &row;
    }
    if (found != nullptr) {
      found->read(reader, *entry.value, target);
      continue;
    }
    std::vector<std::string_view> names;
    for (const KeyRow<Target>& row : rows) names.push_back(row.info.name);
    reader.complain(entry.location, "unknown key " + quote(entry.key),
                    expected_key(entry.key, names));
  }
}

}  // namespace bench
