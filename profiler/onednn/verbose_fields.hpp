// SPDX-License-Identifier: Apache-2.0
// The fields of oneDNN's verbose lines and their order, as the library's template line says it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

// Those behind the operation.
enum class VerboseField : std::uint8_t {
  unknown,  // of a later version: skipped
  engine,
  primitive,
  implementation,
  propagation,
  memory,
  attributes,
  auxiliary,
  problem,
  time,
  // Of the graph interface alone; its partition kind, operations, logical tensors and math mode are
  // primitive, auxiliary, problem and attributes.
  partition_id,
  data_formats,
  backend,
};

// Where no template was seen.
std::span<const VerboseField> primitive_fields();
std::span<const VerboseField> primitive_fields_of_1_0();  // without attributes
std::span<const VerboseField> graph_fields();

struct VerboseTemplate {
  // partial: it ends early, as when another line fell between its parts. not_understood: it lacks a
  // field without which a line means nothing.
  enum class State { understood, partial, not_understood };
  State state = State::partial;
  std::vector<VerboseField> fields;  // when understood
  // Whether lines bear timestamps; some kinds of them never do.
  enum class Timestamps { no, yes };
  Timestamps timestamps = Timestamps::no;
};

// "timestamp,operation,engine,...,exec_time": the text of a template line behind its colon.
VerboseTemplate parse_template(std::string_view text);

}  // namespace bench
