// SPDX-License-Identifier: Apache-2.0
// A gate's file with a case of most verdicts, for tests of reports.
#pragma once

#include "base/lines.hpp"
#include "harness/judge/equal_sides.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bench::test {

inline CaseAssessment make_judgement(std::string id, Verdict verdict, std::string reason = "") {
  CaseAssessment judgement;
  judgement.id = std::move(id);
  judgement.verdict = verdict;
  judgement.reason = std::move(reason);
  return judgement;
}

inline GateFacts sample_facts() {
  GateFacts facts;
  facts.run_id = "run1";
  facts.config_name = "resnet";
  facts.config_files = {"configs/resnet.yaml"};
  facts.machine_class = "zen4-2c-0123abcd";
  facts.candidate = {
      "./bench", "0.1.0", "abc", {{"ONEDNN_MAX_CPU_ISA", "SSE41"}}, {{"onednn", "3.2.0"}}};
  facts.base = GateSide{"/old/bench", "0.1.0", "def", {}, {{"onednn", "3.1.0"}}};
  facts.store = "baselines";
  return facts;
}

// Returns a case that is 20 % slower in both of its duets and in its confirmation.
inline CaseEvidence slower_case(const std::string& id) {
  CaseEvidence entry;
  entry.candidate.id = id;
  entry.candidate.processes = {process_from_iteration(Nanoseconds(1190))};
  for (int number = 0; number < 3; ++number) {
    Duet duet;
    duet.run_id = "run1";
    duet.id = id;
    duet.stage = number < 2 ? Duet::Stage::first : Duet::Stage::confirmation;
    duet.number = number % 2;
    duet.iterations_per_sample = 2;
    duet.base = {Nanoseconds(1990), Nanoseconds(2000), Nanoseconds(2100)};
    duet.candidate = {Nanoseconds(2388), Nanoseconds(2400), Nanoseconds(2520)};
    entry.duets.push_back(std::move(duet));
  }
  return entry;
}

// Returns a case that only the first stage measured. The store has 1000 ns for it.
inline CaseEvidence screened_case(const std::string& id) {
  CaseEvidence entry;
  entry.candidate.id = id;
  entry.candidate.processes = {process_from_iteration(Nanoseconds(1001)),
                               process_from_iteration(Nanoseconds(1003))};
  entry.stored.emplace();
  entry.stored->runs = 7;
  entry.stored->log_level = 6.907755278982137;  // log 1000
  return entry;
}

inline CaseAssessment slower_judgement(const std::string& id) {
  CaseAssessment judgement = make_judgement(id, Verdict::regression);
  judgement.source = "configs/resnet.yaml:14";
  judgement.course = CaseAssessment::Course::measured_again;
  judgement.effect = 0.2;
  judgement.low = 0.195;
  judgement.high = 0.205;
  judgement.p = 0.00001;
  judgement.adjusted_p = 0.00002;
  judgement.against = Reference::base;
  judgement.duets = 2;
  judgement.confirmations = 1;
  judgement.confirmed_effect = 0.2;
  judgement.confirmed_p = 0.00003;
  judgement.base = Nanoseconds(1000);
  judgement.candidate = Nanoseconds(1200);
  judgement.changes = {{"implementation", "jit:avx2", "jit:sse41"}};
  return judgement;
}

inline CaseAssessment undecided_judgement(const std::string& id) {
  CaseAssessment judgement = make_judgement(
      id, Verdict::inconclusive, "undecided after 40 duets (minimum detectable effect is 3.1 %)");
  judgement.source = "configs/resnet.yaml:20";
  judgement.course = CaseAssessment::Course::measured_again;
  judgement.effect = 0.015;
  judgement.low = -0.01;
  judgement.high = 0.04;
  judgement.adjusted_p = 0.3;
  judgement.detectable = 0.031;
  judgement.against = Reference::base;
  judgement.duets = 40;
  judgement.base = Nanoseconds(5000);
  judgement.candidate = Nanoseconds(5075);
  return judgement;
}

