// SPDX-License-Identifier: Apache-2.0
// JSON fields of types that several messages and documents contain. Private to this folder.
#pragma once

#include "base/data_type.hpp"
#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/network/network.hpp"
#include "ops/parameter.hpp"
#include "ops/problem.hpp"

#include <span>
#include <string_view>

namespace bench {

// Messages may contain negative numbers, in parameters and in what a plugin computes.
inline constexpr JsonRules kWireRules{.numbers = JsonRules::Numbers::any};
inline constexpr JsonStyle kWireStyle{.indent = 0, .reals = JsonReals::with_fraction};

std::span<const std::string_view> enumerator_names(DataType);

}  // namespace bench

namespace bench::ops {

auto elements(JsonOf<PadPair> auto& pad) { return std::tie(pad.begin, pad.end); }

BENCH_FIELDS(LibraryInfo, name, version, path, detail);

}  // namespace bench::ops
