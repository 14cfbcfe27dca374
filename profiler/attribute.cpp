// SPDX-License-Identifier: Apache-2.0
// table: one row per attribute
#include "profiler/attribute.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

namespace bench {
namespace {

using enum AttributeType;

constexpr std::array<AttributeInfo, kAttributeCount> kAttributes = {{
    {Attribute::op, "op", text, "", "operator of this tool: conv, gemm, ..."},
    {Attribute::primitive, "primitive", text, "", "the library's name: convolution, reorder, ..."},
    {Attribute::phase, "phase", text, "", "exec, create, dispatch, check, debuginfo or graph"},
    {Attribute::implementation, "implementation", text, "", "the library's name of what ran"},
    {Attribute::engine, "engine", text, "", "cpu or gpu, as the library names it"},
    {Attribute::propagation, "propagation", text, "", "forward_inference, backward_data, ..."},
    {Attribute::cache, "cache", text, "", "cache lookup of a creation: hit or miss"},
    {Attribute::parameters, "parameters", text, "", "parameters as in a case id"},
    {Attribute::dtype, "dtype", text, "", "data type: f32, bf16, ..."},
    {Attribute::in_shapes, "in_shapes", text, "", "shapes of inputs and weights"},
    {Attribute::out_shapes, "out_shapes", text, "", "shapes of outputs"},
    {Attribute::layouts, "layouts", text, "", "layouts of inputs and outputs"},
    {Attribute::memory_descriptors, "memory_descriptors", text, "",
     "memory descriptors as the library prints them"},
    {Attribute::primitive_attributes, "primitive_attributes", text, "",
     "post-ops, scales and similar, as the library prints them"},
    {Attribute::auxiliary, "auxiliary", text, "",
     "algorithm and similar, as the library prints them"},
    {Attribute::problem, "problem", text, "", "the problem as the library prints it"},
    {Attribute::reason, "reason", text, "",
     "why an implementation was not taken, or a check failed"},
    {Attribute::domain, "domain", text, "", "domain of a user's activity"},
    {Attribute::macs, "macs", integer, "MAC", "multiply-accumulates"},
    {Attribute::flops, "flops", integer, "FLOP", "floating-point operations, convention bench-1"},
    {Attribute::bytes, "bytes", integer, "B", "compulsory bytes read and written"},
    {Attribute::tensor_cores, "tensor_cores", text, "",
     "used or not used, with the evidence; for an operator: eligible or not, with the rule"},
    {Attribute::size_bytes, "size_bytes", integer, "B", "size of an allocation or a copy"},
    {Attribute::address, "address", integer, "", "address of an allocation"},
    {Attribute::role, "role", text, "", "what a buffer is for: weights, scratchpad, ..."},
    {Attribute::live_bytes, "live_bytes", integer, "B", "allocated bytes after this one"},
    {Attribute::value, "value", real, "", "value of a counter"},
    {Attribute::value_unit, "value_unit", text, "", "unit of a counter's value"},
    {Attribute::marker_scope, "marker_scope", text, "",
     "extent of an instant: global, process, thread, task or marker"},
    {Attribute::iteration, "iteration", integer, "", "iteration of the case, from 0"},
    {Attribute::grid, "grid", text, "", "blocks of a launch: 32,4,1"},
    {Attribute::block, "block", text, "", "threads of a block: 128,1,1"},
    {Attribute::registers, "registers", integer, "", "registers per thread"},
    {Attribute::shared_bytes, "shared_bytes", integer, "B", "shared memory per block"},
    {Attribute::occupancy, "occupancy", real, "", "theoretical occupancy, 0 to 1"},
    {Attribute::long_name, "long_name", text, "", "name with all template arguments"},
    {Attribute::sequence, "sequence", integer, "", "a framework's sequence number"},
    {Attribute::alternate_sequence, "alternate_sequence", text, "",
     "a framework's further sequence numbers"},
    {Attribute::sub, "sub", integer, "",
     "index of a kernel among those with the same sequence number"},
    {Attribute::module, "module", text, "", "a framework's module: torch.nn.functional"},
    {Attribute::index, "index", integer, "", "row number in a foreign table"},
    {Attribute::source_location, "trace", text, "",
     "file:line where it originates: of the case, of the program, of oneDNN"},
    {Attribute::backtrace, "backtrace", text, "", "host call stack"},
    {Attribute::line, "line", integer, "", "line number in the source file"},
    {Attribute::thread_name, "thread_name", text, "", "name of the thread"},
    {Attribute::process_name, "process_name", text, "", "name of the process"},
    {Attribute::rank, "rank", integer, "", "rank in a distributed job"},
    {Attribute::unfinished, "unfinished", integer, "", "1 if it began but never ended"},
    {Attribute::wait_ns, "wait_ns", integer, "ns", "time in a queue before it ran"},
    {Attribute::loaded_ns, "loaded_ns", integer, "ns",
     "of a process: how long after its start the recording began"},
    {Attribute::object, "object", text, "",
     "of a sample: the program or shared library that ran; [jit]: generated code"},
    {Attribute::range, "range", text, "", "of a sample: the innermost range that was open"},
    {Attribute::cpu_ns, "cpu_ns", integer, "ns",
     "CPU time: that a sample stands for, or that a process used"},
    {Attribute::kernel_ns, "kernel_ns", integer, "ns",
     "of a process: the part of its CPU time that it spent in the kernel"},
    {Attribute::given_flops, "given_flops", integer, "FLOP",
     "stated by the file, if different from what the parameters imply"},
    {Attribute::given_bytes, "given_bytes", integer, "B",
     "stated by the file, if different from what the parameters imply"},
    {Attribute::iterations, "iterations", integer, "",
     "of an entry of a benchmark's report: executions of which the time is the mean"},
}};

// The rows are in the order of the enumerators.
constexpr bool in_order() {
  for (std::size_t i = 0; i < kAttributes.size(); ++i) {
    if (static_cast<std::size_t>(kAttributes[i].attribute) != i) return false;
  }
  return true;
}
static_assert(in_order());

// Sorted by name, because reading a file looks up every field of every record.
struct NameIndex {
  std::array<Attribute, kAttributeCount> order{};
};
constexpr NameIndex make_index() {
  NameIndex index;
  for (std::size_t i = 0; i < kAttributeCount; ++i) index.order[i] = kAttributes[i].attribute;
  std::sort(index.order.begin(), index.order.end(), [](Attribute a, Attribute b) {
    return kAttributes[static_cast<std::size_t>(a)].name <
           kAttributes[static_cast<std::size_t>(b)].name;
  });
  return index;
}
constexpr NameIndex kByName = make_index();

using Entries = std::vector<Attributes::Entry>;

// Replaces the value of an attribute or appends it.
template <class Value>
void set_entry(Entries& entries, Attribute attribute, Value value) {
  for (Attributes::Entry& entry : entries) {
    if (entry.first != attribute) continue;
    entry.second = std::move(value);
    return;
  }
  constexpr std::size_t kUsual = 8;  // attributes of an activity
  if (entries.empty()) entries.reserve(kUsual);
  entries.emplace_back(attribute, std::move(value));
}

}  // namespace

std::span<const AttributeInfo> attributes() { return kAttributes; }

const AttributeInfo& info(Attribute attribute) {
  return kAttributes[static_cast<std::size_t>(attribute)];
}

std::optional<Attribute> attribute_from_name(std::string_view name) {
  const auto& order = kByName.order;
  const auto found =
      std::lower_bound(order.begin(), order.end(), name,
                       [](Attribute a, std::string_view n) { return info(a).name < n; });
  if (found == order.end() || info(*found).name != name) return std::nullopt;
  return *found;
}

void Attributes::set(Attribute attribute, std::string_view text) {
  assert(info(attribute).type == AttributeType::text);
  set_entry(entries_, attribute, std::string(text));
}

void Attributes::set(Attribute attribute, std::int64_t value) {
  assert(info(attribute).type == AttributeType::integer);
  set_entry(entries_, attribute, value);
}

void Attributes::set(Attribute attribute, double value) {
  assert(info(attribute).type == AttributeType::real);
  set_entry(entries_, attribute, value);
}

void Attributes::merge(const Attributes& other) {
  for (const auto& [attribute, value] : other.entries_) set_entry(entries_, attribute, value);
}

void Attributes::erase(Attribute attribute) {
  std::erase_if(entries_, [=](const Entry& entry) { return entry.first == attribute; });
}

const AttributeValue* Attributes::find(Attribute attribute) const {
  for (const Entry& entry : entries_) {
    if (entry.first == attribute) return &entry.second;
  }
  return nullptr;
}

std::string_view Attributes::text(Attribute attribute) const {
  const AttributeValue* value = find(attribute);
  return value != nullptr ? std::string_view(std::get<std::string>(*value)) : std::string_view();
}

std::optional<std::int64_t> Attributes::integer(Attribute attribute) const {
  const AttributeValue* value = find(attribute);
  if (value == nullptr) return std::nullopt;
  return std::get<std::int64_t>(*value);
}

std::optional<double> Attributes::real(Attribute attribute) const {
  const AttributeValue* value = find(attribute);
  if (value == nullptr) return std::nullopt;
  return std::get<double>(*value);
}

}  // namespace bench
