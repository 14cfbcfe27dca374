// SPDX-License-Identifier: Apache-2.0
// What made a time change, as `bench history`, `bench gate` and `bench compare` print it.
#pragma once

#include "base/json_writer.hpp"
#include "harness/judge/cause.hpp"
#include "harness/report/next_command.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Returns the sentence without a full stop: "likely cause: library (onednn 3.1.0 -> 3.2.0), the
// only difference that the records contain".
std::string describe_cause(const CauseFinding& finding);

// Returns a clause with a capital letter and a full stop.
std::string as_sentence(std::string clause);

// What is known to measure both sides again.
struct CauseMeasurement {
  std::string program = "bench";  // first word of the command
  std::string id;
  // The commit of the earlier measurement, and its program, if that still exists.
  std::string old_commit = {};
  std::optional<std::string> old_program = std::nullopt;
  // If the sides were measured together: the commit of the later one, and the library of the
  // earlier one.
  std::string new_commit = {};
  std::optional<std::string> old_library = std::nullopt;
};
// Returns the command that separates the remaining causes. Returns nullopt if none is known.
std::optional<NextCommand> next_command(const CauseFinding& finding,
                                        const CauseMeasurement& measurement);

// The sentence of each distinct cause. If there are several, each begins with the number of its
// cases: "2 changed cases: likely cause: ...".
class CauseSummary {
 public:
  void add(const std::optional<CauseFinding>& finding);
  // Returns the sentences, the most frequent one first.
  std::vector<std::string> sentences() const;

 private:
  std::vector<std::pair<std::string, std::size_t>> counts_;
};

// Writes the field `cause`: an object. Nothing if it is unknown.
void write_cause(JsonWriter& writer, const std::optional<CauseFinding>& finding);

}  // namespace bench
