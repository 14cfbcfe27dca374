// SPDX-License-Identifier: Apache-2.0
// Declares the fields of a record by the names of its members, for the archives of
// base/json_writer.hpp and base/json_reader.hpp:
//
//   BENCH_FIELDS(Sample, id, create, size, (network, "net"), (threads, at_least(1)));
//
// defines fields() for Sample. The key of a field is the member's name, followed by the unit if its
// type has one: "create_ns" for Nanoseconds, "size_bytes" for Bytes. A std::optional is an optional
// field; others are required. A member in parentheses has options:
//   a text            the key, if it differs
//   a JsonRange       the permitted numbers
//   kOptional         an empty text, list or map is left out
//   kUnlessInitial    the value T{} is left out
//   kInlined          the member's own fields are fields of the record
//   inlined_if(key)   the same for a std::optional, which is absent if the field `key` is
//
// BENCH_MEMBERS does the same within a function, for records with further fields:
//
//   void fields(auto& archive, JsonOf<Sample> auto& sample) {
//     archive.constant("record", "sample");
//     BENCH_MEMBERS(archive, sample, id, create);
//   }
//
// BENCH_OPTIONAL_MEMBERS gives kOptional to all its members.
#pragma once

#include "base/for_each.hpp"
#include "base/json_writer.hpp"
#include "base/units.hpp"

#include <string_view>
#include <tuple>
#include <type_traits>

namespace bench {

struct OptionalField {};
inline constexpr OptionalField kOptional;
struct UnlessInitialField {};
inline constexpr UnlessInitialField kUnlessInitial;
struct InlinedField {
  std::string_view first = {};
};
inline constexpr InlinedField kInlined;
constexpr InlinedField inlined_if(std::string_view first) { return {first}; }

// What a member's key may be, by the unit of its type.
struct FieldNames {
  std::string_view plain, nanoseconds, bytes;
};

template <class T>
struct FieldUnit {
  static constexpr auto kName = &FieldNames::plain;
};
template <>
struct FieldUnit<Nanoseconds> {
  static constexpr auto kName = &FieldNames::nanoseconds;
};
template <>
struct FieldUnit<Bytes> {
  static constexpr auto kName = &FieldNames::bytes;
};
template <class T>
struct FieldUnit<std::optional<T>> : FieldUnit<T> {};
template <class T>
struct FieldUnit<std::vector<T>> : FieldUnit<T> {};

template <class Option, class... Options>
inline constexpr bool kHasOption = (std::is_same_v<Option, Options> || ...);

// Returns the text among the options, or `key` if there is none.
template <class... Options>
constexpr std::string_view choose_key(std::string_view key, const Options&... options) {
  [[maybe_unused]] const auto choose = [&](const auto& option) {
    if constexpr (std::is_convertible_v<decltype(option), std::string_view>) key = option;
  };
  (choose(options), ...);
  return key;
}

template <class Archive, class Member, class... Options>
void declare_field(Archive& archive, const FieldNames& names, Member& value,
                   const Options&... options) {
  using T = std::remove_const_t<Member>;
  const std::string_view key = choose_key(names.*FieldUnit<T>::kName, options...);
  [[maybe_unused]] const auto all = std::tie(options...);
  constexpr bool kMayBeMissing = kIsOptional<T> || kHasOption<OptionalField, Options...>;
  constexpr bool kHasRange = kHasOption<JsonRange, Options...>;
  if constexpr (kHasOption<InlinedField, Options...>) {
    if constexpr (kIsOptional<T>) {
      archive.optional_inline(std::get<const InlinedField&>(all).first, value);
    } else {
      fields(archive, value);
    }
  } else if constexpr (kHasOption<UnlessInitialField, Options...>) {
    archive.defaulted(key, value, T{});
  } else if constexpr (kMayBeMissing && kHasRange) {
    archive.optional(key, value, std::get<const JsonRange&>(all));
  } else if constexpr (kMayBeMissing) {
    archive.optional(key, value);
  } else if constexpr (kHasRange) {
    archive.required(key, value, std::get<const JsonRange&>(all));
  } else {
    archive.required(key, value);
  }
}

}  // namespace bench

#define BENCH_FIELDS(Type, ...)                                                \
  void fields(auto& fields_archive, bench::JsonOf<Type> auto& fields_record) { \
    BENCH_FOR_EACH(BENCH_FIELD, __VA_ARGS__)                                   \
  }                                                                            \
  static_assert(true)

#define BENCH_MEMBERS(archive, record, ...)  \
  do {                                       \
    auto& fields_archive = archive;          \
    auto& fields_record = record;            \
    BENCH_FOR_EACH(BENCH_FIELD, __VA_ARGS__) \
  } while (false)

#define BENCH_OPTIONAL_MEMBERS(archive, record, ...)  \
  do {                                                \
    auto& fields_archive = archive;                   \
    auto& fields_record = record;                     \
    BENCH_FOR_EACH(BENCH_OPTIONAL_FIELD, __VA_ARGS__) \
  } while (false)

#define BENCH_FIELD(item) BENCH_BY_FORM(BENCH_FIELD, item)
#define BENCH_FIELD_Word(item) BENCH_DECLARE_FIELD(item)
#define BENCH_FIELD_List(item) BENCH_DECLARE_FIELD item
#define BENCH_OPTIONAL_FIELD(item) BENCH_BY_FORM(BENCH_OPTIONAL_FIELD, item)
#define BENCH_OPTIONAL_FIELD_Word(item) BENCH_DECLARE_FIELD(item, bench::kOptional)
#define BENCH_OPTIONAL_FIELD_List(item) BENCH_DECLARE_OPTIONAL_FIELD item
#define BENCH_DECLARE_OPTIONAL_FIELD(member, ...) \
  BENCH_DECLARE_FIELD(member, bench::kOptional __VA_OPT__(, ) __VA_ARGS__)
#define BENCH_DECLARE_FIELD(member, ...)                                            \
  bench::declare_field(fields_archive,                                              \
                       bench::FieldNames{#member, #member "_ns", #member "_bytes"}, \
                       fields_record.member __VA_OPT__(, ) __VA_ARGS__);
