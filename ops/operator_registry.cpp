// SPDX-License-Identifier: Apache-2.0
#include "ops/operator_registry.hpp"

#include "ops/blas_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench::ops {
namespace {

// In order of preference.
std::vector<BackendRow> built_in_backends() {
  BackendRow onednn{"onednn", "cpu", operators_on("onednn"), BackendRow::Maker::program};
  onednn.operators.emplace_back(kNetworkOperator);
  BackendRow cudnn{"cudnn", "cuda", operators_on("cudnn")};
  cudnn.operators.emplace_back(kNetworkOperator);
  std::vector<BackendRow> rows = {
      std::move(onednn), {"native", "cpu", operators_on("native"), BackendRow::Maker::program}};
  for (const BlasLibrary& library : blas_libraries()) {
    rows.push_back({std::string(library.backend), "cpu", operators_on(library.backend),
                    BackendRow::Maker::program});
  }
  rows.push_back(std::move(cudnn));
  rows.push_back({"cublaslt", "cuda", operators_on("cublaslt")});
  rows.push_back({"cublas", "cuda", operators_on("cublas")});
  return rows;
}

bool has_operator(const BackendRow& row, std::string_view op) {
  return std::ranges::find(row.operators, op) != row.operators.end();
}

}  // namespace

OperatorRegistry::OperatorRegistry()
    : operators_(all_operators().begin(), all_operators().end()), backends_(built_in_backends()) {}

Result<OperatorRegistry> OperatorRegistry::extended(std::vector<PluginAddition> additions) {
  OperatorRegistry result;
  for (PluginAddition& addition : additions) {
    BENCH_RETURN_IF_ERROR(result.add(std::move(addition)));
  }
  return result;
}

Status OperatorRegistry::add(PluginAddition addition) {
  for (std::shared_ptr<const Operator>& op : addition.operators) {
    if (op->name == kNetworkOperator || find(op->name) != nullptr) {
      const bool is_built_in = op->name == kNetworkOperator || find_operator(op->name) != nullptr;
      return Error{fmt::format("its operator `{}` has the name of {}", op->name,
                               is_built_in ? "a built-in one" : "another plugin's operator"),
                   addition.source, "rename it in the plugin"};
    }
    operators_.push_back(op.get());
    plugin_operators_.push_back(std::move(op));
  }
  for (BackendRow& row : addition.backends) {
    BENCH_RETURN_IF_ERROR(add_backend(std::move(row), addition.source));
  }
  return Done{};
}

Status OperatorRegistry::add_backend(BackendRow row, const std::string& source) {
  row.source = source;
  const auto existing = std::ranges::find(backends_, row.name, &BackendRow::name);
  if (existing == backends_.end()) {
    backends_.push_back(std::move(row));
    return Done{};
  }
  const bool can_take_over =
      existing->maker == BackendRow::Maker::plugin && existing->source.empty();
  if (!can_take_over || existing->device != row.device) {
    const std::string owner =
        existing->source.empty() ? "a built-in one" : fmt::format("one of {}", existing->source);
    return Error{fmt::format("its backend `{}` for device {} has the name of {} for device {}",
                             row.name, row.device, owner, existing->device),
                 source, "rename it in the plugin"};
  }
  existing->source = source;
  for (std::string& op : row.operators) {
    if (!has_operator(*existing, op)) existing->operators.push_back(std::move(op));
  }
  return Done{};
}

const Operator* OperatorRegistry::find(std::string_view name) const {
  if (const Operator* built_in = find_operator(name)) return built_in;
  const auto row = std::ranges::find(operators_, name, &Operator::name);
  return row == operators_.end() ? nullptr : *row;
}

std::vector<std::string_view> OperatorRegistry::operator_names() const {
  std::vector<std::string_view> names;
  for (const Operator* op : operators_) names.push_back(op->name);
  return names;
}

const BackendRow* OperatorRegistry::find_backend(std::string_view name) const {
  const auto row = std::ranges::find(backends_, name, &BackendRow::name);
  return row == backends_.end() ? nullptr : &*row;
}

std::vector<std::string_view> OperatorRegistry::backend_names() const {
  std::vector<std::string_view> names;
  for (const BackendRow& row : backends_) names.push_back(row.name);
  return names;
}

std::string_view OperatorRegistry::default_backend(std::string_view device,
                                                   std::string_view op) const {
  // A built-in operator states its order. Plugins add others.
  if (const Operator* built_in = find_operator(op)) {
    for (const std::string_view name : built_in->cpu) {
      const BackendRow* row = find_backend(name);
      if (row != nullptr && row->device == device) return row->name;
    }
  }
  std::string_view first_backend;
  for (const BackendRow& row : backends_) {
    if (row.device != device) continue;
    if (has_operator(row, op)) return row.name;
    if (first_backend.empty()) first_backend = row.name;
  }
  return first_backend;
}

const OperatorRegistry& built_in_operators() {
  static const OperatorRegistry kRegistry;
  return kRegistry;
}

}  // namespace bench::ops
