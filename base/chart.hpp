// SPDX-License-Identifier: Apache-2.0
// Charts as data: axes, marks and a legend. Two functions render them as SVG: draw_rows() labelled
// rows with a common horizontal axis, draw_planes() planes with a horizontal and a vertical axis.
#pragma once

#include "base/axis.hpp"
#include "base/svg.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

// A narrower chart has labels above its rows, and fewer ticks.
inline constexpr double kNarrowLimit = 600;

struct AxisTick {
  double value = 0;
  std::string text;
};

struct ChartAxis {
  std::string title = {};
  Scale::Kind kind = Scale::Kind::linear;
  Extent values = {};
  std::string (*format_tick)(double value) = format_plain_tick;
  // Ticks of a plane. Empty, or too many for a horizontal axis: round values.
  std::vector<AxisTick> ticks = {};
};

// The shapes of a mark. Horizontal positions are values of the chart's horizontal axis. Vertical
// positions are values of the vertical axis of the plane or row. In a row without this axis, they
// are SVG units below its upper edge. `classes`: CSS classes, separated by blanks.
struct Bar {
  Extent x;
  std::optional<Extent> y;  // nullopt: the whole height of the row or plane
  std::string classes;
  Point min_size = {};  // in SVG units; a smaller bar grows around its centre
};
struct Stroke {
  Point from, to;
  std::string classes;
};
struct Curve {
  std::vector<Point> points;  // not empty
  std::string classes;
};
struct Symbol {
  Marker marker;
  Point at;
  double radius;  // in SVG units
  std::string classes;
};
using Shape = std::variant<Bar, Stroke, Curve, Symbol>;

// Returns a symbol with the shape and the colour of a series.
Symbol series_symbol(std::size_t series, Point at, double radius);

// Shapes that the reader can point at as one.
struct Mark {
  std::string text;  // describes the mark; empty: the shapes are a background
  std::vector<Shape> shapes;
  std::vector<DataAttribute> data = {};
};

struct ChartRow {
  std::string label;  // cut in the middle if it is too long
  std::string value;  // at the right end
  double height = 0;  // height of the marks, without the label
  std::vector<Mark> marks = {};
  std::optional<Extent> y = std::nullopt;  // the vertical axis, upwards, with a small margin
};

// A value that divides the horizontal axis, and what its sides mean.
struct AxisDivision {
  double value = 0;
  std::string below, above;  // the words left and right of the value
  double tolerance = 0;      // a band marks the values with at most this distance
};

struct RowChart {
  std::string label;  // the text that a screen reader reads aloud for the chart
  ChartAxis x;
  std::vector<ChartRow> rows = {};  // not empty
  std::optional<AxisDivision> division = std::nullopt;
};

// Returns the chart as SVG with this width.
std::string draw_rows(const RowChart& chart, double width);

// Returns the values of the horizontal axis that a mark with shapes covers.
Extent mark_extent(const Mark& mark);

// What reaches beyond the horizontal axis, and is drawn at its end.
struct BeyondAxis {
  std::size_t marks = 0, shapes = 0;
};
BeyondAxis count_beyond_axis(const RowChart& chart);

// Where the label of a rising line may be: right below it, or left above it as well. The label of a
// level line is above or below it.
enum class LabelSides { right, both };

// A line below the marks. Its label is where it hides the least.
struct LabelledStroke {
  Stroke stroke;
  std::string text;  // describes the line
  std::string label;
  LabelSides sides = LabelSides::right;
};

struct Plane {
  ChartAxis y;  // its own ticks have a text if there is room
  double height = 0, narrow_height = 0;
  std::vector<Mark> marks = {};
  std::vector<LabelledStroke> lines = {};
};

struct LegendEntry {
  std::string name;
  Symbol symbol;          // its position has no meaning
  std::string line = {};  // classes of the line that the symbol is on; empty: none
};

struct PlaneChart {
  std::string label;       // the text that a screen reader reads aloud for the chart
  std::string title = {};  // above everything else; empty: none
  ChartAxis x = {};
  std::vector<Plane> planes = {};  // from top to bottom
  std::vector<LegendEntry> legend = {};
  double left = 84;  // left of the planes: room for the texts of ticks
};

// Returns the length of the horizontal axis.
double plane_width(const PlaneChart& chart, double width);
// Returns the chart as SVG with this width.
std::string draw_planes(const PlaneChart& chart, double width);
// Adds the chart to a picture, below `top`.
void draw_planes(Svg& svg, const PlaneChart& chart, double width, double top);

}  // namespace bench
