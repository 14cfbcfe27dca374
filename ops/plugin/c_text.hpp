// SPDX-License-Identifier: Apache-2.0
// Messages and statuses of the plugin interface as errors and refusals.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"

#include <array>
#include <string>
#include <string_view>

namespace bench::ops {

// The host's side of a bench_message. Not movable: it hands out its address.
class CMessage {
 public:
  CMessage();
  CMessage(const CMessage&) = delete;
  CMessage& operator=(const CMessage&) = delete;

  bench_message* get() { return &raw_; }
  bool silent() const { return text_.front() == '\0'; }
  // `what` stands in for a text that was not written ("model() of `x` failed").
  Error error(std::string_view what) const;

 private:
  std::array<char, 2048> text_;
  std::array<char, 512> where_;
  std::array<char, 1024> next_;
  bench_message raw_;
};

// Writes into a plugin's bench_message, cut to its capacity. `message` may be null.
void write_message(const Error& error, bench_message* message);

Refusal refusal_of(bench_status status, const Error& error);
bench_status status_of(const Refusal& refusal);

// A text of a plugin; null reads as empty.
std::string text_of(const char* text);

}  // namespace bench::ops
