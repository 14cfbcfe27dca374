// SPDX-License-Identifier: Apache-2.0
// The operators in the result tables of MXNet's opperf (benchmark/opperf/results), and by which
// case each is expressed here.
#pragma once

#include <span>
#include <string_view>

namespace bench::ops {

struct OpperfName {
  std::string_view name;
  std::string_view op;         // operator of the case; empty: there is none
  std::string_view tokens;     // its parameters, as in a case id
  std::string_view note = {};  // how the case differs, or why there is none
};

// In the order of names.
std::span<const OpperfName> opperf_names();

}  // namespace bench::ops
