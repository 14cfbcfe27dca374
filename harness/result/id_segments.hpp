// SPDX-License-Identifier: Apache-2.0
// The parts of a case id as text. Nothing is validated, since reports may contain ids of operators
// and backends that this build does not know.
#pragma once

#include <string>
#include <string_view>

namespace bench {

struct IdSegments {
  std::string op, direction, parameters, dtype, backend, device, cache;
  std::string options;  // the part after the cache mode: "t1/nhwc"
};

// Missing segments are empty.
IdSegments split_id(std::string_view id);

}  // namespace bench
