// SPDX-License-Identifier: Apache-2.0
// JSON fields of types that several messages and documents contain. Private to this folder.
#pragma once

#include "base/data_type.hpp"
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/network/network.hpp"
#include "ops/parameter.hpp"
#include "ops/problem.hpp"

#include <array>
#include <span>
#include <string_view>

namespace bench {

// Messages may contain negative numbers, in parameters and in what a plugin computes.
inline constexpr JsonRules kWireRules{.numbers = JsonRules::Numbers::any};
inline constexpr JsonStyle kWireStyle{.indent = 0, .reals = JsonReals::with_fraction};

std::span<const std::string_view> enumerator_names(DataType);

}  // namespace bench

namespace bench::ops {

inline std::span<const std::string_view> enumerator_names(Direction) { return direction_names(); }
inline std::span<const std::string_view> enumerator_names(Layout) { return layout_names(); }
inline std::span<const std::string_view> enumerator_names(Math) { return math_names(); }
inline std::span<const std::string_view> enumerator_names(SampleMethod) {
  return kSampleMethodNames;
}
inline std::span<const std::string_view> enumerator_names(TensorRole) {
  static constexpr std::array<std::string_view, 3> kRoles = {"input", "weights", "output"};
  return kRoles;
}
inline std::span<const std::string_view> enumerator_names(ParameterKind) {
  static constexpr std::array<std::string_view, 7> kKinds = {"count",   "flag",    "word", "real",
                                                             "spatial", "padding", "shape"};
  return kKinds;
}
inline std::span<const std::string_view> enumerator_names(Mode) {
  static constexpr std::array<std::string_view, 2> kModes = {"inference", "training"};
  return kModes;
}

auto elements(JsonOf<PadPair> auto& pad) { return std::tie(pad.begin, pad.end); }

void fields(auto& archive, JsonOf<LibraryInfo> auto& library) {
  archive.required("name", library.name);
  archive.required("version", library.version);
  archive.required("path", library.path);
  archive.required("detail", library.detail);
}

}  // namespace bench::ops
