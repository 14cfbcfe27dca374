// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/injection/traced_process.hpp"
#include "profiler/capture/spool_format.hpp"

namespace bench::ops::cuda {
namespace {

void apply(const char* name, const char* variable, const Variables& variables,
           ProfileSwitches& switches) {
  const auto value = variables(variable);
  ProfileSwitches changed = switches;
  if (value && find_switch(name)->apply(changed, *value).ok()) switches = changed;
}

}  // namespace

std::optional<InjectionSettings> injection_settings(const Variables& variables) {
  const auto spool = variables(capture::kSpoolVariable);
  if (!spool || spool->empty()) return std::nullopt;
  ProfileSwitches switches;
  apply("kinds", capture::kKindsVariable, variables, switches);
  apply("dump_period", capture::kDumpPeriodVariable, variables, switches);
  // Always recorded: they attribute kernels to operators.
  switches.kinds.insert(RecordGroup::operators);
  return InjectionSettings{*spool, switches.kinds, switches.dump_period};
}

}  // namespace bench::ops::cuda
