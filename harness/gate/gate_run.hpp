// SPDX-License-Identifier: Apache-2.0
// A gate carried out: the candidate's run (stage 1), then whatever its decision still wants (stage
// 2: duets, or more windows of the candidate), then kits of the cases that fail.
#pragma once

#include "base/env.hpp"
#include "base/file.hpp"
#include "harness/config/plan.hpp"
#include "harness/gate/sides.hpp"
#include "harness/judge/conclusion.hpp"
#include "harness/judge/evidence_file.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/run/file_sink.hpp"
#include "harness/run/run.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct GateRequest {
  Plan plan;
  GateSides sides;
  std::string run_id;
  std::string folder;                     // of the evidence; kits are folders in it
  std::string program;                    // what a command line to paste begins with
  std::vector<std::string> command_line;  // for the run record
  std::optional<std::uint64_t> seed = std::nullopt;
  std::optional<Nanoseconds> budget = std::nullopt;  // of the whole gate
  std::optional<std::string> required_device = std::nullopt;
  // Absent: the usual folder, if it exists and is a store.
  std::optional<std::string> store = std::nullopt;
  // part: stored cases that the plan lacks are no removed ones.
  enum class Extent { whole, part };
  Extent extent = Extent::whole;
  enum class Kits { of_failures, of_all };
  Kits kits = Kits::of_failures;
  ExitRules rules = {};
  Existing existing = Existing::refuse;  // of the files of a kit
  std::function<bool()> interrupted = [] { return false; };
  // Told what is wrong with the store's files, a sentence each.
  std::function<void(const std::string& problem)> warn = [](const std::string&) {};
};

struct GateOutcome {
  GateFile gate;
  KitPaths kits;
};

// Appends every record to `file` as it comes. Error: nothing can be concluded (no worker comes up,
// the file cannot be written, the store cannot be read).
Result<GateOutcome> run_gate(const GateRequest& request, FileSink& file, RunObserver& progress,
                             Env& env);

}  // namespace bench
