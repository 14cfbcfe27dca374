// SPDX-License-Identifier: Apache-2.0
// Structs of functions that are found in a library at run time:
//
//   struct Codec {
//     BENCH_FUNCTIONS(Codec, (open, codec_open), (close, codec_close_v2, int (*)(void*)),
//                     (flush, codec_flush, void (*)(), optional));
//   };
//   BENCH_RETURN_IF_ERROR(fill_functions(library, codec));
//
// declares pointers, null at first. An item is the member and the function's name in the library;
// then the pointer's type, unless a header declares the function; then `optional`, if some versions
// of the library lack it: the pointer then stays null.
#pragma once

#include "base/dynamic_library.hpp"
#include "base/for_each.hpp"

#include <array>
#include <span>
#include <type_traits>
#include <vector>

namespace bench {

enum class Presence { required, optional };

struct FunctionRow {
  const char* name;
  Presence presence;
  void (*assign)(void* table, void* function);
};

template <class Table, auto member>
constexpr FunctionRow function_row(const char* name, Presence presence) {
  return {name, presence, [](void* table, void* function) {
            auto& pointer = static_cast<Table*>(table)->*member;
            pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(function);
          }};
}

// Assigns the functions of `rows` to the members of `table`, null if the library does not export
// them. Returns the names of the required functions among those.
std::vector<const char*> find_functions(const DynamicLibrary& library, void* table,
                                        std::span<const FunctionRow> rows);
template <class Table>
std::vector<const char*> find_functions(const DynamicLibrary& library, Table& table) {
  return find_functions(library, &table, Table::function_rows());
}

// Error: DynamicLibrary::missing_functions_error(). No function may then be called.
template <class Table>
Status fill_functions(const DynamicLibrary& library, Table& table) {
  const auto missing = find_functions(library, table);
  if (missing.empty()) return Done{};
  return library.missing_functions_error(missing);
}

}  // namespace bench

#define BENCH_FUNCTIONS(Table, ...)                                                              \
  BENCH_FOR_EACH(BENCH_FUNCTION_MEMBER, __VA_ARGS__)                                             \
  using FunctionTable = Table;                                                                   \
  static constexpr auto function_rows() {                                                        \
    return std::to_array<bench::FunctionRow>({BENCH_FOR_EACH(BENCH_FUNCTION_ROW, __VA_ARGS__)}); \
  }                                                                                              \
  static_assert(true)

#define BENCH_FUNCTION_MEMBER(item) BENCH_FUNCTION_MEMBER_OF item
#define BENCH_FUNCTION_MEMBER_OF(member, name, ...)                                               \
  BENCH_FIRST(__VA_OPT__(std::type_identity_t<BENCH_FIRST(__VA_ARGS__, )>, ) decltype(&::name), ) \
  member = nullptr;

// The word after the type, or `required`.
#define BENCH_FUNCTION_ROW(item) BENCH_FUNCTION_ROW_OF item
#define BENCH_FUNCTION_ROW_OF(member, name, ...)              \
  bench::function_row<FunctionTable, &FunctionTable::member>( \
      #name, bench::Presence::BENCH_SECOND(__VA_ARGS__ __VA_OPT__(, ) required, required, )),
