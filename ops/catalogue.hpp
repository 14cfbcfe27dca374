// SPDX-License-Identifier: Apache-2.0
// What can be measured: operators, and the backends that run them. The built-in ones, and what
// plugins add.
#pragma once

#include "base/result.hpp"
#include "ops/operator.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// The name that networks have among the operators of a backend.
inline constexpr std::string_view kNetworkOperator = "network";

struct BackendRow {
  std::string name;
  std::string device;
  std::vector<std::string> operators;  // that it serves
  // program: part of this one. plugin: made by a plugin.
  enum class Maker { program, plugin };
  Maker maker = Maker::plugin;
  std::string source = {};  // the plugin's file; empty where none is loaded that makes it
};

// What one plugin adds.
struct CatalogueAddition {
  std::string source;  // the plugin's file, for errors
  std::vector<std::shared_ptr<const Operator>> operators;
  std::vector<BackendRow> backends;
};

// Immutable. Outlives every problem and parameter set made with it: they refer to its operators.
class Catalogue {
 public:
  // Only the built-in ones.
  Catalogue();
  // With those of plugins behind them. Errors: a name that is taken (a backend may take a row whose
  // maker is a plugin, on its device), with `where` the source.
  static Result<Catalogue> extended(std::vector<CatalogueAddition> additions);

  std::span<const Operator* const> operators() const { return operators_; }
  // nullptr when unknown. Also knows aliases.
  const Operator* find(std::string_view name) const;
  std::vector<std::string_view> operator_names() const;

  std::span<const BackendRow> backends() const { return backends_; }
  const BackendRow* find_backend(std::string_view name) const;
  std::vector<std::string_view> backend_names() const;
  // The first one that serves the operator (or "network") on the device; where none does, the first
  // one of the device: it will say why not.
  std::string_view default_backend(std::string_view device, std::string_view op) const;

 private:
  Status add(CatalogueAddition addition);
  Status add_backend(BackendRow row, const std::string& source);

  std::vector<const Operator*> operators_;
  std::vector<std::shared_ptr<const Operator>> owned_;
  std::vector<BackendRow> backends_;
};

// For whoever has no plugins.
const Catalogue& built_in_catalogue();

}  // namespace bench::ops
