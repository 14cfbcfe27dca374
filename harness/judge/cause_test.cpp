// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/cause.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The facts of a run whose records are complete.
Facts complete_facts() {
  return {{"machine_class", "m-2c"},
          {"cpu", "Some CPU"},
          {"hostname", "a"},
          {"library.onednn", "3.1.0"},
          {"library.onednn.path", "/a/libdnnl.so.3"},
          {"library.onednn.digest", "d1"},
          {"build.compiler", "gcc-12"},
          {"build.flags", "-O2"},
          {"tool.version", "0.1.0"},
          {"tool.commit", "c001"},
          {"program.path", "/a/bench"},
          {"program.digest", "p1"},
          {"measure.rules", "bench-1"},
          {"measure.settings", "processes 3, max_time 2 s"},
          {"implementation", "jit:a"}};
}

Facts changed_facts(const Facts& values) {
  Facts facts = complete_facts();
  for (const auto& [name, value] : values) facts[name] = value;
  return facts;
}

MoveContext certain() {
  MoveContext context;
  context.certainty = "p = 0.001";
  return context;
}

CauseFinding judge(const Facts& changed, const MoveContext& context = certain()) {
  return judge_cause(find_cause_facts(complete_facts(), changed_facts(changed)), context);
}

TEST(CauseOfAMove, IsTheOnlyKindThatDiffers) {
  const std::vector<std::pair<CauseKind, Facts>> rows = {
      {CauseKind::method, {{"measure.settings", "processes 5, max_time 2 s"}}},
      {CauseKind::method, {{"measure.rules", "bench-2"}}},
      {CauseKind::method, {{"env.BENCH_SLOWDOWN", "0.1"}}},
      {CauseKind::machine, {{"hostname", "b"}}},
      {CauseKind::library, {{"library.onednn", "3.2.0"}, {"library.onednn.digest", "d2"}}},
      {CauseKind::library, {{"library.onednn.digest", "d2"}}},
      {CauseKind::library, {{"env.ONEDNN_MAX_CPU_ISA", "AVX2"}}},
      {CauseKind::compiler, {{"build.flags", "-O3"}, {"program.digest", "p2"}}},
      {CauseKind::code, {{"tool.commit", "c002"}, {"program.digest", "p2"}}},
      {CauseKind::code, {{"program.digest", "p2"}}}};
  for (const auto& [kind, changed] : rows) {
    const CauseFinding finding = judge(changed);
    EXPECT_EQ(finding.certainty, CauseCertainty::likely) << changed.begin()->first;
    EXPECT_THAT(finding.kinds(CauseStanding::differs), ElementsAre(kind));
    EXPECT_EQ(finding.causes.front().changes.size(), 1U) << changed.begin()->first;
  }
}

TEST(CauseOfAMove, OfSettingsNamesOnlyThoseThatDiffer) {
  const CauseFinding finding = judge({{"measure.settings", "processes 5, max_time 2 s"}});
  EXPECT_THAT(finding.of(CauseKind::method).changes,
              ElementsAre(Change{"measure.processes", "3", "5"}));
}

TEST(CauseOfAMove, IsTheMachineIfNothingDiffersBeyondChance) {
  const CauseFinding finding = judge({});
  EXPECT_EQ(finding.certainty, CauseCertainty::likely);
  EXPECT_THAT(finding.kinds(CauseStanding::differs), IsEmpty());
  EXPECT_THAT(finding.kinds(CauseStanding::possible), ElementsAre(CauseKind::machine));
}

TEST(CauseOfAMove, IsOpenIfChanceMayHaveCausedIt) {
  const CauseFinding finding = judge({}, {});
  EXPECT_EQ(finding.certainty, CauseCertainty::open);
  EXPECT_THAT(finding.kinds(CauseStanding::possible),
              ElementsAre(CauseKind::machine, CauseKind::noise));
  EXPECT_EQ(judge({{"hostname", "b"}}, {}).certainty, CauseCertainty::open);
}

TEST(CauseOfAMove, IsOpenIfSeveralKindsDifferAndTheRarestChangeComesFirst) {
  MoveContext context = certain();
  context.uneventful = {{CauseKind::library, 2}, {CauseKind::compiler, 0}};
  const CauseFinding finding =
      judge({{"library.onednn", "3.2.0"}, {"build.flags", "-O3"}}, context);
  EXPECT_EQ(finding.certainty, CauseCertainty::open);
  EXPECT_THAT(finding.kinds(CauseStanding::differs),
              ElementsAre(CauseKind::compiler, CauseKind::library));
}

TEST(CauseOfAMove, IsOpenIfARecordLacksAFactAndSaysWhich) {
  for (const auto& [name, kind] : std::vector<std::pair<std::string, CauseKind>>{
           {"measure.settings", CauseKind::method}, {"measure.rules", CauseKind::method}}) {
    Facts before = complete_facts();
    before.erase(name);
    before["program.digest"] = "p0";
    before["tool.commit"] = "c000";
    const CauseFinding finding = judge_cause(find_cause_facts(before, complete_facts()), certain());
    EXPECT_EQ(finding.certainty, CauseCertainty::open) << name;
    EXPECT_THAT(finding.missing, ElementsAre(name));
    EXPECT_THAT(finding.kinds(CauseStanding::unrecorded), ElementsAre(kind));
  }
}

