// SPDX-License-Identifier: Apache-2.0
// Enumerations whose enumerators have names: in files, in messages and on the command line.
//
//   BENCH_ENUM(Direction, forward, backward_data);
//   BENCH_ENUM(Math, (standard, "default"), tf32);
//
// declares the enumeration (`enum class`), its names and to_string(value). A name is the
// identifier, or the text beside it. BENCH_MEMBER_ENUM does the same inside a class. An enumeration
// with names of another origin declares a function enumerator_names(value) in its namespace.
#pragma once

#include "base/for_each.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace bench {

template <class Enum>
concept NamedEnum = requires(Enum value) {
  enumerator_table(value);
};

template <NamedEnum Enum>
inline constexpr auto kEnumeratorNames = enumerator_table(Enum{});

// The names in the order of the enumerators.
template <NamedEnum Enum>
constexpr std::span<const std::string_view> enumerator_names(Enum = {}) {
  return kEnumeratorNames<Enum>;
}
template <NamedEnum Enum>
constexpr std::optional<Enum> enumerator_from_name(std::string_view name) {
  const auto& names = kEnumeratorNames<Enum>;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace bench

#define BENCH_ENUM(Type, ...) BENCH_DECLARE_ENUM(, Type, __VA_ARGS__)
#define BENCH_MEMBER_ENUM(Type, ...) BENCH_DECLARE_ENUM(friend, Type, __VA_ARGS__)

#define BENCH_DECLARE_ENUM(access, Type, ...)                                \
  enum class Type { BENCH_FOR_EACH(BENCH_ENUMERATOR, __VA_ARGS__) };         \
  access constexpr auto enumerator_table(Type) {                             \
    return std::array{BENCH_FOR_EACH(BENCH_ENUMERATOR_NAME, __VA_ARGS__)};   \
  }                                                                          \
  [[maybe_unused]] access constexpr std::string_view to_string(Type value) { \
    return bench::kEnumeratorNames<Type>[static_cast<std::size_t>(value)];   \
  }                                                                          \
  static_assert(true)

#define BENCH_ENUMERATOR(item) BENCH_BY_FORM(BENCH_ENUMERATOR, item)
#define BENCH_ENUMERATOR_Word(item) item,
#define BENCH_ENUMERATOR_List(item) BENCH_ENUMERATOR_OF item
#define BENCH_ENUMERATOR_OF(identifier, text) identifier,

#define BENCH_ENUMERATOR_NAME(item) BENCH_BY_FORM(BENCH_ENUMERATOR_NAME, item)
#define BENCH_ENUMERATOR_NAME_Word(item) std::string_view(#item),
#define BENCH_ENUMERATOR_NAME_List(item) BENCH_ENUMERATOR_NAME_OF item
#define BENCH_ENUMERATOR_NAME_OF(identifier, text) std::string_view(text),
