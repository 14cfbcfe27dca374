// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/spill_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <queue>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t kReadBlock = 1 << 18;  // bytes per read of a run and per write

struct Item {
  SortKey key;
  std::uint64_t place;  // position of the payload; grows with the order of arrival
  std::uint32_t size;
};

// Stores payloads in blocks that never move. A single block would be copied whenever it grows, and
// both copies would be in memory.
class Payloads {
 public:
  std::uint64_t add(std::string_view payload) {
    if (blocks_.empty() || blocks_.back().size() + payload.size() > blocks_.back().capacity()) {
      blocks_.emplace_back().reserve(std::max(kBlock, payload.size()));
    }
    const std::uint64_t place = (blocks_.size() - 1) << kPositionBits | blocks_.back().size();
    blocks_.back() += payload;
    size_ += payload.size();
    return place;
  }
  std::string_view at(std::uint64_t place, std::size_t size) const {
    const std::uint64_t position = place & ((std::uint64_t{1} << kPositionBits) - 1);
    return std::string_view(blocks_[place >> kPositionBits]).substr(position, size);
  }
  std::size_t size() const { return size_; }
  void clear() {
    blocks_.clear();
    size_ = 0;
  }

 private:
  static constexpr std::size_t kBlock = 1 << 20;
  static constexpr unsigned kPositionBits = 40;
  std::vector<std::string> blocks_;
  std::size_t size_ = 0;
};

bool before(const SortKey& a, const SortKey& b) {
  return a.first != b.first ? a.first < b.first : a.second < b.second;
}

// Precedes each record's payload in the file.
struct RecordHeader {
  SortKey key;
  std::uint32_t size;
};

Error disk_error(std::string_view action, const std::string& folder) {
  return Error{fmt::format("cannot {}: {}", action, std::generic_category().message(errno)), folder,
               "free some space there: data beyond the memory limit is sorted on disk"};
}

// A sorted part of the file, read block by block.
class Run {
 public:
  Run(int file, std::int64_t begin, std::int64_t end) : file_(file), at_(begin), end_(end) {}

  // Goes to the next record. Returns false at the end and on errors (errno is then set, else 0).
  bool advance() {
    position_ += consumed_;
    consumed_ = 0;
    errno = 0;
    if (!ensure_available(sizeof(RecordHeader))) return false;
    std::memcpy(&header_, block_.data() + position_, sizeof header_);
    if (!ensure_available(sizeof header_ + header_.size)) return false;
    consumed_ = sizeof header_ + header_.size;
    return true;
  }
  const SortKey& key() const { return header_.key; }
  std::string_view payload() const {
    return {block_.data() + position_ + sizeof header_, header_.size};
  }

 private:
  // Reads until `size` bytes from position_ on are in block_. Returns false if the run is shorter,
  // and on errors.
  bool ensure_available(std::size_t size) {
    if (block_.size() - position_ >= size) return true;
    block_.erase(0, position_);
    position_ = 0;
    while (block_.size() < size && at_ < end_) {
      const std::size_t old = block_.size();
      const std::size_t wanted = std::min<std::size_t>(std::max(size - old, kReadBlock),
                                                       static_cast<std::size_t>(end_ - at_));
      block_.resize(old + wanted);
      const ::ssize_t count = ::pread(file_, block_.data() + old, wanted, at_);
      block_.resize(old + static_cast<std::size_t>(std::max<::ssize_t>(count, 0)));
      if (count == 0) errno = EIO;  // the file has become shorter
      if (count <= 0) return false;
      at_ += count;
    }
    return block_.size() >= size;
  }

  int file_;
  std::int64_t at_, end_;
  std::string block_;
  std::size_t position_ = 0, consumed_ = 0;
  RecordHeader header_{};
};

}  // namespace

struct SpillSort::State {
  std::string folder;
  std::size_t memory_limit;
  PayloadOrder order = nullptr;
  Payloads payloads;
  std::vector<Item> items;
  std::size_t next_item = 0;
  int file = -1;
  std::int64_t file_size = 0;
  std::vector<std::int64_t> run_ends;
  std::vector<Run> runs;
  // The smallest key is on top. Equal keys are ordered by run, which is the order of arrival.
  struct Later {
    const std::vector<Run>* runs;
    const PayloadOrder* order;
    bool operator()(std::size_t a, std::size_t b) const {
      const Run &x = (*runs)[a], &y = (*runs)[b];
      if (before(y.key(), x.key())) return true;
      if (before(x.key(), y.key())) return false;
      if (*order != nullptr) {
        if ((*order)(y.payload(), x.payload())) return true;
        if ((*order)(x.payload(), y.payload())) return false;
      }
      return b < a;
    }
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, Later> heap{Later{&runs, &order}};
  std::ptrdiff_t current = -1;  // index of the run of the record that next() gave last; -1: none

