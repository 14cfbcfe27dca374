// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/row_store.hpp"

#include "profiler/export/spill_sort.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

namespace bench::analysis {
namespace {

// Memory for rows that wait to be sorted. Buffers and the heap's slack use the rest of 300 MB.
constexpr std::size_t kSortMemory = std::size_t{48} << 20;

// With a larger `top`, all rows are sorted and cut afterwards.
constexpr std::int64_t kMaxHeap = 10'000;

// Encodes rows as bytes. The key comes first, so that it orders rows with equal sort keys.
void put(std::string& bytes, const void* data, std::size_t size) {
  bytes.append(static_cast<const char*>(data), size);
}
template <class T>
void put(std::string& bytes, T value) {
  put(bytes, &value, sizeof value);
}

void put_cell(std::string& bytes, const Cell& cell) {
  put(bytes, static_cast<std::uint8_t>(cell.index()));
  if (const auto* text = std::get_if<std::string>(&cell)) {
    put(bytes, static_cast<std::uint32_t>(text->size()));
    put(bytes, text->data(), text->size());
  }
  if (const auto* number = std::get_if<std::int64_t>(&cell)) put(bytes, *number);
  if (const auto* real = std::get_if<double>(&cell)) put(bytes, *real);
}

template <class T>
T take(std::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

std::string_view take_text(std::string_view& bytes) {
  const auto size = take<std::uint32_t>(bytes);
  const std::string_view text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return text;
}

void take_cell(std::string_view& bytes, Cell& cell) {
  switch (take<std::uint8_t>(bytes)) {
    case 1:
      if (auto* text = std::get_if<std::string>(&cell)) {
        *text = take_text(bytes);
      } else {
        cell = std::string(take_text(bytes));
      }
      return;
    case 2:
      cell = take<std::int64_t>(bytes);
      return;
    case 3:
      cell = take<double>(bytes);
      return;
    default:
      cell = std::monostate();
  }
}

void encode(const Row& row, std::string& bytes) {
  bytes.clear();
  put_cell(bytes, row.key);
  put(bytes, row.sequence);
  put(bytes, row.time ? row.time->count() : std::int64_t{-1});
  put(bytes, static_cast<std::uint32_t>(row.cells.size()));
  for (const Cell& cell : row.cells) put_cell(bytes, cell);
}

void decode(std::string_view bytes, Row& row) {
  take_cell(bytes, row.key);
  row.sequence = take<std::int64_t>(bytes);
  const auto time = take<std::int64_t>(bytes);
  row.time = time < 0 ? std::nullopt : std::optional(Nanoseconds(time));
  row.cells.resize(take<std::uint32_t>(bytes));
  for (Cell& cell : row.cells) take_cell(bytes, cell);
}

// Maps doubles to integers with the same order. The bits of negative doubles count downwards.
std::int64_t to_ordered_bits(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value + 0.0);  // -0 equals 0
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits - 1 : bits;
}

// Known keys come first, then the order of the nearest doubles, so that integers and other numbers
// mix in one column. If these are equal, and for text, the payload decides.
SortKey sort_key(const Cell& key, RowDirection direction) {
  const bool text = std::holds_alternative<std::string>(key);
  const std::int64_t order =
      text ? std::numeric_limits<std::int64_t>::max() : to_ordered_bits(to_number(key));
  return {is_known(key) ? 0 : 1, direction == RowDirection::descending ? ~order : order};
}

// Compares the keys of two encoded rows as compare() does, without copying text.
int compare_encoded(std::string_view a, std::string_view b) {
  const auto type_a = static_cast<std::uint8_t>(a.front());
  const auto type_b = static_cast<std::uint8_t>(b.front());
  if (type_a == 0 || type_b == 0) return 0;
  if (type_a == 1 && type_b == 1) {
    a.remove_prefix(1);
    b.remove_prefix(1);
    return take_text(a).compare(take_text(b));
  }
  Cell cell_a, cell_b;
  take_cell(a, cell_a);
  take_cell(b, cell_b);
  return compare(cell_a, cell_b);
}
bool payload_ascends(std::string_view a, std::string_view b) { return compare_encoded(a, b) < 0; }
bool payload_descends(std::string_view a, std::string_view b) { return compare_encoded(b, a) < 0; }

int compare_keys(const Cell& a, const Cell& b, RowDirection direction) {
  if (is_known(a) != is_known(b)) return is_known(a) ? -1 : 1;
  if (!is_known(a)) return 0;
  const int order = compare(a, b);
  return direction == RowDirection::descending ? -order : order;
}

}  // namespace

bool stands_before(const Row& a, const Row& b, RowDirection direction) {
  const int order = compare_keys(a.key, b.key, direction);
  return order != 0 ? order < 0 : a.sequence < b.sequence;
}

struct RowStore::State {
  std::int64_t top;  // 0 for all
  RowDirection direction;
  SpillSort sort;
  std::vector<Row> heap;  // the last row is at the front
  std::size_t next = 0;
  std::string buffer;

  bool uses_heap() const { return top > 0 && top <= kMaxHeap; }
  bool full() const { return heap.size() == static_cast<std::size_t>(top); }
  bool before(const Row& a, const Row& b) const { return stands_before(a, b, direction); }
};

RowStore::RowStore(std::int64_t top, RowDirection direction, std::string folder)
    : state_(new State{
          top,
          direction,
          SpillSort(std::move(folder), kSortMemory,
                    direction == RowDirection::descending ? payload_descends : payload_ascends),
          {},
          0,
          {}}) {}
RowStore::~RowStore() = default;
RowStore::RowStore(RowStore&&) noexcept = default;
RowStore& RowStore::operator=(RowStore&&) noexcept = default;

bool RowStore::wants(const Cell& key) const {
  const State& s = *state_;
  if (!s.uses_heap() || !s.full()) return true;
  return compare_keys(key, s.heap.front().key, s.direction) < 0;  // later arrivals lose ties
}

Status RowStore::add(Row row) {
  State& s = *state_;
  if (!s.uses_heap()) {
    encode(row, s.buffer);
    return s.sort.add(sort_key(row.key, s.direction), s.buffer);
  }
  const auto before = [&s](const Row& a, const Row& b) { return s.before(a, b); };
  if (s.full()) {
    if (!s.before(row, s.heap.front())) return Done{};
    std::pop_heap(s.heap.begin(), s.heap.end(), before);
    s.heap.pop_back();
  }
  s.heap.push_back(std::move(row));
  std::push_heap(s.heap.begin(), s.heap.end(), before);
  return Done{};
}

Status RowStore::finish() {
  State& s = *state_;
  if (!s.uses_heap()) return s.sort.finish();
  std::sort(s.heap.begin(), s.heap.end(),
            [&s](const Row& a, const Row& b) { return s.before(a, b); });
  return Done{};
}

Result<bool> RowStore::next(Row& row) {
  State& s = *state_;
  if (s.uses_heap()) {
    if (s.next == s.heap.size()) return false;
    row = std::move(s.heap[s.next++]);
    return true;
  }
  if (s.top > 0 && s.next == static_cast<std::size_t>(s.top)) return false;
  ++s.next;
  SpillSort::Record record;
  BENCH_ASSIGN_OR_RETURN(const bool more, s.sort.next(record));
  if (more) decode(record.payload, row);
  return more;
}

}  // namespace bench::analysis
