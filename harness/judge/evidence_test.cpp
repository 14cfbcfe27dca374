// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/evidence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::Optional;

// The base was blamed for samples without time, also for those of the candidate.
TEST(SideWithoutTime, IsTheOneWhoseSamplesTookNoTime) {
  using Side = SideFailure::Side;
  Duet timed;
  timed.base = {200ns, 300ns, 200ns};
  timed.candidate = {200ns, 200ns, 300ns};
  EXPECT_EQ(find_side_without_time(timed), std::nullopt);
  Duet without_candidate = timed;
  without_candidate.candidate.assign(3, 0ns);
  EXPECT_THAT(find_side_without_time(without_candidate), Optional(Side::candidate));
  Duet without_base = timed;
  without_base.base.assign(3, 0ns);
  EXPECT_THAT(find_side_without_time(without_base), Optional(Side::base));
  EXPECT_THAT(find_side_without_time(Duet{}), Optional(Side::base));
}

}  // namespace
}  // namespace bench
