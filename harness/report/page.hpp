// SPDX-License-Identifier: Apache-2.0
// Pages of reports. A page is one HTML file that loads nothing else, made from page.html, page.css,
// plot.css and page.js. Page escapes all texts, so a name from a file never becomes markup.
#pragma once

#include "harness/judge/parameter_comparison.hpp"
#include "harness/report/document.hpp"
#include "harness/report/findings.hpp"
#include "harness/report/plots.hpp"
#include "profiler/analysis/audit.hpp"
#include "profiler/analysis/summary.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench {

// Builds a page from its parts, in their order. It shows a lead, a picture and findings. Everything
// else is in sections that the reader unfolds.
class Page {
 public:
  // `lead` is the first paragraph: the answer to the question that the page is about.
  Page(std::string_view title, std::string_view lead);

  // Sets what the page opens with. The findings link to rows and sections.
  void open(const Plot& picture, PageFindings findings);

  // Starts a folded section. `summary`: what it has, beside its title. The top of the page gets a
  // link to it. If it only says in paragraphs why it has no data, these go to the end of the page
  // instead.
  void section(std::string_view title, std::string_view summary = "");
  // Starts a part of the section.
  void heading(std::string_view text);
  // In paragraphs and lists, text between two backticks is shown as code.
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);
  // Adds links to files, given by their relative paths.
  void links(std::string_view heading, const std::vector<std::string>& files);
  // Adds a list of names with their values; omits names with an empty value.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  void plot(const Plot& plot);
  // Adds a section with plots that belong together. Adds nothing if there are no plots.
  void plots(std::string_view title, std::string_view summary, std::span<const Plot> plots);
  // Embeds another complete HTML page, which is shown on request. The frame of a picture has the
  // proportions of memory_flow.svg.
  enum class FrameContent { page, picture };
  void frame(std::string_view summary, std::string_view html,
             FrameContent content = FrameContent::page);

  // A table that the reader of the page can sort and filter. Where it does not fit the width, the
  // page shows its rows as cards. Ids break after '/' and '+', prose anywhere, preferably after
  // ':', '_' and '/'.
  void table(const Table& table);

  std::string finish() &&;  // returns the HTML

 private:
  struct Section {
    std::string title, summary;  // as HTML
    std::string body;
    bool has_content = false;
  };
  void add_content(std::string_view html);
  std::string& body() { return sections_.back().body; }
  std::string opening_html() const;
  std::string finding_html(const PageFinding& finding) const;
  // Returns the fragment of the address of a row or of a section; empty if there is none.
  std::string find_place(const std::string& place) const;

  std::string title_, head_;
  Plot picture_;
  PageFindings findings_;
  std::vector<Section> sections_;
  std::size_t tables_ = 0;
  std::unordered_map<std::string, std::string> rows_;  // fragments by the text of the id's cell
};

// Returns "3 rows": the summary of a section with a table.
std::string count_rows(std::size_t rows);

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

// The page of a profile of a program: how much of its time the profile shows, and where it went.
struct ProfileView {
  const Summary& summary;
  std::string name = {};  // name of the file, only for display
  // HTML document that the page embeds; empty if it would be too large.
  std::string timeline = {};
  ProfileAudit audit = {};  // without rows, the page does not mention it
};

std::string profile_page(const ProfileView& view);

}  // namespace bench
