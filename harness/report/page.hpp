// SPDX-License-Identifier: Apache-2.0
// Pages of reports. A page is one HTML file that loads nothing else, made from page.html, page.css,
// plot.css and page.js. Page escapes all texts, so a name from a file never becomes markup.
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

// Builds a page from its parts, in their order.
class Page {
 public:
  // `lead` is the first paragraph: the answer to the question that the page is about.
  Page(std::string_view title, std::string_view lead);

  // Starts a section. The top of the page gets a link with its title, unless the section only says
  // in paragraphs why it has no data.
  void section(std::string_view title);
  // In paragraphs and lists, text between two backticks is shown as code.
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);
  // Adds links to files, given by their relative paths.
  void links(std::string_view heading, const std::vector<std::string>& files);
  // Adds a list of names with their values; omits names with an empty value.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  void plot(const Plot& plot);
  // Adds a section with plots that belong together. Adds nothing if there are no plots.
  void plots(std::string_view title, std::span<const Plot> plots);
  // Embeds another complete HTML page, which is shown on request. The frame of a picture has the
  // proportions of memory_flow.svg.
  enum class FrameContent { page, picture };
  void frame(std::string_view summary, std::string_view html,
             FrameContent content = FrameContent::page);

  // A table that the reader of the page can sort and filter.
  struct TableColumn {
    std::string heading;
    // id: breaks after '/' and '+'. prose: may be long and breaks anywhere, preferably after ':',
    // '_' and '/'.
    enum class Kind { id, text, prose, number } kind = Kind::text;
  };
  struct TableCell {
    std::string text;
    std::optional<double> value = std::nullopt;  // sort key of a number
    std::string_view classes = {};               // "good", "bad", "doubt"
  };
  using TableRow = std::vector<TableCell>;
  void table(const std::vector<TableColumn>& columns, const std::vector<TableRow>& rows);

  std::string finish() &&;  // returns the HTML

 private:
  void add_content(std::string_view html);

  std::string title_, head_, links_, body_;
  std::string next_link_;  // link to the current section until it has content
  int sections_ = 0;
};

using PageKind = Page::TableColumn::Kind;

// Returns the facts about a run and its machine that a page shows.
std::vector<std::pair<std::string, std::string>> list_run_facts(const RunRecord& run);

// The pages of a gate, a comparison and a store; run_page() is in format.hpp.
std::string gate_page(const GateFile& gate, const KitPaths& kits);
std::string comparison_page(const Comparison& comparison);
// Compares the cases of one result with each other: each value of the parameter against a common
// reference value.
std::string parameter_page(const ParameterComparison& comparison);
// `name`: the store's name for display.
std::string history_page(const std::vector<BaselineHistory>& histories, const std::string& name);

}  // namespace bench
