// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench::ops {

bool is_row_major(std::string_view layout) {
  constexpr std::array<std::string_view, 5> kNames = {"plain", "nc", "ncw", "nchw", "ncdhw"};
  constexpr std::string_view kLetters = "abcdefghijkl";
  return !layout.empty() &&
         (std::ranges::count(kNames, layout) > 0 || kLetters.starts_with(layout));
}

std::string streams_unsupported_reason(std::string_view backend) {
  return fmt::format(
      "backend {} runs one kernel at a time, so it cannot run several streams; measure `streams` "
      "with `device: cpu` and backend onednn or native",
      backend);
}

}  // namespace bench::ops
