// SPDX-License-Identifier: Apache-2.0
// What an activity may say beyond its time and place: every attribute is declared once, with its
// type and unit, and that row serves files, columns of tables, `--aggregate-by`, traces and help.
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
  // What it is
  op,              // the tool's operator: "conv"
  primitive,       // the library's word: "convolution"
  phase,           // "exec", "create", "dispatch", "check", "debuginfo", "graph"
  implementation,  // "brgconv:avx512_core"
  engine,          // "cpu"
  propagation,     // "forward_inference"
  cache,           // of a creation: "hit", "miss"
  parameters,      // tokens of a case id: "n32c64h56w56k64r3s3p1"
  dtype,
  in_shapes,   // "32x64x56x56 64x64x3x3", of inputs and weights
  out_shapes,  // of outputs
  layouts,     // "abcd -> acdb"
  memory_descriptors,
  primitive_attributes,  // post-ops and the like, in the library's words
  auxiliary,
  problem,  // in the library's words: "mb32_ic32oc32_..."
  reason,   // why an implementation was not taken, a check failed, ...
  domain,   // of a user's activity; a category of aggregate tables
  // Work
  macs,
  flops,
  bytes,
  tensor_cores,  // "used (name: nvjet)", "not used (counter)"; "used (PyProf)"
  // Memory
  size_bytes,
  address,
  role,        // "weights", "scratchpad", ...
  live_bytes,  // after this allocation or release
  // Values
  value,         // of a counter
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
  sequence,  // of a framework's autograd
  alternate_sequence,
  sub,     // number of a kernel among those of one sequence number
  module,  // of a framework: "torch.nn.functional"
  index,   // number that a foreign table gives its row
  // Origin
  trace,      // "configs/resnet.yaml:14", "net.py:73"
  backtrace,  // of the host
  line,       // of the file that it was read from
  thread_name,
  process_name,
  rank,
  // State
  unfinished,  // 1: began and never ended
  wait_ns,     // of a device activity: queued before it ran
  // Work that a foreign file gives, where its parameters have another one
  given_flops,
  given_bytes,
};
inline constexpr std::size_t kAttributeCount = static_cast<std::size_t>(Attribute::given_bytes) + 1;

enum class AttributeType { text, integer, real };

struct AttributeInfo {
  Attribute attribute;
  std::string_view name;  // in files, columns and options
  AttributeType type;
  std::string_view unit;  // "B", "FLOP", "ns"; empty: none
  std::string_view help;  // one line
};

// In the order of the enumerators.
std::span<const AttributeInfo> attributes();
const AttributeInfo& info(Attribute attribute);
std::optional<Attribute> attribute_from_name(std::string_view name);

using AttributeValue = std::variant<std::string, std::int64_t, double>;  // order of AttributeType

// A small map in order of insertion. Setting asserts the declared type.
class Attributes {
 public:
  using Entry = std::pair<Attribute, AttributeValue>;

  void set(Attribute attribute, std::string_view text);
  void set(Attribute attribute, const char* text) { set(attribute, std::string_view(text)); }
  void set(Attribute attribute, std::int64_t value);
  void set(Attribute attribute, double value);
  // Sets all that the other has, in place of what is here of the same attribute.
  void merge(const Attributes& other);
  void erase(Attribute attribute);
  void clear() { entries_.clear(); }

  const AttributeValue* find(Attribute attribute) const;  // nullptr when absent
  std::string_view text(Attribute attribute) const;       // empty when absent
  std::optional<std::int64_t> integer(Attribute attribute) const;
  std::optional<double> real(Attribute attribute) const;

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  AttributeValue& slot(Attribute attribute);
  std::vector<Entry> entries_;
};

}  // namespace bench
