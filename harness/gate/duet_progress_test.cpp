// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/measurer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;

class Steps final : public RunObserver {
 public:
  void step(std::int64_t done, std::int64_t total, const std::string& id,
            std::optional<Nanoseconds> remaining) override {
    lines.push_back(std::to_string(done) + "/" + std::to_string(total) + " " + id);
    if (!remaining) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*remaining).count();
    lines.back() += ", " + std::to_string(seconds) + " s left";
  }
  void case_finished(const CaseRecord&) override {}
  void message(const std::string&) override {}

  std::vector<std::string> lines;
};

TEST(DuetProgress, DuetsCountWhatIsBehindAndWhatIsLeft) {
  Steps steps;
  const DuetProgress progress = duet_progress(steps);
  progress({"a", "duet", 3});
  progress({"b", "duet", 2, std::chrono::seconds(4)});
  progress({"a", "confirmation", 20, std::chrono::seconds(40)});  // more than was known before
  EXPECT_THAT(steps.lines, ElementsAre("0/3 duet of a", "1/3 duet of b, 4 s left",
                                       "2/22 confirmation of a, 40 s left"));
}

}  // namespace
}  // namespace bench
