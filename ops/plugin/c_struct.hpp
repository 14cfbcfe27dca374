// SPDX-License-Identifier: Apache-2.0
// Valid sizes of the interface's structs. A struct has at least its size in the first release;
// later fields are read only if BENCH_HAS reports them. It has at most its size in this release.
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

// Returns what is wrong with a plugin's struct or its size ("is too short"), or nullopt. A struct
// larger than this release defines was built for a later one, or its size was never set. Its fields
// would then be read from other memory.
template <class Row>
std::optional<std::string> struct_fault(const Row* row) {
  if (row == nullptr) return "is missing";
  if (row->size < kFirstSize<Row>) return "is too short";
  if (row->size <= sizeof(Row)) return std::nullopt;
  return fmt::format("is {} bytes long, but this program supports {}: {}", row->size, sizeof(Row),
                     "its `size` is wrong, or it needs a later release of this program");
}

}  // namespace bench::ops
