// SPDX-License-Identifier: Apache-2.0
// memory_flow.svg: time x address, one rectangle for each allocation with all that is known of it
// as data- attributes, live bytes with their peak above. Shows fragmentation, what lives too long,
// and what makes the peak.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace bench {

// Takes activities in any order; those that are no allocations pass. One chart for each process
// and each device of it. Keeps 16 bytes an allocation for the peak, and the rest of the
// kMaxRectangles with the largest bytes x lifetime. Not thread-safe.
class MemoryFlow final : public ActivitySink {
 public:
  static Result<std::unique_ptr<MemoryFlow>> create(const std::string& path, Existing existing);
  static std::unique_ptr<MemoryFlow> to(std::string& text);  // which outlives it; for tests
  ~MemoryFlow() override;

  Status take(const Activity& activity) override;
  Status finish();  // the last call; the file is there then

  std::int64_t drawn() const;  // rectangles, after finish()

 private:
  struct State;
  explicit MemoryFlow(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};
inline constexpr std::size_t kMaxRectangles = 20000;  // browsers stay quick

}  // namespace bench