TEST(CauseOfAMove, IsOpenIfACommitHasChangesThatItDoesNotContain) {
  Facts before = complete_facts(), after = complete_facts();
  for (Facts* side : {&before, &after}) {
    (*side)["tool.commit"] = "c001-dirty";
    side->erase("program.digest");
  }
  const CauseFinding finding = judge_cause(find_cause_facts(before, after), certain());
  EXPECT_THAT(finding.missing, ElementsAre("program.digest"));
  EXPECT_EQ(finding.certainty, CauseCertainty::open);
}

TEST(CauseOfAMove, OneProgramExcludesCodeAndCompilerWhateverElseIsMissing) {
  Facts before = complete_facts(), after = complete_facts();
  for (const char* name : {"tool.commit", "build.compiler", "build.flags", "measure.rules"})
    before.erase(name);
  after["tool.commit"] = "c002";
  const CauseFacts facts = find_cause_facts(before, after);
  EXPECT_THAT(facts.changes, IsEmpty());
  EXPECT_THAT(facts.missing, IsEmpty());
}

TEST(CauseOfAMove, ALibraryInsideTheProgramIsNoChangeOfALibrary) {
  Facts before = complete_facts(), after = complete_facts();
  for (Facts* side : {&before, &after}) (*side)["library.onednn.path"] = "/a/bench";
  after["library.onednn.digest"] = "p2";
  after["program.digest"] = "p2";
  after["tool.commit"] = "c002";
  const CauseFacts facts = find_cause_facts(before, after);
  EXPECT_THAT(facts.changes, ElementsAre(Change{"tool.commit", "c001", "c002"}));
}

TEST(CauseOfAMove, IsShownOnlyIfTheSidesWereMeasuredTogether) {
  MoveContext context = certain();
  context.timing = MoveContext::Timing::together;
  EXPECT_EQ(judge({{"tool.commit", "c002"}, {"program.digest", "p2"}}, context).certainty,
            CauseCertainty::shown);
  EXPECT_EQ(judge({}, context).certainty, CauseCertainty::open);
  EXPECT_THAT(judge({}, context).kinds(CauseStanding::possible), IsEmpty());
}

TEST(CauseOfAMove, WhatALibraryReportsCountsUnlessAVariableExplainsIt) {
  Facts before = complete_facts(), after = complete_facts();
  before["library.onednn.detail"] = "AVX512";
  after["library.onednn.detail"] = "SSE41";
  EXPECT_THAT(find_cause_facts(before, after).changes,
              ElementsAre(Change{"library.onednn.detail", "AVX512", "SSE41"}));
  after["env.ONEDNN_MAX_CPU_ISA"] = "SSE41";
  EXPECT_THAT(find_cause_facts(before, after).changes,
              ElementsAre(Change{"env.ONEDNN_MAX_CPU_ISA", std::nullopt, "SSE41"}));
}

TEST(CauseOfAMove, AMachineClassCountsUnlessItsPartsDiffer) {
  Facts after = changed_facts({{"machine_class", "m-4c"}});
  EXPECT_THAT(find_cause_facts(complete_facts(), after).changes,
              ElementsAre(Change{"machine_class", "m-2c", "m-4c"}));
  after["build.flags"] = "-O3";
  EXPECT_THAT(find_cause_facts(complete_facts(), after).changes,
              ElementsAre(Change{"build.flags", "-O2", "-O3"}));
}

TEST(CauseOfAMove, AnotherImplementationIsAConsequence) {
  const CauseFinding finding = judge({{"implementation", "jit:b"}});
  EXPECT_THAT(finding.consequences, ElementsAre(Change{"implementation", "jit:a", "jit:b"}));
  EXPECT_THAT(finding.kinds(CauseStanding::differs), IsEmpty());
}

TEST(CauseOfAMove, FactsThatVaryOrFollowHaveNoKind) {
  for (const char* name : {"load_1min", "clock.now_mhz", "memory.available_bytes", "program.path",
                           "library.onednn.path", "implementation", "output.digest", "config.hash"})
    EXPECT_EQ(kind_of_fact(name), std::nullopt) << name;
}

TEST(CauseOfAMove, TheCanaryComparesTheUsualSpeeds) {
  TimesBySpeed before, after;
  before.cells = {{std::nullopt, Nanoseconds(1000), 90, {}},
                  {std::nullopt, Nanoseconds(2000), 10, {}}};
  after.cells = {{std::nullopt, Nanoseconds(1100), 50, {}}};
  EXPECT_DOUBLE_EQ(*canary_shift(before, after), std::log(1100.0) - std::log(1000.0));
  EXPECT_EQ(canary_shift(std::nullopt, after), std::nullopt);
}

}  // namespace
}  // namespace bench
