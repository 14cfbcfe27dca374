// SPDX-License-Identifier: Apache-2.0
#include "harness/result/id_segments.hpp"

namespace bench {

IdSegments split_id(std::string_view id) {
  IdSegments segments;
  for (std::string* part :
       {&segments.op, &segments.direction, &segments.parameters, &segments.dtype, &segments.backend,
        &segments.device, &segments.cache}) {
    const std::size_t slash = id.find('/');
    *part = id.substr(0, slash);
    id.remove_prefix(slash == std::string_view::npos ? id.size() : slash + 1);
  }
  segments.options = id;
  return segments;
}

}  // namespace bench
