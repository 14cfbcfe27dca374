// SPDX-License-Identifier: Apache-2.0
#include "ops/parameter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace bench::ops {
namespace {

using ::testing::HasSubstr;
using enum ParameterKind;

constexpr std::array<std::string_view, 2> kModes = {"fast", "slow"};

constexpr std::array<Parameter, 8> kTable = {{
    {"mode", "", word, "fast", "a word", 1, kModes},
    {"n", "n", count, "1", "a count"},
    {"window", "k", spatial, "required", "a window"},
    {"stride", "u", spatial, "window", "a step"},
    {"pad", "p", padding, "0", "zeros", 0},
    {"alpha", "alpha", real, "0.01", "a slope"},
    {"size", "z", count, "like n", "a size"},
    {"bias", "bias", flag, "false", "a flag"},
}};

std::size_t index_of(std::string_view name) {
  return static_cast<std::size_t>(find_parameter(kTable, name) - kTable.data());
}

bool is_default_value(std::string_view name, Value value) {
  ParameterSet set(kTable);
  set.set("window", std::vector<std::int64_t>{3, 2});
  set.set(name, std::move(value));
  return is_default(set, index_of(name));
}

TEST(ParameterSet, HoldsTypedValues) {
  ParameterSet set(kTable);
  EXPECT_FALSE(set.has("n"));
  set.set("n", std::int64_t{7});
  set.set("mode", std::string("slow"));
  set.set("alpha", 0.5);
  set.set("bias", true);
  set.set("pad", std::vector<PadPair>{{1, 2}});
  EXPECT_EQ(set.count("n"), 7);
  EXPECT_EQ(set.word("mode"), "slow");
  EXPECT_EQ(set.real("alpha"), 0.5);
  EXPECT_TRUE(set.flag("bias"));
  EXPECT_EQ(set.padding("pad").front().end, 2);
  ParameterSet same = set;
  EXPECT_TRUE(same == set);
  same.set("n", {});
  EXPECT_FALSE(same.has("n"));
  EXPECT_FALSE(same == set);
}

TEST(FindParameter, UnknownIsNull) {
  EXPECT_EQ(find_parameter(kTable, "stride")->token, "u");
  EXPECT_EQ(find_parameter(kTable, "strid"), nullptr);
}

TEST(IsDefault, ComparesWithTheFallback) {
  EXPECT_TRUE(is_default_value("n", std::int64_t{1}));
  EXPECT_FALSE(is_default_value("n", std::int64_t{2}));
  EXPECT_TRUE(is_default_value("mode", std::string("fast")));
  EXPECT_FALSE(is_default_value("mode", std::string("slow")));
  EXPECT_TRUE(is_default_value("alpha", 0.01));
  EXPECT_TRUE(is_default_value("bias", false));
  EXPECT_TRUE(is_default_value("pad", std::vector<PadPair>{{0, 0}, {0, 0}}));
  EXPECT_FALSE(is_default_value("pad", std::vector<PadPair>{{0, 0}, {0, 1}}));
}

TEST(IsDefault, FollowsAnotherParameter) {
  EXPECT_TRUE(is_default_value("stride", std::vector<std::int64_t>{3, 2}));
  EXPECT_FALSE(is_default_value("stride", std::vector<std::int64_t>{3, 3}));
}

TEST(IsDefault, RequiredInheritedAndAbsentValuesAreNone) {
  EXPECT_FALSE(is_default_value("window", std::vector<std::int64_t>{1, 1}));
  EXPECT_FALSE(is_default_value("size", std::int64_t{1}));
  EXPECT_FALSE(is_default_value("n", {}));
}

std::string error(std::string_view name, Value value) {
  const Status status = check_value(*find_parameter(kTable, name), value);
  if (status.ok()) return "accepted";
  EXPECT_EQ(status.error().where, name);
  return status.error().what;
}

TEST(CheckValue, SaysFoundAndExpected) {
  EXPECT_EQ(error("n", std::int64_t{0}), "`n` is 0, expected an integer >= 1");
  EXPECT_EQ(error("mode", std::string("quick")), "`mode` is `quick`, expected one of fast, slow");
  EXPECT_THAT(error("window", std::vector<std::int64_t>{3, -2}), HasSubstr("-2, expected an int"));
  EXPECT_THAT(error("window", std::vector<std::int64_t>{}), HasSubstr("an empty list"));
  EXPECT_THAT(error("pad", std::vector<PadPair>{{0, -1}}), HasSubstr("-1, expected"));
  EXPECT_THAT(error("alpha", std::numeric_limits<double>::infinity()), HasSubstr("finite"));
  EXPECT_THAT(error("bias", std::int64_t{1}), HasSubstr("expected true or false"));
  EXPECT_EQ(error("pad", std::vector<PadPair>{{0, 0}}), "accepted");
  EXPECT_EQ(error("n", {}), "accepted");
}

}  // namespace
}  // namespace bench::ops
