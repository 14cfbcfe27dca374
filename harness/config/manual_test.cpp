// SPDX-License-Identifier: Apache-2.0
// docs/configuration.md contains tables that must agree with the tables in the code.
#include "harness/config/case_template.hpp"
#include "harness/config/config_file.hpp"
#include "harness/config/network_file.hpp"
#include "harness/config/parameter_value.hpp"
#include "harness/config/settings.hpp"
#include "ops/operator.hpp"
#include "tests/support/generated.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using test::markdown_cell;

std::string row(const KeyInfo& info) {
  const std::string default_value =
      info.default_value.empty() ? "" : markdown_cell(info.default_value);
  return fmt::format("| `{}` | {} | {} | {} |\n", info.name, markdown_cell(info.type),
                     default_value, markdown_cell(info.help));
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
    text += fmt::format(" `{}`", to_string(direction));
  }
  text += op.takes_post_ops ? ". Takes `post_ops`.\n\n" : ".\n\n";
  text += "| parameter | type | default | in ids | meaning |\n|---|---|---|---|---|\n";
  for (const ops::Parameter& parameter : op.parameters) {
    const std::string token =
        parameter.token.empty() ? "" : fmt::format("`{}`", markdown_cell(parameter.token));
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", parameter.name,
                        markdown_cell(format_type(parameter)), markdown_cell(parameter.fallback),
                        token, markdown_cell(parameter.help));
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

TEST(ManualGolden, ItsTablesAreThoseOfTheCode) {
  test::expect_generated("docs/configuration.md",
                         {{"file", table_of(file_rows())},
                          {"axes", table_of(axis_rows())},
                          {"timing", table_of(settings_of(""))},
                          {"warmup", table_of(settings_of("warmup"))},
                          {"measure", table_of(settings_of("measure"))},
                          {"case", table({case_keys().begin(), case_keys().end()})},
                          {"profile", table_of(profile_rows())},
                          {"gate", table_of(gate_rows())},
                          {"network", table_of(network_rows())},
                          {"layer", table({layer_keys().begin(), layer_keys().end()})},
                          {"block", table({block_keys().begin(), block_keys().end()})},
                          {"operators", operators()}});
}

}  // namespace
}  // namespace bench
