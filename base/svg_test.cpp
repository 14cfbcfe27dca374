// SPDX-License-Identifier: Apache-2.0
#include "base/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kScript = "</text><script>alert('x')</script>\"";

TEST(Svg, TextsAndLabelsNeverBecomeMarkup) {
  Svg svg({100, 50}, kScript);
  svg.text({1, 2}, kScript, Anchor::end);
  svg.open_mark(kScript);
  svg.close_mark();
  const std::string text = std::move(svg).finish();
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, HasSubstr("aria-label=\"&lt;/text&gt;&lt;script&gt;"));
  EXPECT_THAT(text, HasSubstr("text-anchor=\"end\">&lt;/text&gt;&lt;script&gt;"));
  EXPECT_THAT(text, HasSubstr("<g class=\"mark\"><title>&lt;/text&gt;"));
}

TEST(Svg, CoordinatesAreShortAndFinite) {
  Svg svg({100, 50}, "plot");
  svg.line({0.04, -0.04}, {12.25, std::numeric_limits<double>::infinity()}, "grid");
  svg.rect({1, 2}, {-3, 4}, "s0");
  const std::string text = std::move(svg).finish();
  EXPECT_THAT(text, HasSubstr("<line class=\"grid\" x1=\"0\" y1=\"0\" x2=\"12.2\" y2=\"0\"/>"));
  EXPECT_THAT(text, HasSubstr("width=\"0\" height=\"4\""));
}

TEST(Svg, SeriesDifferInShapeAndInColour) {
  std::set<std::string> classes;
  std::set<Marker> shapes;
  for (std::size_t i = 0; i < 4; ++i) {
    classes.insert(series_class(i));
    shapes.insert(series_marker(i));
  }
  EXPECT_EQ(classes.size(), 4U);
  EXPECT_EQ(shapes.size(), 4U);
}

TEST(Svg, PartsAreTheWholePicture) {
  const auto draw_line = [](Svg& svg) { svg.line({0, 0}, {1, 1}, "grid"); };
  Svg whole({100, 50}, "plot"), parts({100, 50}, "plot");
  draw_line(whole);
  std::string text = parts.take();
  draw_line(parts);
  text += parts.take();
  EXPECT_EQ(text + std::move(parts).finish(), std::move(whole).finish());
}

TEST(Svg, AMarkHasDataForPrograms) {
  Svg svg({100, 50}, "plot");
  svg.open_mark("block",
                std::vector<DataAttribute>{{"name", std::string(kScript)}, {"size-bytes", "64"}});
  svg.close_mark();
  const std::string text = std::move(svg).finish();
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, HasSubstr("data-size-bytes=\"64\"><title>block</title>"));
}

TEST(Svg, AFileOfItsOwnHasItsColoursAndABackground) {
  Svg svg({100, 50}, "plot");
  const std::string text = standalone_svg(std::move(svg).finish());
  EXPECT_THAT(text, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns="));
  EXPECT_THAT(text, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_LT(text.find("<style>"), text.find("class=\"paper\""));
}

}  // namespace
}  // namespace bench
