// SPDX-License-Identifier: Apache-2.0
// Plugins as the coordinator sees them: it never loads one, but asks a worker that has, one for
// each plugin, so that a crash there is an error here.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "ops/catalogue.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench {

class PluginWorker;

class PluginWorkers {
 public:
  // Workers are `PROGRAM worker --plugin FILE`. `env` outlives this and the catalogues.
  PluginWorkers(std::string worker_program, Env& env)
      : program_(std::move(worker_program)), env_(env) {}

  // Built-in operators and those of the plugins; the model of the latter asks their worker. Errors
  // (`where`: the file): it cannot be loaded, does not fit, or crashed.
  Result<std::shared_ptr<const ops::Catalogue>> catalogue(const std::vector<std::string>& files);
  // Ends the workers: nothing of them must run while something is timed. One that is asked again
  // starts anew.
  void rest();

 private:
  std::string program_;
  Env& env_;
  std::vector<std::shared_ptr<PluginWorker>> workers_;
};

}  // namespace bench
