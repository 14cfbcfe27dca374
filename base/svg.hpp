// SPDX-License-Identifier: Apache-2.0
// Writes SVG. Colours are CSS classes (`s0` to `s5` for series, `ink`, `soft`, `grid`, ...). The
// page or standalone_svg() defines their values for light and dark.
#pragma once

#include "base/axis.hpp"
#include "base/enumerators.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

// Name and value of a data- attribute, for programs that read the picture: {"size-bytes", "64"}.
using DataAttribute = std::pair<std::string_view, std::string>;

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
  void open_mark(std::string_view text, std::span<const DataAttribute> data = {});
  void close_mark();

  // Returns what was added since the last call, so that a large picture can be written in parts.
  // finish() returns the last part.
  std::string take();
  std::string finish() &&;  // returns the picture

 private:
  std::string text_;
};

// Returns "12.5,3 ": one point of a polyline.
std::string svg_point(Point point);

// Returns the style sheet that defines the colours of pictures.
std::string_view plot_style();

// Returns the content of an SVG file: the picture with the definition of its colours. `svg` may be
// the first part of a picture.
std::string standalone_svg(std::string_view svg);

}  // namespace bench
