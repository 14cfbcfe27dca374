// SPDX-License-Identifier: Apache-2.0
// Pages of reports: one HTML file that needs no network, from page.html, page.css, plot.css and
// page.js. All texts are escaped here; a name from a file never becomes markup.
#pragma once

#include "harness/judge/parameter_comparison.hpp"
#include "harness/report/plots.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

class Page {
 public:
  // `lead` answers the question of the page in a paragraph.
  Page(std::string_view title, std::string_view lead);

  // Starts a section; its title is also a link at the top.
  void section(std::string_view title);
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);
  // Relative paths of files, each a link to it.
  void links(std::string_view heading, const std::vector<std::string>& files);
  // Names and values.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  void plot(const Plot& plot);
  // One section for plots that belong together.
  void plots(std::string_view title, std::span<const Plot> plots);
  // Another complete page inside this one, which opens on request.
  void frame(std::string_view summary, std::string_view html);

  // A table that the reader can sort and filter.
  struct TableColumn {
    std::string heading;
    // id: breaks after slashes. prose: may be long and breaks anywhere.
    enum class Kind { id, text, prose, number } kind = Kind::text;
  };
  struct TableCell {
    std::string text;
    std::optional<double> value = std::nullopt;  // by which numbers are sorted
    std::string_view classes = {};               // "good", "bad", "doubt"
  };
  using TableRow = std::vector<TableCell>;
  void table(const std::vector<TableColumn>& columns, const std::vector<TableRow>& rows);

  std::string finish() &&;

 private:
  std::string title_, head_, links_, body_;
  int sections_ = 0;
};

using PageKind = Page::TableColumn::Kind;

// The pages of a gate, a comparison and a store; run_page() is in format.hpp.
std::string gate_page(const GateFile& gate, const KitPaths& kits);
std::string comparison_page(const Comparison& comparison);
// The cases of one result, each value of the parameter against the value that all are compared
// with.
std::string parameter_page(const ParameterComparison& comparison);
std::string history_page(const std::vector<BaselineHistory>& histories, const std::string& name);

}  // namespace bench
