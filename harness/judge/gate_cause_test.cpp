// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/gate_cause.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;

GateSide moved_side(const std::string& folder, const std::string& commit) {
  GateSide side{folder + "/bench", "0.1.0", commit, {}, {{"onednn", "3.2.0"}}};
  side.loaded = {{std::string(kProgramFile), folder + "/bench", ""},
                 {"onednn", folder + "/libdnnl.so.3.2", "OpenMP", "d1"}};
  side.build = "gcc-12 -O2";
  return side;
}

// A gate with one case that became slower between two programs.
GateFile moved_gate() {
  GateFile gate;
  gate.facts.base = moved_side("/old", "c001");
  gate.facts.candidate = moved_side("/new", "c002");
  gate.evidence.mode = GateEvidence::Mode::paired;
  gate.evidence.cases.emplace_back().candidate.id = "conv";
  CaseAssessment& judgement = gate.judgements.emplace_back();
  judgement.id = "conv";
  judgement.verdict = Verdict::regression;
  judgement.effect = 0.05;
  judgement.against = Reference::base;
  return gate;
}

std::optional<CauseFinding> cause_of(const GateFile& gate) {
  return find_gate_cause(gate, gate.judgements.front());
}

TEST(GateCause, OfTwoProgramsWithOneLibraryIsTheCode) {
  const auto finding = cause_of(moved_gate());
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->certainty, CauseCertainty::shown);
  EXPECT_THAT(finding->kinds(CauseStanding::differs), ElementsAre(CauseKind::code));
}

TEST(GateCause, OfOneProgramWithTwoLibrariesIsTheLibrary) {
  GateFile gate = moved_gate();
  gate.facts.base->loaded[0] = gate.facts.candidate.loaded[0];
  gate.facts.base->libraries["onednn"] = "3.1.0";
  const auto finding = cause_of(gate);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->certainty, CauseCertainty::shown);
  EXPECT_THAT(finding->of(CauseKind::library).changes,
              ElementsAre(Change{"library.onednn", "3.1.0", "3.2.0"}));
}

TEST(GateCause, IsOpenIfCodeAndLibraryDifferOrTheCompilerIsUnknown) {
  GateFile gate = moved_gate();
  gate.facts.base->libraries["onednn"] = "3.1.0";
  EXPECT_EQ(cause_of(gate)->certainty, CauseCertainty::open);
  gate = moved_gate();
  gate.facts.base->build.clear();
  EXPECT_EQ(cause_of(gate)->certainty, CauseCertainty::open);
  EXPECT_THAT(cause_of(gate)->missing, ElementsAre("build.compiler"));
}

TEST(GateCause, IsUnknownIfNoTimeChangedOrASuspectMayBeChance) {
  GateFile gate = moved_gate();
  gate.judgements[0].verdict = Verdict::suspect;
  EXPECT_EQ(cause_of(gate)->certainty, CauseCertainty::open);
  gate.judgements[0].verdict = Verdict::pass;
  EXPECT_FALSE(cause_of(gate));
}

TEST(GateCause, AgainstStoredRunsComesFromTheirRecords) {
  GateFile gate = moved_gate();
  gate.facts.base.reset();
  gate.evidence.mode = GateEvidence::Mode::store_only;
  gate.judgements[0].against = Reference::store;
  EXPECT_FALSE(cause_of(gate)) << "the store states nothing";
  gate.evidence.cases[0].stored.emplace().difference =
      CauseFacts{{{"library.onednn", "3.1.0", "3.2.0"}}, {}, {}};
  EXPECT_EQ(cause_of(gate)->certainty, CauseCertainty::likely);
}

}  // namespace
}  // namespace bench
