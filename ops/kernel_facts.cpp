// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_facts.hpp"

#include <fmt/format.h>

namespace bench::ops {

std::string streams_unsupported_reason(std::string_view backend) {
  return fmt::format(
      "backend {} runs one kernel at a time, so it cannot run several streams; measure `streams` "
      "with `device: cpu` and backend onednn or native",
      backend);
}

}  // namespace bench::ops
