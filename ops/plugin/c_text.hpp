// SPDX-License-Identifier: Apache-2.0
// Converts messages and statuses of the plugin interface to errors and refusals, and back.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"

#include <array>
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

// Writes to a plugin's bench_message, truncated to its capacity. `message` may be null.
void write_message(const Error& error, bench_message* message);

Refusal refusal_of(bench_status status, const Error& error);
bench_status status_of(const Refusal& refusal);

// Copies a plugin's text; null gives an empty string.
std::string text_of(const char* text);

}  // namespace bench::ops
