// SPDX-License-Identifier: Apache-2.0
// Asks a worker outside a run which kernel a case would use and what the worker supports, without
// timing.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/wire/messages.hpp"
#include "harness/wire/worker_document.hpp"
#include "ops/kernel_facts.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What a worker prepared for a case: implementation, layouts, memory, and the times of creation,
// packing and the first run. Or the error reply: outcome and reason.
struct PreparedCase {
  ops::LibraryInfo library;
  std::optional<PreparedReply> prepared;
  std::optional<ErrorReply> refused;  // set if `prepared` is not
};

struct ProbeOptions {
  std::string worker_program;                             // run as `PROGRAM worker`
  std::map<std::string, std::string> worker_environment;  // overrides inherited variables
  std::function<bool()> interrupted;                      // may be empty
  // Receives the worker's standard error. If empty, this program's standard error receives it.
  std::function<void(const std::string&)> on_error_output = {};
  std::vector<std::string> plugins = {};  // plugins that the worker loads
  CheckKind check = CheckKind::none;      // how the worker checks the result of the first run
};

// Prepares the case in a separate worker, for at most the case's timeout. If the worker crashes or
// hangs, the result contains an error reply. Returns an error if no worker starts, or if the user
// interrupts.
Result<PreparedCase> probe_case(const Case& spec, const ProbeOptions& options, Env& env);

// Returns the document of `PROGRAM worker --describe` with these plugins. `backends`: those whose
// devices and libraries it states, besides the first backend; all if there are none. Waits at most
// kDescribeLimit.
Result<WorkerDocument> describe_worker(const std::string& worker_program, Env& env,
                                       const std::vector<std::string>& plugins = {},
                                       const std::vector<std::string>& backends = {});
inline constexpr Nanoseconds kDescribeLimit = std::chrono::seconds(20);

// Why the library did not select an implementation, according to its verbose lines at the creation
// of a case.
struct DispatchReason {
  std::string primitive;       // "matmul"
  std::string implementation;  // "brg:avx512_core_amx"; empty if the library does not report it
  std::string message;         // "unsupported isa"
  std::string location;        // position in the library's source
  friend bool operator==(const DispatchReason&, const DispatchReason&) = default;
};

// Returns the reasons in the verbose lines of `text` in order, without duplicates. Skips other
// lines.
std::vector<DispatchReason> parse_dispatch_reasons(std::string_view text);

// Creates the case in a separate worker and returns the library's reasons. Empty if the library
// prints none: oneDNN prints them since version 3.1, for a growing part of its primitives. Returns
// an error if no worker starts.
Result<std::vector<DispatchReason>> dispatch_reasons(const Case& spec, ProbeOptions options,
                                                     Env& env);

}  // namespace bench
