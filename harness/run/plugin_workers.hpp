// SPDX-License-Identifier: Apache-2.0
// The coordinator's access to plugins. The coordinator does not load plugins. It starts one worker
// per plugin, which loads the plugin, and asks this worker. If the plugin crashes, only the worker
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
  // Workers are `PROGRAM worker --plugin FILE`. `env` outlives this object and the registries.
  PluginWorkers(std::string worker_program, Env& env)
      : program_(std::move(worker_program)), env_(env) {}

  // Returns the built-in operators and those of the plugins; the models of the latter ask their
  // worker. Returns an error (`where`: the file) if a plugin cannot be loaded, is incompatible, or
  // crashed.
  Result<std::shared_ptr<const ops::OperatorRegistry>> registry(
      const std::vector<std::string>& files);
  // Ends the workers, because none may run during timing. A worker that is needed again is
  // restarted.
  void rest();

 private:
  std::string program_;
  Env& env_;
  std::vector<std::shared_ptr<PluginWorker>> workers_;
};

}  // namespace bench
