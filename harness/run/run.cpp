// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run.hpp"

#include "base/printable.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/run/coordinator.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/store/store.hpp"

#include <ostream>

namespace bench {

Result<RunSummary> execute_plan(const Plan& plan, const RunOptions& options, RecordSink& sink,
                                RunObserver& observer, Env& env) {
  const SystemRoot root{};
  const CpuFacts cpu = read_cpu(root);
  const WorkerProgram program{options.worker_program, options.worker_environment, allowed_cores(),
                              options.under, plan.plugins};
  CoordinatorParts parts;
  parts.cores = program.cores;
  parts.last_level_cache = cpu.last_level;
  parts.environment = read_environment(root, cpu);
  if (const auto environment = environment_of(program, std::nullopt)) {
    parts.environment.details.merge(environment_details(*environment));
  }
  int threads = 0;
  for (const std::vector<int>& core : program.cores) threads += static_cast<int>(core.size());
  parts.environment.threads = threads;
  Devices devices([&] {
    return ask_cuda(options.worker_program, options.worker_environment,
                    ops::cuda::ProbeExtent::devices, env);
  });
  parts.device_missing = [&](const CaseKey& key) { return devices.missing(key); };
  parts.device_details = [&] { return devices.details(); };
  if (options.store) {
    parts.levels = BaselineStore(*options.store).quiet_levels(parts.environment.machine_class);
  }
  parts.start_worker = [&](std::optional<int> count) {
    return start_process_link(program, count, *env.clock,
                              [&](const std::string& text) { print_lines(*env.err, text); });
  };
  return execute_plan_with(plan, options, parts, sink, observer, env);
}

}  // namespace bench
