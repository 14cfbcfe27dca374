// SPDX-License-Identifier: Apache-2.0
#include "base/enumerators.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

BENCH_ENUM(Pigment, red, (dark_green, "dark green"),
           blue);  // a comment may follow an enumerator

struct Figure {
  BENCH_MEMBER_ENUM(Kind, square);
  Kind kind = Kind::square;
};

static_assert(enumerator_names<Pigment>().size() == 3);
static_assert(to_string(Pigment::red) == "red");

TEST(Enumerators, HaveTheirIdentifiersAsNamesUnlessATextIsGiven) {
  EXPECT_EQ(to_string(Pigment::dark_green), "dark green");
  EXPECT_EQ(to_string(Pigment::blue), "blue");
  EXPECT_EQ(to_string(Figure().kind), "square");
}

TEST(Enumerators, AreFoundByName) {
  EXPECT_EQ(enumerator_from_name<Pigment>("dark green"), Pigment::dark_green);
  EXPECT_EQ(enumerator_from_name<Pigment>("dark_green"), std::nullopt);
}

// The macro limit of base/for_each.hpp.
BENCH_ENUM(EightyNames, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8,
           b9, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0,
           e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, g0, g1, g2,
           g3, g4, g5, g6, g7, g8, g9, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9);

TEST(Enumerators, CanBeEighty) {
  EXPECT_EQ(enumerator_names<EightyNames>().size(), 80U);
  EXPECT_EQ(to_string(EightyNames::h9), "h9");
}

}  // namespace
}  // namespace bench
