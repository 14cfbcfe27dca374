// SPDX-License-Identifier: Apache-2.0
#include "harness/config/id_pattern.hpp"

#include <string_view>

namespace bench {

Result<IdPattern> IdPattern::compile(const std::string& filter) {
  if (filter.size() >= 2 && filter.front() == '/' && filter.back() == '/') {
    BENCH_ASSIGN_OR_RETURN(Regex regex,
                           Regex::compile(std::string_view(filter).substr(1, filter.size() - 2)));
    return IdPattern(std::move(regex));
  }
  BENCH_RETURN_IF_ERROR(check_glob(filter));
  return IdPattern(filter);
}

bool IdPattern::matches(const std::string& id) const {
  if (const Glob* glob = std::get_if<Glob>(&pattern_)) return glob_matches(*glob, id);
  return std::get<Regex>(pattern_).search(id);
}

}  // namespace bench
