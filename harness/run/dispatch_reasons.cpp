// SPDX-License-Identifier: Apache-2.0
#include "harness/run/dispatch_reasons.hpp"

#include "base/lines.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <algorithm>
#include <utility>

namespace bench {

std::vector<DispatchReason> dispatch_reasons_of(std::string_view text) {
  std::vector<DispatchReason> reasons;
  VerboseDecoder decoder;
  for (const NumberedLine& printed : Lines(text)) {
    for (std::string_view rest = printed.text; !rest.empty();) {
      const VerboseLine& line = decoder.decode(rest);
      rest = line.rest;
      if (line.kind != VerboseKind::dispatch) continue;
      DispatchReason reason{std::string(line.primitive.empty() ? line.component : line.primitive),
                            std::string(line.implementation), std::string(line.message),
                            std::string(line.location)};
      if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
    }
  }
  return reasons;
}

Result<std::vector<DispatchReason>> dispatch_reasons(const Case& spec, ProbeOptions options,
                                                     Env& env) {
  std::string printed;
  options.passed_on = [&](const std::string& text) { printed += text; };
  options.worker_environment["ONEDNN_VERBOSE"] = "dispatch";
  BENCH_ASSIGN_OR_RETURN(const PreparedCase prepared, probe_case(spec, options, env));
  static_cast<void>(prepared);  // a refusal also has reasons
  return dispatch_reasons_of(printed);
}

}  // namespace bench
