// SPDX-License-Identifier: Apache-2.0
// The command line as plain data with the defaults filled in. One struct serves all commands: an
// option means the same everywhere.
#pragma once

#include "base/units.hpp"
#include "profiler/analysis/query.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// --shard i/n: part `index` (from 1) of `count`.
struct Shard {
  int index = 1;
  int count = 1;
};

enum class Output { text, json };
enum class Verbosity { normal, quiet };

// Settings of the profiler. The switches override those of the configuration and of the
// environment.
struct ProfileArguments {
  enum class Wish { configured, wanted, refused };  // by `profile:`, --profile, --no-profile
  Wish wish = Wish::configured;
  std::vector<std::pair<std::string, std::string>> switches;  // name, value; each was checked
  std::optional<std::string> trace;                           // the file for the trace of all cases
  std::optional<std::string> trace_failures;  // one per failed case, into this folder
  std::optional<std::string> under;           // command of a vendor's tool
};

// Arguments of `gate`, `duet` and `selftest`.
struct GateArguments {
  std::optional<std::string> base, candidate;           // programs, or folders of checkouts
  std::map<std::string, std::string> base_environment;  // only for that side
  std::map<std::string, std::string> candidate_environment;
  std::optional<std::string> from;  // decide a gate's file again
  std::optional<int> duets;         // duet --duets
  bool allow_removed = false;
  bool strict = false;
  bool require_baseline = false;
  bool allow_incomparable = false;
  bool kits_for_all = false;  // --kit: for every case, not only for failed ones
  bool self_test = false;
  bool bisect = false;                // exit statuses for `git bisect run`
  std::optional<std::string> record;  // selftest --record FILE: its raw duets
};

// Arguments of `report`. --columns, --sort and --top are in AnalysisOptions.
struct ReportArguments {
  bool wide = false;                 // CSV with one line per case
  std::optional<std::string> plots;  // folder for the plots as files
};

struct Arguments {
  // How this program was called, quoted for a shell: the beginning of command lines that are
  // printed for copying.
  std::string program = "bench";
  std::vector<std::string> command_line;  // all of it, for the result file
  std::vector<std::string> inputs;        // positional: CONFIG..., CASE, RESULT..., SHELL

  std::optional<std::string> out;
  std::optional<std::string> format;
  std::vector<std::string> filters;
  std::vector<std::string> devices;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;  // --plugin FILE
  std::optional<Nanoseconds> budget;
  std::optional<Nanoseconds> watch;  // how long doctor observes the machine
  std::optional<Shard> shard;
  std::optional<std::string> resume;
  std::optional<std::uint64_t> seed;
  ProfileArguments profile;
  GateArguments gate;
  ReportArguments report;
  AnalysisOptions analysis;         // without devices and format, which are above
  bool summary = false;             // analyze --summary
  std::optional<std::string> work;  // analyze --work
  Output output = Output::text;
  Verbosity verbosity = Verbosity::normal;
  bool quick = false;
  bool dry_run = false;
  bool force = false;
  bool describe = false;                      // worker --describe
  std::optional<std::string> architecture;    // explain --arch, one that ops/tensor_core knows
  std::optional<std::string> probe;           // worker --probe
  bool support = false;                       // worker --support
  std::optional<std::string> gpu;             // --gpu FILE, which describes a GPU
  bool require_gpu = false;                   // --require gpu
  bool check = false;                         // trace --check
  bool fail_on_regression = false;            // compare --fail-on regression
  bool across_machines = false;               // compare --across-machines
  std::optional<std::string> by;              // compare --by PARAMETER
  std::optional<std::string> against;         // compare --against VALUE
  bool backtrace = false;                     // profile --backtrace
  std::optional<std::string> onednn_verbose;  // profile --onednn-verbose
  std::vector<std::string> windows;           // profile --window, one or two values
  std::optional<std::string> baseline;        // --baseline DIR, the store
  std::string reason;                         // baseline --reason
  std::optional<std::string> anchor;          // baseline --anchor
  std::optional<std::string> since;           // history --since, the begin of a UTC time
};

}  // namespace bench
