// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/profile_pass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;

std::vector<std::string>& heard() {
  static std::vector<std::string> calls;
  return calls;
}
int start() {
  heard().emplace_back("start");
  return 0;
}
int stop() {
  heard().emplace_back("stop");
  return 0;
}

TEST(ProfilerWindow, IsOpenWhileItLives) {
  heard().clear();
  {
    const ProfilerWindow window(ProfilerCalls{start, stop});
    heard().emplace_back("work");
  }
  EXPECT_THAT(heard(), ElementsAre("start", "work", "stop"));
}

TEST(ProfilerWindow, WithoutADriverNothingHappens) { const ProfilerWindow window(std::nullopt); }

}  // namespace
}  // namespace bench
