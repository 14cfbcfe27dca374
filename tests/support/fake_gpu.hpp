// SPDX-License-Identifier: Apache-2.0
// `bench run` on the GPU of tests/fakes/fake_gpu.
#pragma once

#include "tests/support/program.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bench::test {

// Writes the configuration as gpu.yaml and the device's script into `folder`, and runs them into
// r.jsonl; `more` are further arguments.
inline ProgramResult run_on_fake_gpu(const TemporaryFolder& folder, const std::string& config,
                                     const std::string& script,
                                     const std::vector<std::string>& more = {}) {
  folder.write("gpu.yaml", config);
  std::vector<std::string> command = {BENCH_BINARY, "run",     "gpu.yaml",
                                      "--out",      "r.jsonl", "--force"};
  command.insert(command.end(), more.begin(), more.end());
  return run_program({std::move(command),
                      folder.path(),
                      {{"BENCH_CUDA_PLUGIN", BENCH_FAKE_GPU},
                       {"FAKE_GPU_SCRIPT", folder.write("script.json", script)}}});
}

}  // namespace bench::test
