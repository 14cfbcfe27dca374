// SPDX-License-Identifier: Apache-2.0
// Carries out a gate: the candidate's run (stage 1), then the measurements that its decision still
// requests (stage 2: duets, or more windows of the candidate), then kits of the cases that fail.
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
  std::string folder;                     // folder of the evidence; each kit is a folder in it
  std::string program;                    // what a command line to paste begins with
  std::vector<std::string> command_line;  // for the run record
  std::optional<std::uint64_t> seed = std::nullopt;
  std::optional<Nanoseconds> budget = std::nullopt;  // time limit of the whole gate
  std::optional<std::string> required_device = std::nullopt;
  // If absent, the usual folder is used if it exists and is a store.
  std::optional<std::string> store = std::nullopt;
  // part: stored cases that the plan lacks do not count as removed.
  enum class Extent { whole, part };
  Extent extent = Extent::whole;
  enum class Kits { of_failures, of_all };
  Kits kits = Kits::of_failures;
  ExitRules rules = {};
  Existing existing = Existing::refuse;  // for the files of a kit
  std::function<bool()> interrupted = [] { return false; };
  // Called with each problem of the store's files, as a sentence.
  std::function<void(const std::string& problem)> warn = [](const std::string&) {};
};

struct GateOutcome {
  GateFile gate;
  KitPaths kits;
};

// Appends each record to `file` as soon as it is known. Returns an error if nothing can be
// concluded: no worker starts, the file cannot be written, or the store cannot be read.
Result<GateOutcome> run_gate(const GateRequest& request, FileSink& file, RunObserver& progress,
                             Env& env);

}  // namespace bench
