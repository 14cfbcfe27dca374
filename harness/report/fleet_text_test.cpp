// SPDX-License-Identifier: Apache-2.0
#include "harness/report/fleet_text.hpp"

#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

JudgedMachine judged(const std::string& name, MachineVerdict verdict, double slowdown) {
  JudgedMachine machine;
  machine.name = name;
  machine.verdict = verdict;
  machine.slowdown = slowdown;
  machine.effects = {slowdown, slowdown};
  return machine;
}

// One slow machine, one that is slow in a case, one that failed, and a normal one.
FleetVerdict mixed_fleet() {
  SiblingGroup group;
  group.siblings = "zen4-16c";
  group.cases = {"gemm/forward/m8n8k8/f32/onednn/cpu/hot",
                 "softmax/forward/8x8/f32/onednn/cpu/hot"};
  group.machines = {judged("node7", MachineVerdict::slow, 0.052),
                    judged("node9", MachineVerdict::slow_in_cases, 0.002),
                    judged("node4", MachineVerdict::failed, -0.02),
                    judged("node1", MachineVerdict::normal, 0)};
  group.machines[0].differences = {{"governor", "performance", "powersave"}};
  group.machines[1].effects[1] = 0.31;
  group.machines[1].slow_cases = {1};
  group.machines[2].effects[0].reset();
  group.machines[2].failures[0] = "wrong result";
  group.compared = 4;
  group.spread = 0.004;
  group.detectable = 0.032;
  FleetVerdict verdict;
  verdict.config = "fitness";
  verdict.groups.push_back(group);
  return verdict;
}

FleetVerdict healthy_fleet() {
  FleetVerdict verdict = mixed_fleet();
  for (JudgedMachine& machine : verdict.groups[0].machines) {
    machine = judged(machine.name, MachineVerdict::normal, 0);
  }
  return verdict;
}

TEST(FleetText, TheAnswerNamesMachinesByVerdict) {
  EXPECT_EQ(fleet_answer(mixed_fleet()),
            "1 of 4 machines is slow: node7 takes 5.2 % more time than its siblings. node9 is slow "
            "in 1 case, by up to 31.0 %. node4 has no time of 1 case that its siblings measured.");
  EXPECT_EQ(fleet_answer(healthy_fleet()),
            "No machine is slow: 4 machines differ by 0.4 %, and one that is 3.2 % slower would be "
            "found.");
}

TEST(FleetText, AFleetThatWasNotJudgedDoesNotCountAsHealthy) {
  FleetVerdict verdict = healthy_fleet();
  verdict.groups[0].not_judged_reason = "at least 4 are needed";
  EXPECT_EQ(fleet_answer(verdict), "Cannot judge 4 machines of zen4-16c: at least 4 are needed.");
}

TEST(FleetText, TheHeatMapHasACharacterPerMachineAndCase) {
  const std::string text = fleet_console(mixed_fleet(), {}, {.width = 80});
  EXPECT_THAT(text, HasSubstr("node7 5 5\nnode9 . #\nnode4 ! -\nnode1 . .\n"));
  EXPECT_THAT(text,
              HasSubstr("node7: differs from its siblings: governor performance -> powersave."));
  EXPECT_THAT(text, HasSubstr("  bench run fitness --out node7-again.jsonl\n"));
}

// Earlier, the map of a single machine stated that no case had a time.
TEST(FleetText, AFleetWithoutEffectsHasNoHeatMap) {
  FleetVerdict verdict = healthy_fleet();
  ASSERT_THAT(fleet_console(verdict, {}, {.width = 80}), HasSubstr("The letters are cases"));
  for (JudgedMachine& machine : verdict.groups[0].machines)
    machine.effects.assign(machine.effects.size(), std::nullopt);
  EXPECT_THAT(fleet_console(verdict, {}, {.width = 80}), Not(HasSubstr("The letters are cases")));
}

TEST(FleetText, ALargeFleetShowsTheConspicuousMachines) {
  const std::string text = fleet_console(mixed_fleet(), {.top = 1}, {.width = 80});
  EXPECT_THAT(text, HasSubstr("3 machines are not shown"));
  EXPECT_THAT(text, Not(HasSubstr("node1")));
}

TEST(FleetText, TheJsonFollowsItsSchema) {
  for (const FleetVerdict& verdict : {mixed_fleet(), healthy_fleet()}) {
    EXPECT_THAT(test::schema_problems(fleet_json(verdict, {}, {}), "docs/fleet.schema.json"),
                IsEmpty());
  }
}

TEST(FleetText, TheCsvHasALinePerMachineAndCase) {
  const std::string text = fleet_csv(mixed_fleet(), {}, {});
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 4 * 2);
  EXPECT_THAT(text, HasSubstr("\"node4\",\"zen4-16c\",\"failed\",-0.02,\"gemm/forward/m8n8k8/f32/"
                              "onednn/cpu/hot\",,\"wrong result\"\n"));
}

TEST(FleetText, ThePageAndTheMarkdownHaveTheAnswer) {
  EXPECT_THAT(fleet_page(mixed_fleet(), {}, {}), HasSubstr("node7 takes 5.2 % more time"));
  EXPECT_THAT(fleet_markdown(mixed_fleet(), {}, {}), HasSubstr("| node7 | slow | +5.2 % |"));
}

TEST(FleetText, ThePictureNamesEachCell) {
  const auto plots = fleet_plots(mixed_fleet(), 2);
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_THAT(plots[0].wide, HasSubstr("node9"));
  EXPECT_THAT(plots[0].wide, HasSubstr("+31.0 %"));
  EXPECT_THAT(plots[0].caption, HasSubstr("2 further machines are not drawn."));
}

}  // namespace
}  // namespace bench