  ~State() {
    if (file >= 0) ::close(file);
  }

  std::string_view find_payload(const Item& item) const {
    return payloads.at(item.place, item.size);
  }

  void sort_items() {
    std::sort(items.begin(), items.end(), [this](const Item& a, const Item& b) {
      if (before(a.key, b.key)) return true;
      if (before(b.key, a.key)) return false;
      if (order != nullptr) {
        if (order(find_payload(a), find_payload(b))) return true;
        if (order(find_payload(b), find_payload(a))) return false;
      }
      return a.place < b.place;
    });
  }

  Status open_file() {
    std::string name = folder + "/.bench-sort-XXXXXX";
    file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file < 0) return disk_error("create a file in this folder", folder);
    ::unlink(name.c_str());
    return Done{};
  }

  Status write_block(const std::string& block) {
    for (std::size_t written = 0; written < block.size();) {
      const ::ssize_t count = ::write(file, block.data() + written, block.size() - written);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return disk_error("write a temporary file", folder);
      written += static_cast<std::size_t>(count);
    }
    file_size += static_cast<std::int64_t>(block.size());
    return Done{};
  }

  Status spill() {
    if (file < 0) BENCH_RETURN_IF_ERROR(open_file());
    sort_items();
    std::string block;
    for (const Item& item : items) {
      RecordHeader header{};
      header.key = item.key;
      header.size = item.size;
      block.append(reinterpret_cast<const char*>(&header), sizeof header);
      block += find_payload(item);
      if (block.size() < kReadBlock) continue;
      BENCH_RETURN_IF_ERROR(write_block(block));
      block.clear();
    }
    BENCH_RETURN_IF_ERROR(write_block(block));
    run_ends.push_back(file_size);
    items.clear();
    payloads.clear();
    return Done{};
  }

  Status advance(std::size_t run) {
    if (runs[run].advance()) {
      heap.push(run);
    } else if (errno != 0) {
      return disk_error("read a temporary file", folder);
    }
    return Done{};
  }
};

SpillSort::SpillSort(std::string folder, std::size_t memory_limit, PayloadOrder order)
    : state_(std::make_unique<State>()) {
  state_->order = order;
  state_->folder = std::move(folder);
  state_->memory_limit = memory_limit;
}
SpillSort::~SpillSort() = default;

Status SpillSort::add(SortKey key, std::string_view payload) {
  State& s = *state_;
  if (!s.items.empty() &&
      s.payloads.size() + payload.size() + (s.items.size() + 1) * sizeof(Item) > s.memory_limit) {
    BENCH_RETURN_IF_ERROR(s.spill());
  }
  s.items.push_back({key, s.payloads.add(payload), static_cast<std::uint32_t>(payload.size())});
  return Done{};
}

Status SpillSort::finish() {
  State& s = *state_;
  if (s.run_ends.empty()) {
    s.sort_items();
    return Done{};
  }
  BENCH_RETURN_IF_ERROR(s.spill());
  std::int64_t begin = 0;
  for (const std::int64_t end : s.run_ends)
    s.runs.emplace_back(s.file, std::exchange(begin, end), end);
  for (std::size_t run = 0; run < s.runs.size(); ++run) BENCH_RETURN_IF_ERROR(s.advance(run));
  return Done{};
}

Result<bool> SpillSort::next(Record& record) {
  State& s = *state_;
  if (s.run_ends.empty()) {
    if (s.next_item == s.items.size()) return false;
    const Item& item = s.items[s.next_item++];
    record = {item.key, s.find_payload(item)};
    return true;
  }
  if (s.current >= 0) BENCH_RETURN_IF_ERROR(s.advance(static_cast<std::size_t>(s.current)));
  s.current = -1;
  if (s.heap.empty()) return false;
  s.current = static_cast<std::ptrdiff_t>(s.heap.top());
  s.heap.pop();
  const Run& run = s.runs[static_cast<std::size_t>(s.current)];
  record = {run.key(), run.payload()};
  return true;
}

}  // namespace bench
