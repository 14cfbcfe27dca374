// SPDX-License-Identifier: Apache-2.0
// Carries out a gate in three phases. Stage 1 runs the candidate. Stage 2 measures what decide()
// still requests: duets, or windows of the candidate. Then the gate makes kits of the failing
// cases.
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
  std::string program;                    // GateFile::program
  std::vector<std::string> command_line;  // for the run record
  std::string program_path = "";          // GateFile::program_path
  std::optional<std::uint64_t> seed = std::nullopt;
  // Time limit of stages 1 and 2 together. Profiles for kits may take a tenth of it longer.
  std::optional<Nanoseconds> budget = std::nullopt;
  // A case of this device fails if the device is missing.
  std::optional<std::string> required_device = std::nullopt;
  // Folder of the store. nullopt: kDefaultStore, if that folder is a store.
  std::optional<std::string> store = std::nullopt;
  // part: the plan has only some cases, so stored cases that the plan lacks do not count as
  // removed.
  enum class Extent { whole, part };
  Extent extent = Extent::whole;
  enum class Kits { of_failures, of_all };
  Kits kits = Kits::of_failures;
  ExitRules rules = {};
  Existing existing = Existing::refuse;  // what to do about existing files of a kit
  // Returns whether the user has interrupted the gate.
  std::function<bool()> interrupted = [] { return false; };
  // The other measurements on this machine that this gate did not wait for.
  std::vector<std::string> beside = {};
  // Returns the measurements that began beside this one.
  std::function<std::vector<std::string>()> joined = [] { return std::vector<std::string>{}; };
  // Receives each problem of the store's files as a sentence.
  std::function<void(const std::string& problem)> warn = [](const std::string&) {};
};

struct GateOutcome {
  GateFile gate;
  KitPaths kits;
};

// Appends each record to `file` as soon as it is complete. Returns an error if the gate has no
// conclusion: no worker starts, a file cannot be written, or the store cannot be read.
Result<GateOutcome> run_gate(const GateRequest& request, FileSink& file, RunObserver& progress,
                             Env& env);

}  // namespace bench
