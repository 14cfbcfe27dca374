// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots.hpp"

#include "base/text.hpp"
#include "harness/report/short_id.hpp"

#include <fmt/format.h>

namespace bench {

Plot make_plot(std::string name, std::string title, std::string caption, const DrawPlot& draw) {
  return {std::move(name), std::move(title),  std::move(caption),
          draw(kWidePlot), draw(kNarrowPlot), ""};
}

Plot make_plot(std::string name, std::string title, std::string caption, const RowChart& chart) {
  return make_plot(std::move(name), std::move(title), std::move(caption),
                   [&](double width) { return draw_rows(chart, width); });
}

Plot make_plot(std::string name, std::string title, std::string caption, const PlaneChart& chart) {
  return make_plot(std::move(name), std::move(title), std::move(caption),
                   [&](double width) { return draw_planes(chart, width); });
}

Plot make_absent_plot(std::string name, std::string title, std::string reason) {
  return {std::move(name), std::move(title), "", "", "", std::move(reason)};
}

void shorten_ids(std::vector<ChartRow>& rows) {
  std::vector<std::string_view> ids;
  for (const ChartRow& row : rows) ids.push_back(row.label);
  const IdShortener shortener(ids);
  for (ChartRow& row : rows) row.label = shortener.shortest(row.label);
}

std::string format_left_out(std::size_t count, std::string_view kind) {
  if (count == 0) return "";
  return fmt::format(" {} not drawn.",
                     pluralise(count, fmt::format("{} is", kind), fmt::format("{}s are", kind)));
}

}  // namespace bench
