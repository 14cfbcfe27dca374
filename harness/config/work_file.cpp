// SPDX-License-Identifier: Apache-2.0
#include "harness/config/work_file.hpp"

#include "base/characters.hpp"
#include "base/checked.hpp"
#include "base/expression.hpp"
#include "base/quote.hpp"
#include "harness/config/reader.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace bench {
namespace {

// The expressions of one operator. Both have values if the file has no errors.
struct WorkFormulas {
  std::optional<Expression> flops, bytes;
};
using FormulaTable = std::map<std::string, WorkFormulas, std::less<>>;  // by operator

// Returns the total number of elements of shapes such as "32x64x56x56 64". Returns nullopt if the
// text is malformed or the number too large.
std::optional<std::int64_t> count_elements(std::string_view shapes) {
  if (shapes.empty()) return std::nullopt;
  Checked sum = 0;
  Checked product = 1;
  const char* position = shapes.data();
  const char* const end = position + shapes.size();
  for (;;) {
    std::int64_t size = 0;
    if (position == end || !is_digit(*position))
      return std::nullopt;  // from_chars() would accept a sign
    const auto [stop, code] = std::from_chars(position, end, size);
    if (code != std::errc()) return std::nullopt;
    product *= size;
    if (stop == end || *stop == ' ') {
      sum += product;
      product = 1;
    } else if (*stop != 'x') {
      return std::nullopt;
    }
    if (stop == end) return sum.value();
    position = stop + 1;
  }
}

bool is_token_letter(char c) { return is_lower(c) || c == '_'; }

// Returns the number after the token `name` in parameters such as "n32c64h56".
std::optional<std::int64_t> find_token(std::string_view parameters, std::string_view name) {
  for (std::size_t begin = parameters.find(name); begin != std::string_view::npos;
       begin = parameters.find(name, begin + 1)) {
    const std::string_view number = parameters.substr(begin + name.size());
    if ((begin > 0 && is_token_letter(parameters[begin - 1])) || number.empty()) continue;
    if (!is_digit(number.front()))
      continue;  // from_chars() would read the `-` of "add-32x64" as a sign
    std::int64_t value = 0;
    const auto [stop, code] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (code == std::errc()) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> find_variable(const Activity& activity, const std::string& name) {
  if (name == "in_elements") return count_elements(activity.attributes.text(Attribute::in_shapes));
  if (name == "out_elements")
    return count_elements(activity.attributes.text(Attribute::out_shapes));
  if (const auto attribute = attribute_from_name(name)) {
    if (info(*attribute).type != AttributeType::integer) return std::nullopt;
    return activity.attributes.integer(*attribute);
  }
  return find_token(activity.attributes.text(Attribute::parameters), name);
}

std::optional<ActivityWork> evaluate_formulas(const FormulaTable& table, const Activity& activity) {
  const std::string_view op = activity.attributes.text(Attribute::op);
  const auto row = table.find(op.empty() ? std::string_view(activity.name) : op);
  if (row == table.end()) return std::nullopt;
  const auto lookup = [&](const std::string& name) { return find_variable(activity, name); };
  const auto flops = row->second.flops->evaluate(lookup);
  const auto bytes = row->second.bytes->evaluate(lookup);
  if (!flops || !bytes || *flops < 0 || *bytes < 0) return std::nullopt;
  ActivityWork work;
  work.op = row->first;
  work.flops = *flops;
  work.bytes = *bytes;
  return work;
}

std::optional<Expression> read_expression(const Reader& reader, const yaml::Node& node,
                                          std::string_view key) {
  if (node.kind != yaml::Kind::scalar) {
    reader.report_mismatch(node, key, "an expression such as 2*n*c");
    return std::nullopt;
  }
  auto parsed = Expression::parse(node.text);
  if (parsed.ok()) return *std::move(parsed);
  const Error& error = parsed.error();
  reader.report_error(
      node.location,
      fmt::format("`{}`: {} at character {} of {}", key, error.what, error.where, quote(node.text)),
      error.next);
  return std::nullopt;
}

template <auto member>
void read_formula(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                  WorkFormulas& formulas) {
  formulas.*member = read_expression(reader, node, key.name);
}

constexpr std::array<KeyRow<WorkFormulas>, 2> kOperatorKeys = {{
    {{"flops", "expression", "required", "operations of one call"},
     read_formula<&WorkFormulas::flops>},
    {{"bytes", "expression", "required", "bytes that one call must move"},
     read_formula<&WorkFormulas::bytes>},
}};

WorkFormulas read_formulas(const Reader& reader, const yaml::Entry& entry) {
  WorkFormulas formulas;
  if (!reader.is_mapping(*entry.value, entry.key)) return formulas;
  read_keys(reader, *entry.value, kOperatorKeys, formulas);
  for (const auto& row : kOperatorKeys) {
    if (entry.value->find(row.info.name) == nullptr) {
      reader.report_error(
          entry.location,
          fmt::format("the operator {} lacks `{}`", quote(entry.key), row.info.name),
          "write 0 if there are none");
    }
  }
  return formulas;
}

void read_operators(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                    FormulaTable& table) {
  if (!reader.is_mapping(node, key.name)) return;
  for (const yaml::Entry& op : node.entries) table[op.key] = read_formulas(reader, op);
}

constexpr std::array<KeyRow<FormulaTable>, 2> kFileKeys = {{
    {{"version", "`1`", "required", "version of this format", 1, 1}, check_integer},
    {{"operators", "mapping", "required", "the formulas of each operator"}, read_operators},
}};

void read_root(const Reader& reader, const yaml::Node& root, FormulaTable& table) {
  if (!reader.is_mapping(root, "a work file")) return;
  read_keys(reader, root, kFileKeys, table);
  for (const auto& row : kFileKeys) {
    if (root.find(row.info.name) == nullptr) {
      reader.report_error(root.location, fmt::format("the key `{}` is missing", row.info.name),
                          "a work file has `version: 1` and `operators:`");
    }
  }
}

}  // namespace

Result<WorkProvider, std::vector<Diagnostic>> read_work_file(std::string_view text,
                                                             const std::string& file,
                                                             WorkProvider built_in) {
  Diagnostics diagnostics;
  const Reader reader(diagnostics, diagnostics.add_file(file));
  auto table = std::make_shared<FormulaTable>();
  const auto document = reader.parse(text);
  if (document) read_root(reader, document->root(), *table);
  if (diagnostics.count() > 0) return diagnostics.list();
  return WorkProvider([table, built_in = std::move(built_in)](const Activity& activity) {
    if (built_in) {
      if (auto work = built_in(activity)) return work;
    }
    const Attributes& attributes = activity.attributes;
    const bool has_stated_work = attributes.find(Attribute::given_flops) != nullptr ||
                                 attributes.find(Attribute::given_bytes) != nullptr;
    return has_stated_work ? std::nullopt : evaluate_formulas(*table, activity);
  });
}

}  // namespace bench
