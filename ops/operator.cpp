// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.hpp"

#include <algorithm>
#include <array>

namespace bench::ops {
namespace {

struct Alias {
  std::string_view name;
  std::string_view target;
};

constexpr std::array<Alias, 1> kAliases = {{{"inner_product", "gemm"}}};

}  // namespace

const Operator* find_operator(std::string_view name) {
  const auto* alias = std::ranges::find(kAliases, name, &Alias::name);
  if (alias != kAliases.end()) name = alias->target;
  const std::span<const Operator* const> table = all_operators();
  const auto row = std::ranges::find(table, name, &Operator::name);
  return row == table.end() ? nullptr : *row;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  for (const Operator* op : all_operators()) names.push_back(op->name);
  return names;
}

std::vector<std::string> operators_on(std::string_view backend) {
  std::vector<std::string> names;
  for (const Operator* op : all_operators()) {
    const bool is_served = std::ranges::find(op->cpu, backend) != op->cpu.end() ||
                           std::ranges::find(op->cuda, backend) != op->cuda.end();
    if (is_served) names.emplace_back(op->name);
  }
  return names;
}

}  // namespace bench::ops
