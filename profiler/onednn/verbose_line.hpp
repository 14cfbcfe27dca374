// SPDX-License-Identifier: Apache-2.0
// Decodes the lines that oneDNN prints in verbose mode. Depends only on the text, not on files or
// clocks. Formats: 0.10 (no implementation), 0.x (no engine), 1.0 (no attributes), 1.1 to 2.2, 2.3
// to 3.2 (`prim_template:` line, timestamp), 3.3 to 3.5 (interface before the operation,
// `template:` line), 3.6 and later (`v1`). All fields are those of oneDNN's src/common/verbose.cpp.
// The order of fields follows the template line if there was one. Numbers may have a decimal comma,
// as a program's locale selects it.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "profiler/onednn/memory_descriptor.hpp"
#include "profiler/onednn/verbose_fields.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What a line reports. The text of a kind is the attribute `phase` of its activity; it is empty if
// such lines are not activities.
BENCH_ENUM(VerboseKind,  //
           (other, ""),  // not a line of oneDNN: a program's own output
           (info, ""),   // facts about library and machine, templates
           exec,         // execution of a primitive
           external,  // "exec:external": execution of another library's routine within an execution
           create,    // creation of a primitive
           create_nested,  // nested in a creation, whose time includes it
           dispatch,       // "create:dispatch": an implementation that was not used
           check,          // "create:check", "exec:check": rejected or doubtful arguments
           error, warning, debuginfo,
           graph,          // compilation or execution of a partition of the graph interface
           (partial, ""),  // ends before its last field; the rest may follow as the next line
           (malformed, ""),
           (unknown, "")  // a format or operation that this version does not support
);

// Texts are views into the decoded line, except the engine "cpu" of MKL-DNN 0.x. They are empty if
// the line lacks them.
struct VerboseLine {
  VerboseKind kind = VerboseKind::other;
  std::string_view marker;           // "onednn_verbose", "dnnl_verbose", "mkldnn_verbose"
  std::string_view format;           // "v1"; empty before 3.6
  std::optional<Nanoseconds> start;  // since 1970, if timestamps are enabled
  std::string_view interface;        // "primitive", "graph", "ukernel", "common"; since 3.3
  std::string_view operation;        // "exec", "create:cache_hit"
  std::string_view cache;            // for a creation: "hit", "miss", "persistent_cache_hit"

  // For exec, external, create and create_nested, and for the lines with a message (below) in which
  // the library prints them. A graph line has other fields at these positions: partition kind,
  // operations, logical tensors, backend.
  std::string_view engine;  // "cpu", "gpu:0", "cpu2gpu"
  std::string_view primitive;
  std::string_view implementation;
  std::string_view propagation;
  std::string_view memory_text;
  std::string_view attributes;
  std::string_view auxiliary;
  std::string_view problem;
  std::optional<Nanoseconds> time;
  std::span<const MemoryDescriptor> memory;  // parsed memory_text; valid until the next decode()

  // For dispatch, check, error, warning, debuginfo. Of a line "exec:external,NAME,TIME", which has
  // none of the fields above except the time, NAME is the component.
  std::string_view component;  // "matmul"
  std::string_view message;    // "unsupported isa"
  std::string_view location;   // in the library's source code: "src/common/matmul.cpp:176"

  std::string_view text;  // for info: the text after "info,"
  std::string_view rest;  // from the next record on the same line; empty if there is none
  // Whether the text behind the record shows that it is complete: a carriage return, a quote, a
  // tag.
  bool is_closed = false;
  // For partial, malformed and unknown: the reason. For info: names the fields of a template that
  // this version does not support and skips.
  std::string fault;
};

// Returns the position of the next oneDNN record at or after `from`, or npos.
std::size_t find_verbose(std::string_view text, std::size_t from = 0);

// Remembers templates and facts of the decoded lines. Not thread-safe.
class VerboseDecoder {
 public:
  // Decodes the first record in `line` (without newline) and skips the text before its marker. The
  // result is valid until the next call, and only while `line` exists.
  const VerboseLine& decode(std::string_view line);
  // "library.onednn.version", ".commit", ".isa", ".threads", ".cpu_runtime", ".gpu_runtime", ...
  const std::map<std::string, std::string>& facts() const { return facts_; }
  // Timestamps setting of the last template of primitives, or nullopt if there was none.
  std::optional<VerboseTemplate::Timestamps> timestamps() const {
    return primitive_template_ ? std::optional(primitive_template_->timestamps) : std::nullopt;
  }

 private:
  void decode_record(std::string_view record);
  void decode_operation(std::string_view text);
  void decode_refusal(std::string_view text);
  void decode_kind(std::string_view text);
  void decode_info(std::string_view text);
  void decode_template(std::string_view text);
  void decode_execution(std::string_view text);
  void split_execution(std::string_view text);
  bool decode_external_kernel();
  bool decode_graph_kernel();
  void join_decimals(std::span<const VerboseField> fields);
  void join_split_time(std::size_t usual_parts);
  void join_with_next(std::size_t part);
  void decode_graph(std::string_view text);
  void decode_message(std::string_view text);
  std::optional<std::span<const VerboseField>> execution_fields();
  std::optional<std::span<const VerboseField>> find_shorter_fields(
      std::span<const VerboseField> usual);
  void set_field(VerboseField field, std::string_view text);
  void set_fields(std::span<const VerboseField> fields);
  void check_execution();
  void fail(VerboseKind kind, std::string fault);

  VerboseLine line_;
  std::vector<std::string_view> parts_;  // parts of the line between commas
  std::vector<MemoryDescriptor> memory_;
  std::optional<VerboseTemplate> primitive_template_;
  std::optional<VerboseTemplate> graph_template_;
  std::map<std::string, std::string> facts_;
};

}  // namespace bench
