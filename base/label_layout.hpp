// SPDX-License-Identifier: Apache-2.0
// Chooses places for the labels of a plot, so that they hide as little as possible. Pure functions.
#pragma once

#include "base/svg.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace bench {

// A possible place of a label: the point of its anchor on its base line.
struct LabelSpot {
  Point at;
  Anchor anchor = Anchor::start;
};

// Estimated width of a label with the class `strong`, in SVG units.
double strong_text_width(std::string_view text);

class LabelLayout {
 public:
  // `corner`: upper left corner of the area that labels should not leave.
  LabelLayout(Point corner, Point size);

  void avoid_line(Point from, Point to);
  void avoid_mark(Point centre, double radius);
  // Chooses the spot at which the label hides least, the first of equally good ones. Later labels
  // avoid this label. `spots` must not be empty.
  LabelSpot place(std::string_view text, std::span<const LabelSpot> spots);

 private:
  struct Box {
    double left, top, right, bottom;
  };
  struct Line {
    Point from, to;
  };
  static Box make_box(std::string_view text, const LabelSpot& spot);
  static bool overlaps(const Box& a, const Box& b);
  static bool crosses(const Line& line, const Box& box);
  double cost(const Box& box) const;

  Box area_;
  std::vector<Line> lines_;
  std::vector<Box> marks_, labels_;
};

}  // namespace bench
