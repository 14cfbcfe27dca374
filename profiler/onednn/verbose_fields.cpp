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
constexpr std::array<VerboseField, 9> kGraph = {
    engine, partition_id, primitive, auxiliary, data_formats, problem, attributes, backend, time};

VerboseField field_named(std::string_view name) {
  const auto* row = std::ranges::find(kFieldNames, name, &FieldRow::name);
  return row == kFieldNames.end() ? unknown : row->field;
}

bool has(std::span<const VerboseField> fields, VerboseField field) {
  return std::ranges::find(fields, field) != fields.end();
}

}  // namespace

std::span<const VerboseField> primitive_fields() { return kPrimitive; }
std::span<const VerboseField> primitive_fields_of_1_0() { return kPrimitive10; }
std::span<const VerboseField> graph_fields() { return kGraph; }

VerboseTemplate parse_template(std::string_view text) {
  VerboseTemplate result;
  bool is_after_operation = false;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    const std::string_view name = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (is_after_operation) result.fields.push_back(field_named(name));
    if (name == "operation") is_after_operation = true;
    if (name == "timestamp") result.timestamps = VerboseTemplate::Timestamps::yes;
  }
  const std::span<const VerboseField> fields = result.fields;
  // A truncated template is empty or a prefix of the order that all versions so far use.
  const bool is_prefix = std::ranges::equal(
      fields, primitive_fields().first(std::min(fields.size(), kPrimitive.size())));
  const bool is_complete = has(fields, engine) && has(fields, primitive) && has(fields, time);
  if (is_complete) {
    result.state = VerboseTemplate::State::understood;
  } else if (!is_after_operation || (is_prefix && fields.size() < kPrimitive.size())) {
    result.state = VerboseTemplate::State::partial;
  } else {
    result.state = VerboseTemplate::State::not_understood;
  }
  return result;
}

}  // namespace bench
