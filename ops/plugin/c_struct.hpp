// SPDX-License-Identifier: Apache-2.0
// How long structs of the interface are: at least as they were first released (what was appended
// since is looked at only where BENCH_HAS says that it is there), at most as this release knows
// them.
#pragma once

#include "ops/plugin/bench_plugin.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>

namespace bench::ops {

template <class Row>
inline constexpr std::size_t kFirstSize = sizeof(Row);
template <>
inline constexpr std::size_t kFirstSize<bench_kernel> = offsetof(bench_kernel, details);
template <>
inline constexpr std::size_t kFirstSize<bench_memory> = offsetof(bench_memory, cache);
template <>
inline constexpr std::size_t kFirstSize<bench_backend> = offsetof(bench_backend, tracer);

// What is wrong with a struct of a plugin or its size ("is too short"); nullopt if nothing is. A
// struct that is larger than this release knows was made for a later one, or its size was never
// set: its fields would be read from memory that is not theirs.
template <class Row>
std::optional<std::string> struct_fault(const Row* row) {
  if (row == nullptr) return "is missing";
  if (row->size < kFirstSize<Row>) return "is too short";
  if (row->size <= sizeof(Row)) return std::nullopt;
  return fmt::format("is {} bytes long, and this program knows {}: {}", row->size, sizeof(Row),
                     "its `size` is wrong, or it needs a later release of this program");
}

}  // namespace bench::ops
