// SPDX-License-Identifier: Apache-2.0
// What is traced: kinds of records by group, and calls that are left out.
#pragma once

#include "profiler/switches.hpp"

#include <cupti.h>

#include <span>
#include <string_view>

namespace bench {

enum class KindNeed { required, wanted };  // wanted: without it there is a note

struct TracedKind {
  CUpti_ActivityKind kind;
  std::string_view name;
  RecordGroup group;  // that has its rows; `operators`: always, since it tells whose rows are
  KindNeed need;
};
// In the order in which they are enabled.
std::span<const TracedKind> traced_kinds();

// Left out where calls are recorded.
std::span<const CUpti_CallbackId> silent_runtime_calls();
std::span<const CUpti_CallbackId> silent_driver_calls();
// All of the driver's that are recorded where calls are not.
std::span<const CUpti_CallbackId> driver_launches();

}  // namespace bench
