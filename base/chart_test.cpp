// SPDX-License-Identifier: Apache-2.0
#include "base/chart.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns x or y of the element that shows this text.
double text_position(const std::string& svg, char axis, const std::string& text) {
  const std::size_t end = svg.find(">" + text + "</text>");
  EXPECT_NE(end, std::string::npos) << text;
  return std::stod(svg.substr(svg.rfind(std::string(" ") + axis + "=\"", end) + 4));
}

RowChart chart_of_one_row(ChartRow row) {
  return {"chart", {.title = "axis", .values = {0, 10}}, {std::move(row)}};
}

TEST(RowChart, ALabelIsLeftOfItsRowOrAboveIt) {
  const RowChart chart = chart_of_one_row({"label", "7 %", 20});
  const std::string wide = draw_rows(chart, 880), narrow = draw_rows(chart, 340);
  EXPECT_THAT(wide, HasSubstr("text-anchor=\"end\">label</text>"));
  EXPECT_EQ(text_position(wide, 'y', "label"), text_position(wide, 'y', "7 %"));
  EXPECT_EQ(text_position(narrow, 'x', "label"), 8);
  EXPECT_THAT(narrow, HasSubstr("viewBox=\"0 0 340 86\""));
}

TEST(RowChart, PositionsInARowAreUnitsOrValuesOfItsAxis) {
  Mark mark{"mark", {Symbol{Marker::circle, {5, 0}, 3, "s1"}}};
  const std::string units = draw_rows(chart_of_one_row({"a", "", 40, {mark}}), 880);
  EXPECT_THAT(units, HasSubstr("cy=\"43\""));
  const std::string values = draw_rows(chart_of_one_row({"a", "", 40, {mark}, Extent{0, 1}}), 880);
  EXPECT_THAT(values, HasSubstr("cy=\"78\""));
}

TEST(RowChart, ADivisionHasItsWordsOnBothSidesAndABand) {
  RowChart chart = chart_of_one_row({"a", "", 14});
  chart.division = AxisDivision{5, "less", "more", 1};
  const std::string svg = draw_rows(chart, 880);
  EXPECT_LT(text_position(svg, 'x', "less"), text_position(svg, 'x', "more"));
  EXPECT_THAT(svg, HasSubstr("<rect class=\"band\""));
}

TEST(RowChart, ABarBelowItsMinimumSizeGrowsAroundItsCentre) {
  const Mark mark{"", {Bar{{5, 5}, Extent{0, 8}, "s0", {3, 10}}}};
  const std::string svg = draw_rows(chart_of_one_row({"a", "", 14, {mark}}), 880);
  EXPECT_THAT(svg, HasSubstr("y=\"42\" width=\"3\" height=\"10\""));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"mark\""))) << "a mark without text is a background";
}

PlaneChart chart_of_two_planes() {
  PlaneChart chart{"chart"};
  chart.x = {.title = "time", .values = {0, 10}};
  Plane upper{{.title = "upper", .values = {0, 4}}, 50, 50};
  Plane lower{{.title = "lower", .values = {0, 100}}, 100, 100};
  lower.y.ticks = {{0, "bottom"}, {1, "hidden"}, {50, "middle"}};
  chart.planes = {upper, lower};
  return chart;
}

TEST(PlaneChart, ItsOwnTicksHaveATextIfThereIsRoom) {
  const std::string svg = draw_planes(chart_of_two_planes(), 880);
  EXPECT_EQ(text_position(svg, 'y', "bottom") - text_position(svg, 'y', "middle"), 50);
  EXPECT_THAT(svg, Not(HasSubstr("hidden")));
  EXPECT_LT(text_position(svg, 'y', "upper"), text_position(svg, 'y', "lower"));
}

TEST(PlaneChart, TicksOfTheHorizontalAxisThatDoNotFitBecomeRoundValues) {
  PlaneChart chart = chart_of_two_planes();
  for (const double value : {1.0, 3.0, 4.0, 6.0, 7.0, 9.0}) chart.x.ticks.push_back({value, "own"});
  EXPECT_THAT(draw_planes(chart, 880), HasSubstr(">own<"));
  EXPECT_THAT(draw_planes(chart, 340), Not(HasSubstr(">own<")));
}

TEST(PlaneChart, ALegendHasAsManyRowsAsItsNamesNeed) {
  PlaneChart chart = chart_of_two_planes();
  const auto height = [&] {
    const std::string svg = draw_planes(chart, 340);
    return std::stod(svg.substr(svg.find("viewBox=\"0 0 340 ") + 17));
  };
  const double without = height();
  chart.legend.push_back({"first", series_symbol(0, {}, 4), "curve s0"});
  chart.legend.push_back({"second", series_symbol(1, {}, 4)});
  EXPECT_EQ(height(), without + 22);
  std::string svg = draw_planes(chart, 340);
  EXPECT_EQ(text_position(svg, 'y', "first"), text_position(svg, 'y', "second"));
  EXPECT_THAT(svg, HasSubstr("<polyline class=\"curve s0\""));
  chart.legend.push_back({std::string(100, 'n'), series_symbol(2, {}, 4)});
  EXPECT_EQ(height(), without + 38);
  svg = draw_planes(chart, 340);
  EXPECT_THAT(svg, HasSubstr("nnn...nnn"));
}

TEST(RowChart, CountsWhatReachesBeyondItsAxis) {
  const Mark inside{"a", {Stroke{{0, 0}, {10, 0}, ""}}};
  const Mark outside{"b", {Bar{{-1, 5}, std::nullopt, ""}, Symbol{Marker::circle, {11, 0}, 3, ""}}};
  const BeyondAxis beyond = count_beyond_axis(chart_of_one_row({"a", "", 14, {inside, outside}}));
  EXPECT_EQ(beyond.marks, 1U);
  EXPECT_EQ(beyond.shapes, 2U);
}

TEST(PlaneChart, SeveralChartsShareAPicture) {
  Svg svg({880, 800}, "charts");
  PlaneChart chart = chart_of_two_planes();
  for (const double top : {0.0, 400.0}) {
    chart.title = fmt::format("at {}", top);
    draw_planes(svg, chart, 880, top);
  }
  const std::string text = std::move(svg).finish();
  EXPECT_EQ(text_position(text, 'y', "at 400") - text_position(text, 'y', "at 0"), 400);
}

}  // namespace
}  // namespace bench
