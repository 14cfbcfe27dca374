// SPDX-License-Identifier: Apache-2.0
// Settings that `bench profile` passes, in environment variables, to the library that the driver
// loads (profiler/capture/spool_format.hpp).
#pragma once

#include "base/units.hpp"
#include "ops/cuda/library_search.hpp"
#include "profiler/switches.hpp"

#include <optional>
#include <set>
#include <string>

namespace bench::ops::cuda {

struct InjectionSettings {
  std::string spool;
  std::set<RecordGroup> groups;
  Nanoseconds dump_period{0};
};

// Returns nullopt if `bench profile` did not request tracing; the library then does nothing.
// Unreadable switches get their defaults.
std::optional<InjectionSettings> injection_settings(const Variables& variables);

}  // namespace bench::ops::cuda
