// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_fields.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

using enum VerboseField;

struct FieldRow {
  std::string_view name;
  VerboseField field;
};

// The first rows are in the order of kPrimitive.
constexpr std::array<FieldRow, 16> kFieldNames = {{
    {"engine", engine},
    {"primitive", primitive},
    {"implementation", implementation},
    {"prop_kind", propagation},
    {"memory_descriptors", memory},
    {"attributes", attributes},
    {"auxiliary", auxiliary},
    {"problem_desc", problem},
    {"exec_time", time},
    {"partition_id", partition_id},
    {"partition_kind", primitive},
    {"op_names", auxiliary},
    {"data_formats", data_formats},
    {"logical_tensors", problem},
    {"fpmath_mode", attributes},
    {"backend", backend},
}};

constexpr std::array<VerboseField, 9> kPrimitive = {
    engine, primitive, implementation, propagation, memory, attributes, auxiliary, problem, time};
constexpr std::array<VerboseField, 8> kPrimitive10 = {
    engine, primitive, implementation, propagation, memory, auxiliary, problem, time};
constexpr std::array<VerboseField, 7> kPrimitive0 = {primitive, implementation, propagation, memory,
                                                     auxiliary, problem,        time};
constexpr std::array<VerboseField, 6> kPrimitive010 = {primitive, propagation, memory,
                                                       auxiliary, problem,     time};
constexpr std::array<VerboseField, 9> kGraph = {
    engine, partition_id, primitive, auxiliary, data_formats, problem, attributes, backend, time};

VerboseField field_named(std::string_view name) {
  const auto* row = std::ranges::find(kFieldNames, name, &FieldRow::name);
  return row == kFieldNames.end() ? unknown : row->field;
}

bool has(std::span<const VerboseField> fields, VerboseField field) {
  return std::ranges::find(fields, field) != fields.end();
}

// Whether all fields that are known stand where all versions so far print them.
bool follows_usual_order(std::span<const VerboseField> fields) {
  if (fields.size() > kPrimitive.size()) return false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] != unknown && fields[i] != kPrimitive[i]) return false;
  }
  return true;
}

// Whether the fields are a beginning of the usual order. Of the last one, `last_name`, a part may
// be missing.
bool is_cut(std::span<const VerboseField> fields, std::string_view last_name) {
  if (fields.empty()) return true;
  const auto complete = fields.first(fields.size() - 1);
  return follows_usual_order(fields) && !has(complete, unknown) &&
         kFieldNames[complete.size()].name.starts_with(last_name) &&
         (fields.size() < kPrimitive.size() || fields.back() == unknown);
}

}  // namespace

std::span<const VerboseField> primitive_fields() { return kPrimitive; }
std::span<const VerboseField> primitive_fields_of_1_0() { return kPrimitive10; }
std::span<const VerboseField> primitive_fields_of_0() { return kPrimitive0; }
std::span<const VerboseField> primitive_fields_of_0_10() { return kPrimitive010; }
std::span<const VerboseField> graph_fields() { return kGraph; }

VerboseTemplate parse_template(std::string_view text) {
  VerboseTemplate result;
  bool is_after_operation = false;
  std::string_view name;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    name = text.substr(0, end);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (is_after_operation) result.fields.push_back(field_named(name));
    if (name == "operation") is_after_operation = true;
    if (name == "timestamp") result.timestamps = VerboseTemplate::Timestamps::yes;
  }
  const std::span<const VerboseField> fields = result.fields;
  const bool is_complete = has(fields, engine) && has(fields, primitive) && has(fields, time);
  if (is_complete) {
    result.state = VerboseTemplate::State::understood;
  } else if (!is_after_operation || is_cut(fields, name)) {
    result.state = VerboseTemplate::State::partial;
  } else if (fields.size() == kPrimitive.size() && follows_usual_order(fields)) {
    result.state = VerboseTemplate::State::repaired;
    result.fields.assign(kPrimitive.begin(), kPrimitive.end());
  } else {
    result.state = VerboseTemplate::State::not_understood;
  }
  return result;
}

}  // namespace bench
