// SPDX-License-Identifier: Apache-2.0
#include "harness/config/settings.hpp"

#include "base/text.hpp"
#include "harness/config/load.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

TEST(SettingRows, EachDefaultInTheManualIsThatOfTheMember) {
  Settings settings;
  settings.warmup = {7, Nanoseconds(7)};
  settings.measure = {7, 7, 0.7, Nanoseconds(7), Nanoseconds(7), 7, ops::SampleMethod::graph};
  Diagnostics diagnostics;
  const Reader reader(diagnostics, diagnostics.add_file("defaults"));
  for (const SettingRow& row : setting_rows()) {
    if (row.member.text == nullptr) continue;
    const auto document = yaml::parse(row.info.default_value);
    ASSERT_TRUE(document.ok()) << row.info.name;
    row.read(reader, row.info, document->root(), settings);
  }
  EXPECT_EQ(diagnostics.count(), 0u);
  EXPECT_EQ(settings.warmup, Settings().warmup);
  EXPECT_EQ(settings.measure, Settings().measure);
}

TEST(SettingRows, RowsOfAGroupAreAdjacent) {
  std::size_t rows = 0;
  for (const std::string_view group : {"warmup", "measure", ""}) rows += settings_of(group).size();
  EXPECT_EQ(rows, setting_rows().size());
  EXPECT_TRUE(settings_of("tune").empty());
}

Result<Plan, std::vector<Diagnostic>> load_settings(const std::string& entry) {
  LoadRequest request;
  request.read = [entry](const std::string&) -> Result<std::string> {
    return fmt::format("version: 1\ncases: [{{ op: gemm, m: 4, n: 4, k: 4{} }}]\n", entry);
  };
  request.arguments = {"a.yaml"};
  return load_plan(request);
}

TEST(SettingRows, TheSettingsOfMeasuringLeaveOutTheLimitOfAStep) {
  const auto plan = load_settings(", measure: { processes: 7, timeout: 9s }");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(format_measuring(plan->cases.front()),
            "warmup.iterations 3, warmup.time 100.0 ms, processes 7, min_iterations 20, precision "
            "2%, max_time 2.000 s");
}

// Stored results contain these hashes.
TEST(SettingRows, TheTextsThatHashesCoverStay) {
  const auto plain = load_settings("");
  ASSERT_TRUE(plain.ok());
  const Case& item = plain->cases.at(0);
  EXPECT_EQ(item.hash, content_hash(item.id));
  EXPECT_EQ(plain->hash,
            content_hash(fmt::format("{} {} 3 100000000 5 20 0.02 2000000000 60000000000 0 0\n",
                                     item.id, item.hash)));
  const auto other = load_settings(
      ", device: cuda, tune: 4, sample_method: graph, warmup: { iterations: 1, time: 0s }, "
      "measure: { processes: 2, min_iterations: 3, precision: 2.5%, max_time: 1ms, timeout: 1s }");
  ASSERT_TRUE(other.ok());
  const Case& changed = other->cases.at(0);
  EXPECT_EQ(changed.hash, content_hash(changed.id + " tune 4 sample_method graph"));
  EXPECT_EQ(other->hash, content_hash(fmt::format("{} {} 1 0 2 3 0.025 1000000 1000000000 4 0\n"
                                                  " sample_method graph",
                                                  changed.id, changed.hash)));
}

}  // namespace
}  // namespace bench
