// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor_core/architecture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bench::ops {
namespace {

using testing::HasSubstr;

TEST(Architectures, AreFoundByTheSpellingsThatPeopleUse) {
  for (const char* written : {"sm_90", "sm90", "SM_90", "sm_90a", "90", "9.0"}) {
    const auto found = find_architecture(written);
    ASSERT_TRUE(found.ok()) << written;
    EXPECT_EQ((*found)->name, "sm_90") << written;
  }
  EXPECT_EQ((*find_architecture("10.0"))->name, "sm_100");
  EXPECT_EQ((*find_architecture("sm_100f"))->name, "sm_100");
  EXPECT_EQ((*find_architecture("12.1"))->name, "sm_121");
}

TEST(Architectures, UnknownOnesAreErrorsWithTheNearestName) {
  for (const char* written :
       {"sm_9O", "sm_91", "sm_60", "hopper", "", "compute_90", "sm_", "9 0"}) {
    const auto found = find_architecture(written);
    ASSERT_FALSE(found.ok()) << written;
    EXPECT_THAT(found.error().what, HasSubstr(written));
    EXPECT_THAT(found.error().next, HasSubstr("sm_70, sm_72, sm_75")) << written;
  }
  EXPECT_THAT(find_architecture("sm_91").error().message(), HasSubstr("did you mean `sm_90`?"));
}

TEST(Architectures, HaveNamesOfTheirOwnAndASpanOfLibraries) {
  std::set<std::string_view> names;
  for (const Architecture& architecture : architectures()) {
    EXPECT_TRUE(names.insert(architecture.name).second);
    EXPECT_LE(architecture.first, architecture.last) << architecture.name;
    EXPECT_EQ(*find_architecture(architecture.name), &architecture);
    EXPECT_FALSE(architecture.family.empty());
    EXPECT_FALSE(architecture.devices.empty());
  }
}

TEST(Platforms, TakeTheNewestLibrariesThatKnowTheArchitecture) {
  EXPECT_EQ(parse_platform("sm_90")->libraries, LibraryGeneration::cuda13);
  EXPECT_EQ(parse_platform("sm_70")->libraries, LibraryGeneration::cuda12);
  EXPECT_EQ(parse_platform("sm_75:cuda10")->libraries, LibraryGeneration::cuda10);
  EXPECT_EQ(parse_platform("sm_75:cuda10")->architecture->name, "sm_75");
  const auto unknown = parse_platform("sm_75:cuda9");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message(), HasSubstr("cuda10"));
  EXPECT_FALSE(parse_platform("sm_1:cuda10").ok());
}

}  // namespace
}  // namespace bench::ops
