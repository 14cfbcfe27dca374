// SPDX-License-Identifier: Apache-2.0
// The fields of oneDNN's verbose lines and their order, as given by the library's template line.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

// The fields after the operation.
enum class VerboseField : std::uint8_t {
  unknown,  // from a later version; skipped
  engine,
  primitive,
  implementation,
  propagation,
  memory,
  attributes,
  auxiliary,
  problem,
  time,
  // Only in lines of the graph interface. Its partition kind, operations, logical tensors and math
  // mode are stored as primitive, auxiliary, problem and attributes.
  partition_id,
  data_formats,
  backend,
};

// The fields to use if no template was seen.
std::span<const VerboseField> primitive_fields();
std::span<const VerboseField> primitive_fields_of_1_0();   // without attributes
std::span<const VerboseField> primitive_fields_of_0();     // also without an engine
std::span<const VerboseField> primitive_fields_of_0_10();  // also without an implementation
std::span<const VerboseField> graph_fields();

struct VerboseTemplate {
  // repaired: its known names are in the order that all versions so far use, which
  // `fields` then contains. partial: it ends early, for example because another line was printed
  // between its parts. not_understood: it lacks a field without which a line cannot be interpreted.
  enum class State { understood, repaired, partial, not_understood };
  State state = State::partial;
  std::vector<VerboseField> fields;  // if understood or repaired
  // Whether lines contain timestamps; some kinds of lines never do.
  enum class Timestamps { no, yes };
  Timestamps timestamps = Timestamps::no;
};

// Parses "timestamp,operation,engine,...,exec_time": the text of a template line after its colon.
VerboseTemplate parse_template(std::string_view text);

}  // namespace bench
