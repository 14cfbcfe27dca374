// SPDX-License-Identifier: Apache-2.0
// Some tables in manuals are generated from tables in the code. In a manual, each is a section
// between "<!-- generated: NAME -->" and "<!-- end -->".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bench::test {

// Expects that each such section NAME of the file contains texts.at(NAME), and that every text has
// a section. `path` is relative to the root of the sources. ci/approve writes the sections.
void expect_generated(const std::string& path, const std::map<std::string, std::string>& texts);

// Escapes text for a cell of a Markdown table.
std::string markdown_cell(std::string_view text);

}  // namespace bench::test
