// SPDX-License-Identifier: Apache-2.0
// Why the library did not select its other implementations, according to its verbose lines at the
// creation of a case.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/run/probe.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct DispatchReason {
  std::string primitive;       // "matmul"
  std::string implementation;  // "brg:avx512_core_amx"; empty if the library does not report it
  std::string message;         // "unsupported isa"
  std::string location;        // in the library's source
  friend bool operator==(const DispatchReason&, const DispatchReason&) = default;
};

// The reasons in the verbose lines of `text`, each once and in order. Skips other lines.
std::vector<DispatchReason> dispatch_reasons_of(std::string_view text);

// Creates the case in a separate worker, so that printing does not disturb other timings. Empty if
// the library gives no reasons: oneDNN does since 3.1, for a growing part of its primitives.
// Returns an error if no worker starts.
Result<std::vector<DispatchReason>> dispatch_reasons(const Case& spec, ProbeOptions options,
                                                     Env& env);

}  // namespace bench
