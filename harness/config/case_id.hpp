// SPDX-License-Identifier: Apache-2.0
// Parses and formats canonical case ids:
// op/direction/parameters/dtype/backend/device/cache[/option...].
#pragma once

#include "base/data_type.hpp"
#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/worker_threads.hpp"
#include "ops/network/network.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Maximum number of threads in an id. No machine has more, so a larger number is a typing error.
inline constexpr int kMaxThreads = 4096;

BENCH_ENUM(CacheMode, hot, cold, cold_weights);

// The parsed segments of an id. For op "network" the parameter segment is NAME, then optionally
// "-n8" (a batch other than 1), "+separate" (fuse: false) and "+training".
struct CaseKey {
  std::string op;  // name of an operator, or "network"
  ops::Direction direction = ops::Direction::forward;
  // Canonical segment: ops::problem_tokens() for operators, format_network_segment() for networks.
  std::string parameters;
  DataType dtype = DataType::f32;
  std::string backend = "onednn";
  std::string device = "cpu";  // "cpu" or "cuda"
  CacheMode cache = CacheMode::hot;
  std::optional<int> threads;  // option such as "t4"; nullopt: all processors
  int streams = 1;             // option such as "st4": instances that run side by side
  ops::Layout layout = ops::Layout::any;
  ops::Math math = ops::Math::standard;
};

inline WorkerThreads worker_threads(const CaseKey& key) { return {key.threads, key.streams}; }

std::string to_id(const CaseKey& key);
// Parses an id. Checks segments and names. For operators, checks that the parameters describe a
// valid problem. For canonical ids, to_id(parse_id(id)) == id. Accepts other forms, for example
// options in another order. Errors name the segment and the nearest valid name.
Result<CaseKey> parse_id(std::string_view id,
                         const ops::OperatorRegistry& registry = ops::built_in_operators());
// Returns the problem of a key whose op is an operator. The problem points into `registry`, which
// must outlive it.
Result<ops::Problem> problem_from_key(
    const CaseKey& key, const ops::OperatorRegistry& registry = ops::built_in_operators());

// Returns an error for `fast_accumulation`, which networks do not support.
Status check_network_math(ops::Math math);

// Returns whether the argument looks like an id and not like a file name: the text before its first
// '/' is an operator's name or "network".
bool looks_like_id(std::string_view argument,
                   const ops::OperatorRegistry& registry = ops::built_in_operators());

// Parses and formats the parameter segment of a network's case id:
// NAME[-nBATCH][+separate][+training].
struct NetworkSegment {
  std::string name;
  std::int64_t batch = 1;
  ops::Fusion fusion = ops::Fusion::fused;
  ops::Mode mode = ops::Mode::inference;
};

std::string format_network_segment(const NetworkSegment& segment);
Result<NetworkSegment> parse_network_segment(std::string_view text);

// Returns whether the name is a valid network name: only letters, digits and underscores. Such a
// name can be part of an id and the stem of a file name.
bool is_network_name(std::string_view name);

}  // namespace bench
