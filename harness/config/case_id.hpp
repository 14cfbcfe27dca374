// SPDX-License-Identifier: Apache-2.0
// The canonical case id: op/direction/parameters/dtype/backend/device/cache[/option...]. Conversion
// in both directions.
#pragma once

#include "base/data_type.hpp"
#include "base/result.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// More threads than any machine has: a larger number is a typing error.
inline constexpr int kMaxThreads = 4096;

enum class CacheMode { hot, cold, cold_weights };
std::span<const std::string_view> cache_mode_names();

// The contents of an id. For op "network" the parameter segment is NAME, then optionally "-n8" (a
// batch other than 1), "+separate" (fuse: false) and "+training".
struct CaseKey {
  std::string op;  // an operator's name, or "network"
  ops::Direction direction = ops::Direction::forward;
  std::string parameters;  // canonical segment: ops::problem_tokens, or that of the network
  DataType dtype = DataType::f32;
  std::string backend = "onednn";
  std::string device = "cpu";  // "cpu", "cuda"
  CacheMode cache = CacheMode::hot;
  std::optional<int> threads;  // option "t4"; nullopt = all
  ops::Layout layout = ops::Layout::any;
  ops::Math math = ops::Math::standard;
};

std::string to_id(const CaseKey& key);
// Parses an id. Checks segments and names, and, for operators, that the parameters describe a valid
// problem. For canonical ids, to_id(parse_id(id)) == id; other forms are accepted and made
// canonical. Errors name the segment and the nearest valid name. Here and below, `registry` must
// outlive the result.
Result<CaseKey> parse_id(std::string_view id,
                         const ops::OperatorRegistry& registry = ops::built_in_operators());
// Returns the problem of a key whose op is an operator.
Result<ops::Problem> problem_from_key(
    const CaseKey& key, const ops::OperatorRegistry& registry = ops::built_in_operators());

// Refuses fast accumulation, which networks do not support.
Status check_network_math(ops::Math math);

// Whether the argument looks like an id (a known op before the first '/') and not like a file name.
bool looks_like_id(std::string_view argument,
                   const ops::OperatorRegistry& registry = ops::built_in_operators());

}  // namespace bench
