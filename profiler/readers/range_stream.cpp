// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/range_stream.hpp"

#include "profiler/nvtx/framework_range.hpp"

#include <algorithm>
#include <limits>

namespace bench {
namespace {

constexpr std::size_t kStringBlock = std::size_t{1} << 20;

// A range in the sort; its text follows.
struct PackedRange {
  RangeEvent::Kind kind;
  bool has_end;
  std::int64_t pid, tid, end;
  std::uint64_t domain, category, id;
};

}  // namespace

std::string_view ProfileStrings::keep(std::string_view text) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size())
    blocks_.emplace_back().reserve(std::max(kStringBlock, text.size()));
  const std::size_t begin = blocks_.back().size();
  blocks_.back() += text;
  return std::string_view(blocks_.back()).substr(begin);
}

void ProfileStrings::add(Id id, std::string_view text) { places_.emplace(id, keep(text)); }

ProfileStrings::Id ProfileStrings::intern(std::string_view text) {
  if (const auto known = own_.find(text); known != own_.end()) return known->second;
  const std::string_view kept = keep(text);
  const Id id = kFirstOwn + static_cast<Id>(own_.size());
  places_.insert_or_assign(id, kept);
  own_.emplace(kept, id);
  return id;
}

std::string_view ProfileStrings::find(Id id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? std::string_view() : found->second;
}

SortedRanges::SortedRanges(const std::string& folder) : sort_(folder, kProfileSortMemory) {}

Status SortedRanges::add(const RangeEvent& event) {
  const PackedRange head{event.kind,
                         event.end.has_value(),
                         event.pid,
                         event.tid,
                         event.end.value_or(Nanoseconds(0)).count(),
                         event.domain,
                         event.category,
                         event.id};
  pack_record(head, packed_);
  packed_ += event.text;
  const bool nests = event.kind == RangeEvent::Kind::range;
  const std::int64_t length =
      event.end ? (*event.end - event.at).count() : std::numeric_limits<std::int64_t>::max();
  return sort_.add({event.at.count(), nests ? -length : 0}, packed_);
}

Status SortedRanges::finish() { return sort_.finish(); }

Result<bool> SortedRanges::next(RangeEvent& event) {
  SpillSort::Record record;
  BENCH_ASSIGN_OR_RETURN(const bool more, sort_.next(record));
  if (!more) return false;
  const auto head = unpack_record<PackedRange>(record.payload);
  event.kind = head.kind;
  event.pid = head.pid;
  event.tid = head.tid;
  event.at = Nanoseconds(record.key.first);
  event.end = head.has_end ? std::optional(Nanoseconds(head.end)) : std::nullopt;
  event.domain = head.domain;
  event.category = head.category;
  event.id = head.id;
  event.text = record.payload.substr(sizeof head);
  return true;
}

bool needs_other_ranges(std::string_view text) {
  const bool may_be = text.find("onv") != text.npos || text.find("adaptive_avg") != text.npos;
  if (!may_be || text.find("sizes = ") == text.npos) return false;
  const auto range = parse_framework_range(text);
  return range && FrameworkOutputs::concerns(*range);
}

}  // namespace bench
