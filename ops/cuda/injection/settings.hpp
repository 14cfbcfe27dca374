// SPDX-License-Identifier: Apache-2.0
// What `bench profile` asks of the library that the driver loads, by variables
// (profiler/capture/spool_format.hpp).
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

// Absent: nobody asked, and nothing is to be done. Switches that cannot be read have their
// defaults.
std::optional<InjectionSettings> injection_settings(const Variables& variables);

}  // namespace bench::ops::cuda
