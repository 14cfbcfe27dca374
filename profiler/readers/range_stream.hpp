// SPDX-License-Identifier: Apache-2.0
// The texts and the ranges of a foreign profile of a GPU program.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/export/spill_sort.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace bench {

inline constexpr std::size_t kProfileSortMemory = std::size_t{64} << 20;

// Records of a SpillSort as their bytes.
template <class Record>
void pack_record(const Record& record, std::string& out) {
  static_assert(std::is_trivially_copyable_v<Record>);
  out.assign(sizeof record, '\0');
  std::memcpy(out.data(), &record, sizeof record);
}

template <class Record>
Record unpack_record(std::string_view packed) {
  Record record;
  std::memcpy(&record, packed.data(), sizeof record);
  return record;
}

// Texts of a profile by their number in it. Other texts get numbers that no profile uses.
class ProfileStrings {
 public:
  using Id = std::int64_t;
  static constexpr Id kNone = -1;

  void add(Id id, std::string_view text);
  Id intern(std::string_view text);
  std::string_view find(Id id) const;  // empty if unknown
  bool contains(Id id) const { return places_.contains(id); }
  template <class Visitor>
  void visit(Visitor visitor) const {
    for (const auto& [id, place] : places_) visitor(std::string_view(place));
  }

 private:
  static constexpr Id kFirstOwn = std::int64_t{1} << 62;
  std::string_view keep(std::string_view text);

  std::deque<std::string> blocks_;  // never move
  std::unordered_map<Id, std::string_view> places_;
  std::unordered_map<std::string_view, Id> own_;
};

// A change of the ranges of a thread. Views are valid until the stream goes on.
struct RangeEvent {
  enum class Kind : std::uint8_t {
    range,     // from `at` to `end` on its thread; unfinished without an end
    push,      // a range that ends with the next `pop` of its thread and domain
    pop,       //
    start,     // a range of the process from `at` to `end`, or to the `stop` with its id
    stop,      //
    mark,      //
    domain,    // names domain `id`
    category,  // names category `id` of the domain
  };
  Kind kind = Kind::range;
  std::int64_t pid = 0, tid = 0;
  Nanoseconds at{0};
  std::optional<Nanoseconds> end;
  std::uint64_t domain = 0;
  std::uint64_t category = 0;
  std::uint64_t id = 0;
  std::string_view text;
};

// The ranges of a profile in the order of their beginnings; of those that begin at once, the
// longest first.
class RangeStream {
 public:
  virtual ~RangeStream() = default;
  virtual Result<bool> next(RangeEvent& event) = 0;  // false at the end
};

// Sorts ranges that come in any order.
class SortedRanges final : public RangeStream {
 public:
  explicit SortedRanges(const std::string& folder);
  Status add(const RangeEvent& event);
  Status finish();
  Result<bool> next(RangeEvent& event) override;

 private:
  SpillSort sort_;
  std::string packed_;
};

// Returns whether the ranges must be read twice: the output shape of such an operator is only known
// from others (FrameworkOutputs).
bool needs_other_ranges(std::string_view text);

}  // namespace bench
