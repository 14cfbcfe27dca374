// SPDX-License-Identifier: Apache-2.0
// Converts oneDNN's exceptions to error values.
#pragma once

#include "ops/backend/kernel.hpp"

#include <string_view>
#include <type_traits>
#include <utility>

namespace bench::ops {

// Converts the exception being handled to a BackendError. `what` names the attempt ("conv
// backward_data f16"). unimplemented: unsupported; out of memory: skipped; everything else: failed.
BackendError error_of_current_exception(std::string_view what);

// Runs a function that returns a Result<..., BackendError> and may throw.
template <class Function>
std::invoke_result_t<Function> guarded(std::string_view what, Function function) {
  try {
    return function();
  } catch (...) {
    return error_of_current_exception(what);
  }
}

// The same for setup and execution of an existing kernel, whose errors have no kind.
// `function` returns a Result<..., Error>.
template <class Function>
std::invoke_result_t<Function> guarded_step(std::string_view what, Function function) {
  try {
    return function();
  } catch (...) {
    return Error{error_of_current_exception(what).reason, {}, {}};
  }
}

}  // namespace bench::ops
