// SPDX-License-Identifier: Apache-2.0
#include "base/worker_threads.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>

namespace bench {

Status check_streams(int streams, int threads) {
  if (streams <= threads) return Done{};
  return Error{
      fmt::format("{0} streams need at least {0} threads, found {1}", streams, threads), "",
      fmt::format("use `streams: {}` or fewer, or `threads: {}` or more", threads, streams)};
}

std::vector<int> share_threads(int threads, int streams) {
  assert(streams >= 1 && streams <= threads);
  std::vector<int> shares(static_cast<std::size_t>(streams), threads / streams);
  for (std::size_t i = 0; i < static_cast<std::size_t>(threads % streams); ++i) ++shares[i];
  return shares;
}

}  // namespace bench
