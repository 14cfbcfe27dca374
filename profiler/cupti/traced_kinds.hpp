// SPDX-License-Identifier: Apache-2.0
// What is traced: kinds of records by group, and calls that are excluded.
#pragma once

#include "profiler/switches.hpp"

#include <cupti.h>

#include <span>
#include <string_view>

namespace bench {

enum class KindNeed { required, wanted };  // wanted: its absence only gives a note

struct TracedKind {
  CUpti_ActivityKind kind;
  std::string_view name;
  // group of its rows; `operators` is always traced, because it attributes other rows
  RecordGroup group;
  KindNeed need;
};
// In the order in which they are enabled.
std::span<const TracedKind> traced_kinds();

// Calls to exclude if calls are recorded.
std::span<const CUpti_CallbackId> silent_runtime_calls();
std::span<const CUpti_CallbackId> silent_driver_calls();
// The only driver calls that are recorded if calls are not.
std::span<const CUpti_CallbackId> driver_launches();

}  // namespace bench
