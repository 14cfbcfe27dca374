// SPDX-License-Identifier: Apache-2.0
#include "base/label_layout.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace bench {
namespace {

constexpr double kStrongLetterWidth = 6.8;            // average, at the size of the plots' text
constexpr double kTextAscent = 10, kTextDescent = 3;  // above and below the base line

// What a label must not do, the worst first. A label that is cut or on another label cannot be
// read. A mark hides letters, or is hidden. A line below a label still shows on both sides of it.
constexpr double kOutsideCost = 1000, kLabelCost = 300, kMarkCost = 10, kLineCost = 4;

}  // namespace

double strong_text_width(std::string_view text) {
  return kStrongLetterWidth * static_cast<double>(display_width(text));
}

LabelLayout::LabelLayout(Point corner, Point size)
    : area_{corner.x, corner.y, corner.x + size.x, corner.y + size.y} {}

void LabelLayout::avoid_line(Point from, Point to) { lines_.push_back({from, to}); }

void LabelLayout::avoid_mark(Point centre, double radius) {
  marks_.push_back({centre.x - radius, centre.y - radius, centre.x + radius, centre.y + radius});
}

LabelLayout::Box LabelLayout::make_box(std::string_view text, const LabelSpot& spot) {
  constexpr std::array kBefore = {0.0, 0.5, 1.0};  // fraction of the width before the anchor
  const double width = strong_text_width(text);
  const double left = spot.at.x - kBefore[static_cast<std::size_t>(spot.anchor)] * width;
  return {left, spot.at.y - kTextAscent, left + width, spot.at.y + kTextDescent};
}

bool LabelLayout::overlaps(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Cuts the line to the part within the box, one side after the other (Liang and Barsky).
bool LabelLayout::crosses(const Line& line, const Box& box) {
  const double dx = line.to.x - line.from.x, dy = line.to.y - line.from.y;
  double first = 0, last = 1;  // fractions of the line
  const std::array<std::array<double, 2>, 4> sides = {{{-dx, line.from.x - box.left},
                                                       {dx, box.right - line.from.x},
                                                       {-dy, line.from.y - box.top},
                                                       {dy, box.bottom - line.from.y}}};
  for (const auto& [direction, distance] : sides) {
    if (direction == 0) {
      if (distance < 0) return false;
      continue;
    }
    const double fraction = distance / direction;
    if (direction < 0) {
      first = std::max(first, fraction);
    } else {
      last = std::min(last, fraction);
    }
  }
  return first < last;
}

double LabelLayout::cost(const Box& box) const {
  const auto count = [&](const std::vector<Box>& others) {
    return static_cast<double>(
        std::ranges::count_if(others, [&](const Box& other) { return overlaps(box, other); }));
  };
  const auto crossed =
      std::ranges::count_if(lines_, [&](const Line& line) { return crosses(line, box); });
  const bool is_inside = box.left >= area_.left && box.top >= area_.top &&
                         box.right <= area_.right && box.bottom <= area_.bottom;
  return (is_inside ? 0 : kOutsideCost) + kLabelCost * count(labels_) + kMarkCost * count(marks_) +
         kLineCost * static_cast<double>(crossed);
}

LabelSpot LabelLayout::place(std::string_view text, std::span<const LabelSpot> spots) {
  const LabelSpot* best = &spots.front();
  double least = std::numeric_limits<double>::infinity();
  for (const LabelSpot& spot : spots) {
    const double spot_cost = cost(make_box(text, spot));
    if (spot_cost >= least) continue;
    least = spot_cost;
    best = &spot;
  }
  labels_.push_back(make_box(text, *best));
  return *best;
}

}  // namespace bench
