// SPDX-License-Identifier: Apache-2.0
// Checks that the tables in docs/profiler.md and docs/analyze.md match the tables in the code.
#include "profiler/activity.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/table_format.hpp"
#include "profiler/attribute.hpp"
#include "profiler/reader.hpp"
#include "profiler/switches.hpp"
#include "tests/support/generated.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace bench {
namespace {

using test::markdown_cell;

std::string attribute_table() {
  constexpr std::array<std::string_view, 3> kTypes = {"text", "integer", "real"};
  std::string text = "| attribute | type | unit | meaning |\n|---|---|---|---|\n";
  for (const AttributeInfo& row : attributes()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.name,
                        kTypes[static_cast<std::size_t>(row.type)], markdown_cell(row.unit),
                        markdown_cell(row.help));
  }
  return text;
}

// Each kind and the group that enables it.
std::string kind_table() {
  constexpr std::array<std::string_view, 14> kMeanings = {
      "a host operator: a layer of a network, or the one operator of a case",
      "a oneDNN primitive: executed, created or only considered (attribute `phase`); without "
      "`phase`, a step of a oneDNN network that another backend (`native`) executed, or a part "
      "that "
      "a kernel names",
      "a kernel of a GPU",
      "a copy",
      "a memset",
      "a buffer from its allocation to its release",
      "a synchronisation with a device",
      "a call into a library's interface",
      "time that a profiler itself took",
      "a user's task, frame or event, a scope, an iteration, or an NVTX range",
      "an instant",
      "a value that holds from its start until the next one with the same name",
      "a time during which a process ran and was recorded",
      "an instant at which a thread computed (`bench profile --sample`); its name is the function"};
  const auto names = enumerator_names<ActivityKind>();
  std::string text = "| kind | recorded with | meaning |\n|---|---|---|\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto group = static_cast<std::size_t>(record_group(static_cast<ActivityKind>(i)));
    text += fmt::format("| `{}` | `{}` | {} |\n", names[i], enumerator_names<RecordGroup>()[group],
                        kMeanings[i]);
  }
  return text;
}

std::string switch_table() {
  std::string text =
      "| switch (YAML, API) | option | variable | default | meaning |\n"
      "|---|---|---|---|---|\n";
  for (const SwitchRow& row : switch_rows()) {
    const std::string option =
        row.option.empty() ? "" : fmt::format("`--{}={}`", row.option, markdown_cell(row.value));
    text += fmt::format("| `{}` | {} | `{}` | `{}` | {} |\n", row.name, option, row.variable,
                        row.fallback, markdown_cell(row.help));
  }
  return text;
}

std::string column_table() {
  std::string text = "| column | meaning |\n|---|---|\n";
  for (const analysis::Column& column : analysis::columns()) {
    if (column.attribute) continue;  // listed in docs/profiler.md
    text += fmt::format("| `{}` | {} |\n", column.name, markdown_cell(column.help));
  }
  return text;
}

std::string format_table() {
  std::string text = "| format | what it is |\n|---|---|\n";
  for (const analysis::TableFormat& format : analysis::table_formats()) {
    text += fmt::format("| `{}` | {} |\n", format.name, markdown_cell(format.help));
  }
  return text;
}

std::string reader_table() {
  std::string text = "| reader | what it reads |\n|---|---|\n";
  for (const ActivityReader& reader : activity_readers()) {
    text += fmt::format("| `{}` | {} |\n", reader.name, markdown_cell(reader.help));
  }
  return text;
}

TEST(ProfilerManualGolden, ItsTablesAreThoseOfTheCode) {
  test::expect_generated(
      "docs/profiler.md",
      {{"kinds", kind_table()}, {"attributes", attribute_table()}, {"switches", switch_table()}});
}

TEST(AnalyzeManualGolden, ItsTablesAreThoseOfTheCode) {
  test::expect_generated(
      "docs/analyze.md",
      {{"columns", column_table()}, {"formats", format_table()}, {"readers", reader_table()}});
}

}  // namespace
}  // namespace bench
