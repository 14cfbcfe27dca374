// SPDX-License-Identifier: Apache-2.0
// Gives the coordinator access to plugins without loading them. The coordinator starts one worker
// per plugin, which loads the plugin and answers requests. If the plugin crashes, only the worker
// ends, and the coordinator receives an error.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "ops/operator_registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench {

class PluginWorker;

class PluginWorkers {
 public:
  // Workers run `PROGRAM worker --plugin FILE`. `env` must outlive this object and the registries.
  PluginWorkers(std::string worker_program, Env& env)
      : program_(std::move(worker_program)), env_(env) {}

  // Returns the built-in operators and those of the plugins. The models of a plugin's operators ask
  // its worker. Returns an error (`where`: the file) if a plugin cannot be loaded, is incompatible,
  // or crashed.
  Result<std::shared_ptr<const ops::OperatorRegistry>> registry(
      const std::vector<std::string>& files);
  // Ends all workers, because they must not run during measurements. A later request restarts its
  // worker.
  void rest();

 private:
  std::string program_;
  Env& env_;
  std::vector<std::shared_ptr<PluginWorker>> workers_;
};

}  // namespace bench
