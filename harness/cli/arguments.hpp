// SPDX-License-Identifier: Apache-2.0
// The parsed command line as plain data. One struct serves all commands; each command reads only
// the members of its own options.
#pragma once

#include "base/units.hpp"
#include "harness/host/machine_turn.hpp"
#include "harness/report/notes.hpp"
#include "harness/result/shard_positions.hpp"
#include "ops/flop_convention.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/capture/launch.hpp"
#include "profiler/profile_set.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

enum class Output { text, json };
// What makes `compare` and `history` fail. pending: also slowdowns that are not certain.
enum class FailOn { nothing, regression, pending };
enum class Verbosity { normal, quiet };

// Settings of the profiler. The switches override those of the configuration and of the
// environment.
struct ProfileArguments {
  // Whether to profile: decided by `profile:` of the configuration, or by --profile or --no-profile
  enum class Mode { from_config, enabled, disabled };
  Mode mode = Mode::from_config;
  std::vector<std::pair<std::string, std::string>> switches;  // names and checked values
  std::optional<std::string> trace;                           // file for the trace of all cases
  std::optional<std::string> trace_failures;  // folder for one trace per failed case
  std::optional<std::string> under;           // command of another profiler that starts workers
};

// Arguments of `gate`, `duet` and `selftest`.
struct GateArguments {
  std::optional<std::string> base, candidate;           // programs, or folders of checkouts
  std::map<std::string, std::string> base_environment;  // variables set only for the base
  std::map<std::string, std::string> candidate_environment;
  std::optional<std::string> base_library, candidate_library;  // files or folders
  std::optional<std::string> from;  // file whose evidence is judged instead of measuring
  std::optional<int> duets;         // duet and selftest --duets
  bool allow_removed = false;
  bool strict = false;
  bool require_baseline = false;
  bool allow_incomparable = false;
  bool kits_for_all = false;  // --kit: for every case, not only for failed ones
  bool self_test = false;
  bool bisect = false;                  // use the exit statuses of `git bisect run`
  std::optional<std::string> record;    // selftest --record: file for the raw duets
  std::optional<Nanoseconds> if_older;  // selftest --if-older: maximum age of a stored self-test
};

// explain --try: the variants to measure.
struct TryArguments {
  std::vector<std::string> names;  // empty: all that fit the case
};

// Arguments of `report`. --columns, --sort and --top are in AnalysisOptions.
struct ReportArguments {
  bool wide = false;                 // CSV with one line per case
  std::optional<std::string> plots;  // folder for the plots as files
  bool replay = false;               // compare the result of an imported suite with its program
};

// The scheduler for which `submit` writes a job.
enum class Scheduler { slurm, kubernetes };

// Arguments of `submit`, besides those of `run` that the job repeats.
struct SubmitArguments {
  std::optional<Scheduler> scheduler;
  std::optional<int> shards;
  std::optional<Nanoseconds> time;   // limit of each shard
  std::optional<std::string> image;  // name of the container image
  bool now = false;
};

// Arguments of `history` besides those of the store in git.
struct HistoryArguments {
  std::optional<std::string> database;  // --db URL, which may contain a password
  bool save = false;
  bool list = false;
};

struct Arguments {
  // How the user called this program, quoted for a shell. Command lines that are printed for
  // copying begin with it.
  std::string program = "bench";
  std::vector<std::string> command_line;  // all words after the program's name
  std::vector<std::string> inputs;        // operands: CONFIG..., CASE, RESULT..., SHELL

  std::optional<std::string> out;
  std::string driver;                   // import --driver
  std::vector<std::string> dimensions;  // import --dimension NAME=SIZE
  std::optional<std::string> format;
  std::vector<std::string> filters;
  std::vector<std::string> devices;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;  // --plugin FILE
  std::optional<Nanoseconds> budget;
  std::optional<Nanoseconds> watch;  // how long doctor observes the machine
  std::optional<Shard> shard;        // --shard I/N
  bool shard_by_scheduler = false;   // --shard auto
  std::optional<std::string> resume;
  std::optional<std::uint64_t> seed;
  ProfileArguments profile;
  GateArguments gate;
  ReportArguments report;
  SubmitArguments submit;
  HistoryArguments history;
  AnalysisOptions analysis;         // except devices and format, which are above
  bool summary = false;             // analyze --summary
  bool audit = false;               // analyze --audit
  std::optional<std::string> work;  // analyze --work
  // analyze --steps: the name of the ranges that are steps
  std::optional<std::string> steps;
  // --align: how the times of several profiles are put onto one clock
  Alignment align = Alignment::clock;
  Beside beside = Beside::wait;  // --beside: what to do while another measurement runs
  Output output = Output::text;
  Verbosity verbosity = Verbosity::normal;
  NoteExtent notes = NoteExtent::leading;              // --explain: all
  bool stats = false;                                  // list --stats
  std::optional<ops::FlopConvention> flop_convention;  // list --flop-convention
  bool quick = false;
  bool dry_run = false;
  bool force = false;
  bool describe = false;                      // worker --describe
  std::optional<TryArguments> tried;          // explain --try
  std::optional<std::string> architecture;    // explain --arch, a valid name of a platform
  std::optional<std::string> probe;           // worker --probe
  bool support = false;                       // worker --support
  std::optional<std::string> networks;        // worker --networks DIR
  std::optional<std::string> gpu;             // --gpu FILE, which describes a GPU
  bool require_gpu = false;                   // --require gpu
  bool check = false;                         // trace --check
  FailOn fail_on = FailOn::nothing;           // --fail-on of compare, history and report
  bool across_machines = false;               // compare --across-machines
  std::optional<std::string> by;              // compare --by PARAMETER, report --by machine
  std::optional<std::string> against;         // compare --against VALUE, analyze --against FILE
  bool backtrace = false;                     // profile --backtrace
  std::optional<int> sample;                  // profile --sample: samples per second of CPU time
  std::optional<SampleSource> sample_by;      // profile --sample-by; nullopt: what is permitted
  std::optional<std::string> onednn_verbose;  // profile --onednn-verbose
  std::vector<std::string> windows;           // profile --window, one or two values
  std::optional<std::string> baseline;        // --baseline DIR, the store
  std::string reason;                         // baseline and history --reason
  std::optional<std::string> anchor;          // baseline and history --anchor
  std::optional<std::string> since;           // history --since, a UTC date, possibly with a time
};

}  // namespace bench
