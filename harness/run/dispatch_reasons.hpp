// SPDX-License-Identifier: Apache-2.0
// Why the library did not take its other implementations: what its verbose lines say while a case
// is created.
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
  std::string implementation;  // "brg:avx512_core_amx"; empty where the library does not say it
  std::string message;         // "unsupported isa"
  std::string location;        // in the library's source
  friend bool operator==(const DispatchReason&, const DispatchReason&) = default;
};

// Of the verbose lines in `text`, each once, in their order. Other lines are skipped.
std::vector<DispatchReason> dispatch_reasons_of(std::string_view text);

// Creates the case in a worker of its own, so that no printing disturbs what others time. Empty
// where the library gives no reasons: oneDNN does since 3.1, for a growing part of its primitives.
// Error: no worker starts.
Result<std::vector<DispatchReason>> dispatch_reasons(const Case& spec, ProbeOptions options,
                                                     Env& env);

}  // namespace bench
