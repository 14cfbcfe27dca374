// SPDX-License-Identifier: Apache-2.0
// The attributes that an activity can have besides its time and place. Each is declared once, with
// type and unit. That row serves files, table columns, `--aggregate-by`, traces and help.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

enum class Attribute : std::uint8_t {
  // Identity
  op,              // the tool's operator: "conv"
  primitive,       // the library's name: "convolution"
  phase,           // what a line of oneDNN reports: "exec", "create"; all are texts of VerboseKind
  implementation,  // "brgconv:avx512_core"
  engine,          // "cpu"
  propagation,     // "forward_inference"
  cache,           // result of a creation's cache lookup: "hit", "miss"
  parameters,      // parameter tokens of a case id: "n32c64h56w56k64r3s3p1"
  dtype,
  in_shapes,   // shapes of inputs and weights: "32x64x56x56 64x64x3x3"
  out_shapes,  // shapes of outputs
  layouts,     // "abcd -> acdb"
  memory_descriptors,
  primitive_attributes,  // post-ops, scales and similar, as the library names them
  auxiliary,
  problem,  // the problem as the library describes it: "mb32_ic32oc32_..."
  reason,   // why an implementation was not used, why a check failed, ...
  domain,   // domain of a user's activity; a category of aggregate tables
  // Work
  macs,
  flops,
  bytes,
  tensor_cores,  // "used (name: nvjet)", "not used (counter)"; "used (PyProf)"
  // Memory
  size_bytes,
  address,
  role,        // "weights", "scratchpad", ...
  live_bytes,  // allocated bytes after this allocation or release
  // Values
  value,         // value of a counter
  value_unit,    // "bytes", "1"
  marker_scope,  // "global", "process", "thread", "task", "marker"
  iteration,
  // Launch
  grid,
  block,
  registers,
  shared_bytes,
  occupancy,
  long_name,
  sequence,  // sequence number of a framework's autograd
  alternate_sequence,
  sub,     // index of a kernel among those with the same sequence number
  module,  // a framework's module: "torch.nn.functional"
  index,   // row number in a foreign table
  // Origin
  source_location,  // "configs/resnet.yaml:14", "net.py:73", "src/common/matmul.cpp:176"
  backtrace,        // host call stack
  line,             // number of the line in the file that was read
  thread_name,
  process_name,
  rank,
  // State
  unfinished,  // 1 if it began but never ended
  wait_ns,     // time that a device activity waited in a queue before it ran
  loaded_ns,   // how long after the start of a process the recording began
  object,      // name of the program or shared library that ran at a sample
  range,       // innermost range that was open on the thread of a sample
  cpu_ns,      // CPU time: that a sample stands for, or that a process used
  kernel_ns,   // the part of a process's CPU time that it spent in the kernel
  // Work that a foreign file states, if it differs from what the parameters imply
  given_flops,
  given_bytes,
  // Reports of benchmarks
  iterations,  // number of executions of which the time is the mean
};
inline constexpr std::size_t kAttributeCount = static_cast<std::size_t>(Attribute::iterations) + 1;

enum class AttributeType { text, integer, real };

struct AttributeInfo {
  Attribute attribute;
  std::string_view name;  // used in files, columns and options
  AttributeType type;
  std::string_view unit;  // "B", "FLOP", "ns"; empty if there is none
  std::string_view help;  // one line
};

// All attributes in the order of the enumerators.
std::span<const AttributeInfo> attributes();
const AttributeInfo& info(Attribute attribute);
std::optional<Attribute> attribute_from_name(std::string_view name);

// in the order of AttributeType
using AttributeValue = std::variant<std::string, std::int64_t, double>;

// A small map in insertion order. set() asserts that the value has the declared type.
class Attributes {
 public:
  using Entry = std::pair<Attribute, AttributeValue>;

  void set(Attribute attribute, std::string_view text);
  void set(Attribute attribute, const char* text) { set(attribute, std::string_view(text)); }
  void set(Attribute attribute, std::int64_t value);
  void set(Attribute attribute, double value);
  // Copies all attributes of `other`. They replace existing values of the same attributes.
  void merge(const Attributes& other);
  void erase(Attribute attribute);
  void clear() { entries_.clear(); }

  const AttributeValue* find(Attribute attribute) const;  // nullptr if absent
  std::string_view text(Attribute attribute) const;       // empty if absent
  std::optional<std::int64_t> integer(Attribute attribute) const;
  std::optional<double> real(Attribute attribute) const;

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace bench
