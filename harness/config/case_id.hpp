// SPDX-License-Identifier: Apache-2.0
// The canonical case id: op/direction/parameters/dtype/backend/device/cache[/option...], and back.
#pragma once

#include "base/data_type.hpp"
#include "base/result.hpp"
#include "ops/catalogue.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// More threads than any machine has: a typing mistake, not a wish.
inline constexpr int kMaxThreads = 4096;

enum class CacheMode { hot, cold, cold_weights };
std::span<const std::string_view> cache_mode_names();

// Everything that an id says. For op "network" the parameter segment is NAME, then "-n8" (batch,
// where not 1), "+separate" (fuse: false), "+training".
struct CaseKey {
  std::string op;  // an operator's name, or "network"
  ops::Direction direction = ops::Direction::forward;
  std::string parameters;  // canonical segment: ops::problem_tokens, or the network's
  DataType dtype = DataType::f32;
  std::string backend = "onednn";
  std::string device = "cpu";  // "cpu", "cuda"
  CacheMode cache = CacheMode::hot;
  std::optional<int> threads;  // option "t4"; absent = all
  ops::Layout layout = ops::Layout::any;
  ops::Math math = ops::Math::standard;
};

std::string to_id(const CaseKey& key);
// Checks segments and names, and for operators that the parameters make a problem (to_id(parse) ==
// id for canonical ids; a non-canonical id is accepted and made canonical). Errors name the segment
// and the nearest valid name. Here and below, `catalogue` must outlive the result.
Result<CaseKey> parse_id(std::string_view id,
                         const ops::Catalogue& catalogue = ops::built_in_catalogue());
// The problem of a key whose op is an operator.
Result<ops::Problem> problem_of(const CaseKey& key,
                                const ops::Catalogue& catalogue = ops::built_in_catalogue());

// Refuses fast accumulation, which a network has no choice of.
Status check_network_math(ops::Math math);

// An id-shaped argument (known op before the first '/') as opposed to a file name.
bool looks_like_id(std::string_view argument,
                   const ops::Catalogue& catalogue = ops::built_in_catalogue());

}  // namespace bench
