// SPDX-License-Identifier: Apache-2.0
// Judges what made a time change between two measurements: the method of measuring, the machine, a
// library, the compiler, the code, or noise. A kind of cause is named alone only if the records
// exclude all others; otherwise all that remain are named, the most likely first. Pure functions;
// docs/history.md describes the rules.
#pragma once

#include "base/enumerators.hpp"
#include "harness/judge/change.hpp"
#include "harness/result/measured.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// In the order of likelihood, if several differ.
BENCH_ENUM(CauseKind,
           method,    // how `bench` measures: its rules, the settings of a case, the threads
           machine,   // processor, system and their settings, or who else uses them
           library,   // a library that computes the case, or a variable that it reads
           compiler,  // what compiled `bench`, and the options
           code,      // the sources of `bench`, which contain its own kernels
           noise      // chance: nothing changed
);

// The facts of a measurement by name: "library.onednn", "tool.commit", "measure.settings".
using Facts = std::map<std::string, std::string>;

// Returns the kind of cause that a fact belongs to. Returns nullopt if the fact follows from others
// ("implementation"), cannot change times ("program.path"), or is unknown.
std::optional<CauseKind> kind_of_fact(std::string_view name);

// How two measurements differ, as far as both of them state it.
struct CauseFacts {
  std::vector<Change> changes;       // facts that differ and may be a cause, by kind, then by name
  std::vector<Change> consequences;  // others that differ: "implementation"
  std::vector<std::string> missing;  // facts that decide about a kind and that a side lacks
  friend bool operator==(const CauseFacts&, const CauseFacts&) = default;
};
CauseFacts find_cause_facts(const Facts& before, const Facts& after);

// Returns the facts of a run together with those of one of its cases.
Facts with_case_facts(Facts run, const MeasuredCase& measured);

// What else the evidence says about a change of times.
struct MoveContext {
  // together: samples of both sides alternated on the same processors, by one method.
  BENCH_MEMBER_ENUM(Timing, apart, together);
  Timing timing = Timing::apart;
  // Why chance did not cause it: "its interval excludes 0". nullopt if chance may have.
  std::optional<std::string> certainty = std::nullopt;
  // How often facts of a kind changed between earlier runs without a change of times.
  std::map<CauseKind, std::size_t> uneventful = {};
  // The logarithm of how much longer the canary, a fixed piece of work, took in the later
  // measurement.
  std::optional<double> canary = std::nullopt;
  friend bool operator==(const MoveContext&, const MoveContext&) = default;
};
// A canary that changed by at least this fraction shows another speed of the machine.
inline constexpr double kNotableCanary = 0.03;

// What the records say about a kind.
BENCH_ENUM(CauseStanding,
           differs,     // facts of it differ
           unrecorded,  // a side lacks facts of it, and none differs
           possible,    // no fact of it differs, but facts cannot exclude it
           excluded     // it is not the cause
);

struct Cause {
  CauseKind kind = CauseKind::method;
  CauseStanding standing = CauseStanding::excluded;
  std::vector<Change> changes = {};
  std::size_t uneventful = 0;  // as MoveContext::uneventful
  friend bool operator==(const Cause&, const Cause&) = default;
};

BENCH_ENUM(CauseCertainty,
           shown,   // measured together, and only one kind differs
           likely,  // the only kind that the records do not exclude, apart from the machine
           open     // several kinds remain, or none
);

struct CauseFinding {
  CauseCertainty certainty = CauseCertainty::open;
  std::vector<Cause> causes;  // one per kind; by standing, then the most likely first
  std::vector<Change> consequences;
  std::vector<std::string> missing;
  MoveContext context;
  const Cause& of(CauseKind kind) const;
  std::vector<CauseKind> kinds(CauseStanding standing) const;
  // Whether facts of the kind differ or are missing.
  bool may_differ(CauseKind kind) const;
  friend bool operator==(const CauseFinding&, const CauseFinding&) = default;
};
CauseFinding judge_cause(const CauseFacts& facts, MoveContext context);

// Returns the logarithm of how much longer the usual canary of the later measurement takes; nullopt
// if a side has none.
std::optional<double> canary_shift(const std::optional<TimesBySpeed>& before,
                                   const std::optional<TimesBySpeed>& after);

}  // namespace bench
