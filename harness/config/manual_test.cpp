// SPDX-License-Identifier: Apache-2.0
// docs/configuration.md holds tables that must say what the tables of the code say.
#include "harness/config/case_template.hpp"
#include "harness/config/config_file.hpp"
#include "harness/config/network_file.hpp"
#include "harness/config/parameter_value.hpp"
#include "harness/config/settings.hpp"
#include "ops/operator.hpp"
#include "tests/support/golden.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string row(const KeyInfo& info) {
  const std::string fallback = info.fallback.empty() ? "" : cell(info.fallback);
  return fmt::format("| `{}` | {} | {} | {} |\n", info.name, cell(info.type), fallback,
                     cell(info.help));
}

std::string table(const std::vector<KeyInfo>& rows) {
  std::string text = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const KeyInfo& info : rows) text += row(info);
  return text;
}

template <class Rows>
std::string table_of(const Rows& rows) {
  std::vector<KeyInfo> infos;
  for (const auto& item : rows) infos.push_back(item.info);
  return table(infos);
}

std::string parameters_of(const ops::Operator& op) {
  std::string text = fmt::format("**`{}`**: {}. Directions:", op.name, op.help);
  for (const ops::Direction direction : op.directions) {
    text += fmt::format(" `{}`", ops::direction_names()[static_cast<std::size_t>(direction)]);
  }
  text += op.takes_post_ops ? ". Takes `post_ops`.\n\n" : ".\n\n";
  text += "| parameter | type | default | in ids | meaning |\n|---|---|---|---|---|\n";
  for (const ops::Parameter& parameter : op.parameters) {
    const std::string token =
        parameter.token.empty() ? "" : fmt::format("`{}`", cell(parameter.token));
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", parameter.name, cell(type_text(parameter)),
                    cell(parameter.fallback), token, cell(parameter.help));
  }
  return text;
}

std::string operators() {
  std::string text;
  for (const ops::Operator* op : ops::all_operators()) {
    if (!text.empty()) text += "\n";
    text += parameters_of(*op);
  }
  return text;
}

std::string generated(std::string_view name) {
  const struct {
    std::string_view name;
    std::string (*text)();
  } sections[] = {
      {"file", [] { return table_of(file_rows()); }},
      {"axes", [] { return table_of(axis_rows()); }},
      {"timing", [] { return table_of(timing_rows()); }},
      {"warmup", [] { return table_of(warmup_rows()); }},
      {"measure", [] { return table_of(measure_rows()); }},
      {"case",
       [] {
         return table({case_keys().begin(), case_keys().end()});
       }},
      {"profile", [] { return table_of(profile_rows()); }},
      {"gate", [] { return table_of(gate_rows()); }},
      {"network", [] { return table_of(network_rows()); }},
      {"layer",
       [] {
         return table({layer_keys().begin(), layer_keys().end()});
       }},
      {"operators", operators},
  };
  for (const auto& section : sections) {
    if (section.name == name) return section.text();
  }
  ADD_FAILURE() << "no generated section " << name;
  return {};
}

TEST(Manual, its_tables_are_those_of_the_code) {
  constexpr std::string_view kBegin = "<!-- generated: ";
  constexpr std::string_view kEnd = "<!-- end -->";
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/docs/configuration.md");
  const std::string manual((std::istreambuf_iterator<char>(file)), {});
  std::string expected;
  std::size_t position = 0;
  int sections = 0;
  for (std::size_t begin; (begin = manual.find(kBegin, position)) != std::string::npos;) {
    const std::size_t line_end = manual.find('\n', begin);
    const std::size_t name = begin + kBegin.size();
    const std::size_t end = manual.find(kEnd, line_end);
    ASSERT_NE(end, std::string::npos) << "a section without its end";
    expected += manual.substr(position, line_end + 1 - position);
    expected += "\n" + generated(manual.substr(name, manual.find(' ', name) - name)) + "\n";
    position = end;
    ++sections;
  }
  EXPECT_EQ(sections, 11);
  test::expect_golden("docs/configuration.md", expected + manual.substr(position));
}

}  // namespace
}  // namespace bench
