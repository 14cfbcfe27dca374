// SPDX-License-Identifier: Apache-2.0
// Conversions between the C types of the plugin interface and this program's errors and strings.
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

// Returns what is wrong with a plugin's struct or its size ("is too short"), or nullopt. A struct
// larger than this release defines was built for a later one, or its size was never set. Its fields
// would then be read from other memory. No struct of this version of the interface has appended
// fields yet, which a plugin of an earlier release would lack.
template <class Row>
std::optional<std::string> struct_fault(const Row* row) {
  if (row == nullptr) return "is missing";
  if (row->size < sizeof(Row)) return "is too short";
  if (row->size == sizeof(Row)) return std::nullopt;
  return fmt::format("is {} bytes long, but this program supports {}: {}", row->size, sizeof(Row),
                     "its `size` is wrong, or it needs a later release of this program");
}

}  // namespace bench::ops
