// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/injection/traced_process.hpp"
#include "profiler/capture/spool_format.hpp"

namespace bench::ops::cuda {
namespace {

// Sets a switch to the value of an environment variable. Ignores missing and invalid values.
void apply_variable(const char* name, const char* variable, const Variables& variables,
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
  apply_variable("kinds", capture::kKindsVariable, variables, switches);
  apply_variable("dump_period", capture::kDumpPeriodVariable, variables, switches);
  // This group is always recorded, because it attributes kernels to operators.
  switches.groups.insert(RecordGroup::operators);
  return InjectionSettings{*spool, switches.groups, switches.dump_period};
}

}  // namespace bench::ops::cuda
