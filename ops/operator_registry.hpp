// SPDX-License-Identifier: Apache-2.0
// The operators that can be measured and the backends that run them: the built-in ones and those of
// plugins.
#pragma once

#include "base/result.hpp"
#include "ops/operator.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// The name of networks among a backend's operators.
inline constexpr std::string_view kNetworkOperator = "network";

struct BackendRow {
  std::string name;
  std::string device;
  std::vector<std::string> operators;  // operators that it serves
  // program: part of this program. plugin: created by a plugin.
  enum class Maker { program, plugin };
  Maker maker = Maker::plugin;
  std::string source = {};  // the plugin's file; empty if no loaded plugin creates it
};

// What one plugin adds.
struct PluginAddition {
  std::string source;  // the plugin's file, for errors
  std::vector<std::shared_ptr<const Operator>> operators;
  std::vector<BackendRow> backends;
};

// Immutable. It must outlive every problem and parameter set created with it, because they refer to
// its operators.
class OperatorRegistry {
 public:
  // Contains only the built-in operators and backends.
  OperatorRegistry();
  // Appends those of plugins to the built-in ones. Error: a name is taken; `where` is the source. A
  // backend may take over a row with Maker::plugin on the same device.
  static Result<OperatorRegistry> extended(std::vector<PluginAddition> additions);

  std::span<const Operator* const> operators() const { return operators_; }
  // Returns nullptr if the name is unknown. Also finds aliases.
  const Operator* find(std::string_view name) const;
  std::vector<std::string_view> operator_names() const;

  std::span<const BackendRow> backends() const { return backends_; }
  const BackendRow* find_backend(std::string_view name) const;
  std::vector<std::string_view> backend_names() const;
  // Returns the first backend that serves the operator (or "network") on the device: in the order
  // of Operator::cpu, then in the order of the table. If none does, returns the first backend of
  // the device, which then refuses with a reason.
  std::string_view default_backend(std::string_view device, std::string_view op) const;

 private:
  Status add(PluginAddition addition);
  Status add_backend(BackendRow row, const std::string& source);

  std::vector<const Operator*> operators_;
  std::vector<std::shared_ptr<const Operator>> plugin_operators_;
  std::vector<BackendRow> backends_;
};

// For callers without plugins.
const OperatorRegistry& built_in_operators();

}  // namespace bench::ops
