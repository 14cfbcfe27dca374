// SPDX-License-Identifier: Apache-2.0
// Manuals hold tables that must say what the tables of the code say: between
// "<!-- generated: NAME -->" and "<!-- end -->".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bench::test {

// Expects that each such section of the file (relative to the root of the sources) holds `texts`
// of its name, and that no text is left without a section. ci/approve writes them.
void expect_generated(const std::string& path, const std::map<std::string, std::string>& texts);

// For a cell of a Markdown table.
std::string markdown_cell(std::string_view text);

}  // namespace bench::test
