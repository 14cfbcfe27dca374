// SPDX-License-Identifier: Apache-2.0
// Writes memory_flow.svg, a chart of addresses over time. Each allocation is a rectangle with all
// its properties as data- attributes. Above it, a curve shows live bytes and their peak. The chart
// shows fragmentation, allocations that live too long, and the composition of the peak.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Accepts activities in any order and ignores those that are not allocations. Draws one chart per
// process and per device of it. Keeps 16 bytes per allocation for the peak. Keeps all data only for
// the kMaxRectangles allocations with the largest bytes x lifetime. Not thread-safe.
class MemoryFlow final : public ActivitySink {
 public:
  static Result<std::unique_ptr<MemoryFlow>> create(const std::string& path, Existing existing);
  static std::unique_ptr<MemoryFlow> to(std::string& text);  // `text` must outlive it
  ~MemoryFlow() override;

  Status consume(const Activity& activity) override;
  Status finish();  // must be the last call; creates the file

  std::int64_t drawn() const;  // number of rectangles; valid after finish()

 private:
  struct State;
  explicit MemoryFlow(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};
inline constexpr std::size_t kMaxRectangles = 20000;  // keeps browsers responsive

// The parts of memory_flow.svg that can be computed without drawing.
struct MemoryBlock {
  std::string name, role, layer;
  std::uint64_t address = 0;
  std::int64_t size = 0;                 // bytes, > 0
  std::int64_t allocated = 0;            // ns
  std::optional<std::int64_t> released;  // ns; nullopt if it lived to the end
};

struct MemoryChange {
  std::int64_t time;    // ns
  std::int64_t change;  // bytes
};

// Live bytes after each change, and their maximum. At equal times, releases come first.
struct LiveBytes {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // (ns, bytes)
  std::int64_t peak = 0;
  std::int64_t peak_time = 0;
};
LiveBytes live_bytes(std::vector<MemoryChange> changes);

// An address scale without the empty space between distant regions. A gap of more than one fiftieth
// of all used bytes becomes a break of constant height. Within regions, all bytes have the same
// height.
class AddressScale {
 public:
  struct Region {
    std::uint64_t begin, end;  // addresses
    double offset;             // position of `begin` on the scale
  };
  // `height` is the height of the scale including breaks.
  AddressScale(const std::vector<MemoryBlock>& blocks, double height);
  double at(std::uint64_t address) const;  // 0 at the lowest address
  double length(std::int64_t bytes) const { return static_cast<double>(bytes) * per_byte_; }
  const std::vector<Region>& regions() const { return regions_; }

 private:
  std::vector<Region> regions_;
  double per_byte_ = 0;
};

}  // namespace bench
