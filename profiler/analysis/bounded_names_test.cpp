// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/bounded_names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::analysis {
namespace {

Activity called(const std::string& name, const std::string& scope = "") {
  Activity activity;
  activity.name = name;
  activity.scope = scope;
  return activity;
}

TEST(BoundedNames, NamesAfterTheLimitAreOne) {
  BoundedNames names(2);
  EXPECT_EQ(names.bound(called("a")).name, "a");
  EXPECT_EQ(names.bound(called("b")).name, "b");
  EXPECT_FALSE(names.has_joined());
  EXPECT_EQ(names.bound(called("c")).name, kFurtherNames);
  EXPECT_EQ(names.bound(called("d")).name, kFurtherNames);
  EXPECT_EQ(names.bound(called("a")).name, "a");
  EXPECT_TRUE(names.has_joined());
}

TEST(BoundedNames, LayersAndDomainsHaveLimitsOfTheirOwn) {
  BoundedNames names(1);
  EXPECT_EQ(names.bound(called("a", "net:x")).scope, "net:x");
  const Activity& next = names.bound(called("a", "net:y"));
  EXPECT_EQ(next.name, "a");
  EXPECT_EQ(next.scope, kFurtherNames);
  Activity of_user = called("a");
  of_user.attributes.set(Attribute::domain, "one");
  EXPECT_EQ(names.bound(of_user).attributes.text(Attribute::domain), "one");
  of_user.attributes.set(Attribute::domain, "two");
  EXPECT_EQ(names.bound(of_user).attributes.text(Attribute::domain), kFurtherNames);
}

}  // namespace
}  // namespace bench::analysis
