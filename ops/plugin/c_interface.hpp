// SPDX-License-Identifier: Apache-2.0
// Conversions between the C types of the plugin interface and this program's errors and strings.
// Both directions (host and exported backends) use them.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops {

// The host's side of a bench_message. Not movable, because get() exposes its address.
class CMessage {
 public:
  CMessage();
  CMessage(const CMessage&) = delete;
  CMessage& operator=(const CMessage&) = delete;

  bench_message* get() { return &raw_; }
  bool silent() const { return text_.front() == '\0'; }
  // `what` is used if no text was written ("model() of `x` failed").
  Error error(std::string_view what) const;

 private:
  std::array<char, 2048> text_;
  std::array<char, 512> where_;
  std::array<char, 1024> next_;
  bench_message raw_;
};

BackendError backend_error(bench_status status, const Error& error);
bench_status to_c_status(const BackendError& error);

// Maximum rank of a plugin's tensors: the limit of the CPU library.
inline constexpr std::size_t kMaxPluginDimensions = 12;

// Copies a plugin's text; null gives an empty string.
std::string string_or_empty(const char* text);

// Valid sizes of the interface's structs. A struct has at least its size in the first release;
// later fields are read only if BENCH_HAS reports them. It has at most its size in this release.
template <class Row>
inline constexpr std::size_t kFirstSize = sizeof(Row);
template <>
inline constexpr std::size_t kFirstSize<bench_kernel> = offsetof(bench_kernel, details);
template <>
inline constexpr std::size_t kFirstSize<bench_step> = offsetof(bench_step, moved);
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
