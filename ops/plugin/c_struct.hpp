// SPDX-License-Identifier: Apache-2.0
// How long structs of the interface are at least: what was appended to one since it was first
// released is looked at only where BENCH_HAS says that it is there.
#pragma once

#include "ops/plugin/bench_plugin.h"

#include <cstddef>

namespace bench::ops {

template <class Row>
inline constexpr std::size_t kFirstSize = sizeof(Row);
template <>
inline constexpr std::size_t kFirstSize<bench_kernel> = offsetof(bench_kernel, details);
template <>
inline constexpr std::size_t kFirstSize<bench_memory> = offsetof(bench_memory, cache);
template <>
inline constexpr std::size_t kFirstSize<bench_backend> = offsetof(bench_backend, tracer);

// Whether a struct of a plugin is there, and has all that is required of it.
template <class Row>
bool is_whole(const Row* row) {
  return row != nullptr && row->size >= kFirstSize<Row>;
}

}  // namespace bench::ops
