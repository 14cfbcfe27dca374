// SPDX-License-Identifier: Apache-2.0
// Functions of this program behind the plugin interface, which no exception crosses.
#pragma once

#include "base/result.hpp"
#include "ops/plugin/bench_plugin.h"
#include "ops/plugin/c_text.hpp"

#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace bench::ops {

inline constexpr const char* kUnknownException = "an exception of an unknown type";

// Runs `function`, which returns a Status, and writes an error or exception to the message.
// Insufficient host memory is reported as BENCH_SKIPPED, because it is not the callee's fault.
template <class Function>
bench_status guarded_call(bench_message* message, Function function) noexcept {
  try {
    const Status status = function();
    if (status.ok()) return BENCH_OK;
    write_message(status.error(), message);
  } catch (const std::bad_alloc&) {
    write_message({"not enough memory on this machine", "", ""}, message);
    return BENCH_SKIPPED;
  } catch (const std::exception& error) {
    write_message({error.what(), "", ""}, message);
  } catch (...) {
    write_message({kUnknownException, "", ""}, message);
  }
  return BENCH_FAILED;
}

// The same for a function that may refuse: its Result<Done, Refusal> determines the status.
template <class Function>
bench_status guarded_request(bench_message* message, Function function) noexcept {
  std::optional<bench_status> refused;
  const bench_status status = guarded_call(message, [&]() -> Status {
    Result<Done, Refusal> done = function();
    if (done) return Done{};
    refused = status_of(done.error());
    return Error{std::move(done).error().reason, "", ""};
  });
  return refused.value_or(status);
}

}  // namespace bench::ops
