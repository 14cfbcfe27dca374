// SPDX-License-Identifier: Apache-2.0
// Writes SVG. Colours are classes (`s0` to `s5` for series, `ink`, `soft`, `grid`, ...), whose
// values the page or standalone_svg() defines for light and dark.
#pragma once

#include "harness/report/axis.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

struct Point {
  double x = 0, y = 0;
};

enum class Anchor { start, middle, end };
enum class Marker { circle, square, triangle, diamond };

inline constexpr std::size_t kSeriesColours = 6;
// Returns "s0" to "s5": colours that the colour-blind can distinguish. Repeats after the last.
std::string series_class(std::size_t number);
// Every series has a shape of its own beside its colour.
Marker series_marker(std::size_t number);

class Svg {
 public:
  // `label`: what a screen reader reads aloud for the picture.
  Svg(Point size, std::string_view label);

  void line(Point from, Point to, std::string_view classes);
  void rect(Point corner, Point size, std::string_view classes);
  void text(Point at, std::string_view text, Anchor anchor, std::string_view classes = "");
  void polyline(const std::string& points, std::string_view classes);
  void marker(Marker shape, Point at, double radius, std::string_view classes);
  // Marks drawn until close_mark() are one thing that the reader can point at; `text` describes it.
  void open_mark(std::string_view text, std::string_view classes = "");
  void close_mark();

  std::string finish() &&;

 private:
  std::string text_;
};

// Returns "12.5,3 ": one point of a polyline.
std::string svg_point(Point point);

// The picture as a file of its own, with its colours.
std::string standalone_svg(std::string_view svg);

}  // namespace bench