inline CaseAssessment passed_judgement(const std::string& id) {
  CaseAssessment judgement = make_judgement(id, Verdict::pass);
  judgement.source = "configs/resnet.yaml:30";
  judgement.course = CaseAssessment::Course::screened_out;
  judgement.effect = 0.002;
  judgement.against = Reference::store;
  judgement.base = Nanoseconds(1000);
  judgement.candidate = Nanoseconds(1002);
  return judgement;
}

inline const KitPaths kKits = {{"conv/forward/c64", "out/conv__forward__c64"}};

inline void conclude_gate(GateFile& gate) { gate.conclusion = conclude(gate, {}); }

// Returns a gate whose cases have the order of the configuration. Reports show them in another
// order.
inline GateFile sample_gate() {
  GateFile gate;
  gate.facts = sample_facts();
  gate.evidence.mode = GateEvidence::Mode::paired;
  gate.evidence.removed = {"gemm/forward/gone"};
  gate.evidence.changes = {{"library.onednn", "3.1.0", "3.2.0"}};
  gate.evidence.cases = {screened_case("pool/forward/c64"), slower_case("conv/forward/c64")};
  gate.judgements = {
      passed_judgement("pool/forward/c64"), slower_judgement("conv/forward/c64"),
      undecided_judgement("softmax/forward/64x1000"),
      make_judgement("reorder/forward/64", Verdict::no_baseline, "the store has no baseline of it"),
      make_judgement("gemm/forward/gone", Verdict::error, "removed")};
  conclude_gate(gate);
  return gate;
}

// Returns a gate that the budget stopped: a case that passed, a case with 7 of its 10 duets, and
// one whose base crashed.
inline GateFile stopped_gate() {
  GateFile gate;
  gate.facts = sample_facts();
  gate.evidence.mode = GateEvidence::Mode::paired;
  gate.evidence.stopped = StopCause::budget;
  for (const char* id : {"pool/forward/c64", "conv/forward/c64", "gemm/forward/m8n8k8"}) {
    gate.evidence.cases.emplace_back().candidate.id = id;
  }
  CaseAssessment waiting = make_judgement("conv/forward/c64", Verdict::inconclusive,
                                          "stopped by the budget after 7 of 10 duets");
  waiting.source = "configs/resnet.yaml:14";
  waiting.cut_short = true;
  waiting.pending = Pending{MeasurementRequest::Kind::duets, 7, 10};
  waiting.duets = 7;
  CaseAssessment died =
      make_judgement("gemm/forward/m8n8k8", Verdict::incomparable, "the base crashed: SIGSEGV");
  died.cut_short = true;
  gate.judgements = {passed_judgement("pool/forward/c64"), waiting, died};
  conclude_gate(gate);
  return gate;
}

// A name with special characters of every language in which a report is written.
inline const std::string kHostile = "a|<b>&\"'`]]>\\\n\r\t\x01\xff%:,::{}\xef\xbf\xbe";

inline GateFile hostile_gate() {
  GateFile gate = sample_gate();
  for (CaseAssessment& judgement : gate.judgements) {
    judgement.id += kHostile;
    judgement.reason += kHostile;
    judgement.source = kHostile + ":7";
  }
  for (CaseEvidence& entry : gate.evidence.cases) entry.candidate.id += kHostile;
  gate.facts.config_name = kHostile;
  gate.facts.candidate.program = kHostile;
  return gate;
}

// Returns a gate with this many cases, of which half are regressions.
inline GateFile large_gate(int cases) {
  GateFile gate = sample_gate();
  gate.judgements.clear();
  for (int i = 0; i < cases; ++i) {
    const std::string id = fmt::format("conv/forward/n{}c64h56w56k64r3s3p1/f32/onednn/cpu/hot", i);
    gate.judgements.push_back(i % 2 == 0 ? passed_judgement(id) : slower_judgement(id));
  }
  conclude_gate(gate);
  return gate;
}

inline std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const NumberedLine& line : Lines(text)) lines.emplace_back(line.text);
  return lines;
}

inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace bench::test
