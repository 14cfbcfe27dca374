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
#include <string>

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

}  // namespace bench
