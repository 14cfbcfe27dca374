// SPDX-License-Identifier: Apache-2.0
// Writes SVG. Colours are CSS classes (`s0` to `s5` for series, `ink`, `soft`, `grid`, ...). The
// page or standalone_svg() defines their values for light and dark.
#pragma once

#include "base/enumerators.hpp"
#include "harness/report/axis.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

struct Point {
  double x = 0, y = 0;
};

BENCH_ENUM(Anchor, start, middle, end);
enum class Marker { circle, square, triangle, diamond };

inline constexpr std::size_t kSeriesColours = 6;
// Returns the class of a series, "s0" to "s5", then "s0" again. Colour-blind readers can
// distinguish these colours.
std::string series_class(std::size_t number);
// Returns the shape of a series, so that its colour is not the only distinction. Repeats after
// four.
Marker series_marker(std::size_t number);

// Builds an SVG picture. `classes`: CSS classes, separated by blanks.
class Svg {
 public:
  // `label`: the text that a screen reader reads aloud for the picture.
  Svg(Point size, std::string_view label);

  void line(Point from, Point to, std::string_view classes);
  void rect(Point corner, Point size, std::string_view classes);
  void text(Point at, std::string_view text, Anchor anchor, std::string_view classes = "");
  // `points`: texts of svg_point(), one after the other.
  void polyline(const std::string& points, std::string_view classes);
  void marker(Marker shape, Point at, double radius, std::string_view classes);
  // Starts a mark: a group of shapes, up to close_mark(), that the reader can point at. `text`
  // describes the mark.
  void open_mark(std::string_view text, std::string_view classes = "");
  void close_mark();

  std::string finish() &&;  // returns the picture

 private:
  std::string text_;
};

// Returns "12.5,3 ": one point of a polyline.
std::string svg_point(Point point);

// Returns the content of an SVG file: the picture with the definition of its colours.
std::string standalone_svg(std::string_view svg);

}  // namespace bench
