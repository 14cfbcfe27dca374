// SPDX-License-Identifier: Apache-2.0
// table: one row per option
#include "harness/cli/option.hpp"

#include "base/nearest_name.hpp"
#include "base/number.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "base/utc_time.hpp"
#include "harness/cli/analysis_options.hpp"
#include "harness/config/settings.hpp"
#include "harness/host/gpu_description.hpp"
#include "ops/foreign_words.hpp"
#include "ops/tensor_core/architecture.hpp"
#include "profiler/nvtx/window.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace bench {
namespace {

Status set_shard(Arguments& arguments, const std::string& value) {
  const std::size_t slash = value.find('/');
  if (slash != std::string::npos) {
    const auto index = parse_number<int>(std::string_view(value).substr(0, slash));
    const auto count = parse_number<int>(std::string_view(value).substr(slash + 1));
    if (index && count && *index >= 1 && *count >= *index) {
      arguments.shard = Shard{*index, *count};
      return Done{};
    }
  }
  return Error{fmt::format("invalid shard {}; expected I/N, 1 <= I <= N", quote(value)), "--shard",
               "for example --shard 1/4"};
}

Result<Nanoseconds> parse_limited_duration(const std::string& value, std::string_view option) {
  const auto duration = parse_duration(value);
  if (!duration.ok())
    return Error{duration.error().what, std::string(option), duration.error().next};
  if (*duration <= kMaxDuration) return *duration;
  return Error{fmt::format("{} is longer than a year", quote(value)), std::string(option),
               "give at most 8760h"};
}

Status set_budget(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.budget, parse_limited_duration(value, "--budget"));
  return Done{};
}

Status set_watch(Arguments& arguments, const std::string& value) {
  BENCH_ASSIGN_OR_RETURN(arguments.watch, parse_limited_duration(value, "--watch"));
  return Done{};
}

Status set_seed(Arguments& arguments, const std::string& value) {
  arguments.seed = parse_number<std::uint64_t>(value);
  if (arguments.seed) return Done{};
  return Error{fmt::format("invalid seed {}; expected a whole number", quote(value)), "--seed", ""};
}

Status set_requirement(Arguments& arguments, const std::string& value) {
  if (value != "gpu") {
    return Error{fmt::format("unknown value {}; expected gpu", quote(value)), "--require", ""};
  }
  arguments.require_gpu = true;
  return Done{};
}

Status set_fail_on(Arguments& arguments, const std::string& value) {
  constexpr std::array<std::pair<std::string_view, FailOn>, 2> kValues = {
      {{"regression", FailOn::regression}, {"pending", FailOn::pending}}};
  const auto* const found = std::ranges::find(kValues, std::string_view(value),
                                              &std::pair<std::string_view, FailOn>::first);
  if (found == kValues.end())
    return Error{fmt::format("unknown value {}; expected regression or pending", quote(value)),
                 "--fail-on", ""};
  arguments.fail_on = found->second;
  return Done{};
}

Status set_beside(Arguments& arguments, const std::string& value) {
  const auto beside = enumerator_from_name<Beside>(value);
  if (!beside)
    return Error{fmt::format("unknown value {}", quote(value)), "--beside",
                 expectation(value, enumerator_names<Beside>())};
  arguments.beside = *beside;
  return Done{};
}

Status set_flop_convention(Arguments& arguments, const std::string& value) {
  arguments.flop_convention = enumerator_from_name<ops::FlopConvention>(value);
  if (!arguments.flop_convention)
    return Error{fmt::format("unknown convention {}", quote(value)), "--flop-convention",
                 expectation(value, enumerator_names<ops::FlopConvention>())};
  return Done{};
}

// Adds an assignment NAME=VALUE to the environment of one side.
Status set_variable(std::map<std::string, std::string>& environment, std::string_view option,
                    const std::string& value) {
  const std::size_t equals = value.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{fmt::format("{} is not an assignment; expected NAME=VALUE", quote(value)),
                 std::string(option),
                 fmt::format("for example {} ONEDNN_MAX_CPU_ISA=AVX2", option)};
  }
  environment[value.substr(0, equals)] = value.substr(equals + 1);
  return Done{};
}

constexpr int kMaxDuets = 1000;  // limit of the exact test's tables (harness/stats/signed_rank.hpp)

Status set_duets(Arguments& arguments, const std::string& value) {
  const auto count = parse_number<int>(value);
  if (!count || *count < 1 || *count > kMaxDuets) {
    return Error{
        fmt::format("invalid number of duets {}; expected 1 to {}", quote(value), kMaxDuets),
        "--duets", ""};
  }
  arguments.gate.duets = count;
  return Done{};
}

// More would cost more than 2 % of the program's time (docs/profiler.md).
constexpr int kMaxSampleRate = 1000;

Status set_sample(Arguments& arguments, const std::string& value) {
  const auto rate = parse_number<int>(value);
  if (!rate || *rate < 1 || *rate > kMaxSampleRate) {
    return Error{fmt::format("invalid rate {}; expected 1 to {} samples per second of CPU time",
                             quote(value), kMaxSampleRate),
                 "--sample", "for example --sample=499"};
  }
  arguments.sample = rate;
  return Done{};
}

Status set_sample_source(Arguments& arguments, const std::string& value) {
  constexpr std::array<std::pair<std::string_view, SampleSource>, 2> kValues = {
      {{"perf_events", SampleSource::perf_events}, {"timer", SampleSource::timer}}};
  const auto* const found = std::ranges::find(kValues, std::string_view(value),
                                              &std::pair<std::string_view, SampleSource>::first);
  if (found == kValues.end())
    return Error{fmt::format("unknown value {}; expected perf_events or timer", quote(value)),
                 "--sample-by", ""};
  arguments.sample_by = found->second;
  return Done{};
}

Status set_since(Arguments& arguments, const std::string& value) {
  if (!is_utc_date(value)) {
    return Error{
        fmt::format("{} is not a date; expected YYYY-MM-DD or YYYY-MM-DDTHH:MM", quote(value)),
        "--since", "for example --since 2026-11-01"};
  }
  arguments.since = value;
  return Done{};
}

Status set_override(Arguments& arguments, const std::string& value) {
  if (value.find('=') == std::string::npos || value.front() == '=') {
    return Error{fmt::format("{} is not an assignment; expected key=value", quote(value)), "--set",
                 "for example --set measure.processes=3"};
  }
  arguments.overrides.push_back(value);
  return Done{};
}

Status set_device(Arguments& arguments, const std::string& value) {
  for (std::string_view device : device_names()) {
    if (device == value) {
      arguments.devices.push_back(value);
      return Done{};
    }
  }
  // Also accepts what only `analyze` selects; the other commands refuse it when they see their
  // cases: the number of a GPU, `0` or `cuda:0`, and the GPUs of a log of oneDNN, `gpu` or `gpu:0`.
  std::string_view number = value;
  for (const std::string_view prefix : {"cuda:", "gpu:"}) {
    if (number.starts_with(prefix)) number.remove_prefix(prefix.size());
  }
  if (value == "gpu" || parse_number<unsigned>(number)) {
    arguments.devices.push_back(value);
    return Done{};
  }
  return Error{fmt::format("unknown device {}", quote(value)), "--device",
               ops::expected_word(value, device_names())};
}

// Adds the value of a profiler switch and requests a profile. `name` is the switch's name in
// switch_rows().
Status add_switch(Arguments& arguments, std::string_view name, const std::string& value) {
  ProfileSwitches scratch;
  const SwitchRow& row = *find_switch(name);
  if (Status status = row.apply(scratch, value); !status) {
    Error error = std::move(status).error();
    error.where = fmt::format("--{}", row.option);
    return error;
  }
  arguments.profile.mode = ProfileArguments::Mode::enabled;
  arguments.profile.switches.emplace_back(name, value);
  return Done{};
}

Status set_architecture(Arguments& arguments, const std::string& value) {
  const auto platform = ops::parse_platform(value);
  if (!platform.ok()) return Error{platform.error().what, "--arch", platform.error().next};
  arguments.architecture = value;
  return Done{};
}

Status set_gpu(Arguments& arguments, const std::string& value) {
  const auto gpu = read_gpu_description(value);
  if (!gpu.ok()) return gpu.error();
  arguments.gpu = value;
  return set_architecture(arguments, gpu->architecture);
}

Status add_window(Arguments& arguments, const std::string& value) {
  arguments.windows.push_back(value);
  const auto window = parse_capture_window(arguments.windows);
  if (!window.ok()) return window.error();
  return Done{};
}

constexpr std::array kOptions = {
    Option{"out", 'o', "FILE", "write to FILE instead of standard output",
           [](Arguments& a, const std::string& v) -> Status {
             a.out = v;
             return Done{};
           }},
    Option{"driver", '\0', "NAME",
           "the driver of benchdnn that reads the files: conv, matmul, pool, ...",
           [](Arguments& a, const std::string& v) -> Status {
             a.driver = v;
             return Done{};
           }},
    Option{"format", '\0', "NAME", "format of the output",
           [](Arguments& a, const std::string& v) -> Status {
             a.format = v;
             return Done{};
           }},
    Option{"filter", '\0', "GLOB|/REGEX/", "only cases whose id matches (repeat: any of them)",
           [](Arguments& a, const std::string& v) -> Status {
             a.filters.push_back(v);
             return Done{};
           }},
    Option{"device", '\0', "NAME", "only cases of this device: cpu or cuda (repeat: any of them)",
           set_device},
    Option{"set", '\0', "KEY=VALUE",
           "override a default of the configuration, e.g. measure.processes=3", set_override},
    Option{"plugin", '\0', "FILE.so",
           "load the operators and backends of a plugin, before those of `plugins:` (repeatable)",
           [](Arguments& a, const std::string& v) -> Status {
             a.plugins.push_back(v);
             return Done{};
           }},
    Option{"budget", '\0', "TIME",
           "stop after TIME (90s, 5m) and list the cases that were not measured", set_budget},
    Option{"watch", '\0', "TIME",
           "measure for TIME how fast and how steady the machine is (default 10s; 0s: skip)",
           set_watch},
    Option{"quick", '\0', "", "faster and less precise: 2 processes, 200 ms per case, precision 5%",
           [](Arguments& a, const std::string&) -> Status {
             a.quick = true;
             return Done{};
           }},
    Option{"stats", '\0', "",
           "parameters, activations, MACs, FLOPs, bytes and receptive field of each layer",
           [](Arguments& a, const std::string&) -> Status {
             a.stats = true;
             return Done{};
           }},
    Option{"flop-convention", '\0', "NAME",
           "count the FLOPs of --stats as bench, torch, fvcore, xla or deepspeed (default bench)",
           set_flop_convention},
    Option{"shard", '\0', "I/N", "measure part I of N of the cases; concatenate the N result files",
           set_shard},
    Option{"resume", '\0', "FILE",
           "resume an unfinished run: measure the missing cases and append them to FILE",
           [](Arguments& a, const std::string& v) -> Status {
             a.resume = v;
             return Done{};
           }},
    Option{"seed", '\0', "N", "seed of the order and of the input data (default 1)", set_seed},
    Option{"require", '\0', "gpu", "exit with status 3 if a case finds no GPU", set_requirement},
    Option{"dry-run", 'n', "", "list what would be measured, and stop",
           [](Arguments& a, const std::string&) -> Status {
             a.dry_run = true;
             return Done{};
           }},
    Option{"json", '\0', "", "machine-readable standard output",
           [](Arguments& a, const std::string&) -> Status {
             a.output = Output::json;
             return Done{};
           }},
    Option{"quiet", 'q', "", "print no messages, only results and errors",
           [](Arguments& a, const std::string&) -> Status {
             a.verbosity = Verbosity::quiet;
             return Done{};
           }},
    Option{"explain", '\0', "", "show all notes on the numbers, not only the first three sentences",
           [](Arguments& a, const std::string&) -> Status {
             a.notes = NoteExtent::all;
             return Done{};
           }},
    Option{"force", '\0', "", "replace an existing output file",
           [](Arguments& a, const std::string&) -> Status {
             a.force = true;
             return Done{};
           }},
    Option{"profile", '\0', "KINDS",
           "record operators, api, memory, device (several with commas; default: all four)",
           [](Arguments& a, const std::string& v) { return add_switch(a, "kinds", v); },
           "operators,api,memory,device"},
    Option{"no-profile", '\0', "", "record nothing",
           [](Arguments& a, const std::string&) -> Status {
             a.profile.mode = ProfileArguments::Mode::disabled;
             return Done{};
           }},
    Option{"profile-iterations", '\0', "RANGE", "record these iterations, counted from 0",
           [](Arguments& a, const std::string& v) { return add_switch(a, "iterations", v); }},
    Option{"sample-rate", '\0', "N",
           "record the memory in use after every N-th operator (default 0: never)",
           [](Arguments& a, const std::string& v) { return add_switch(a, "sample_rate", v); }},
    Option{"profile-format", '\0', "FORMATS",
           "also write the profile as trace, memory_flow; several with commas (default jsonl)",
           [](Arguments& a, const std::string& v) { return add_switch(a, "formats", v); }},
    Option{"trace", '\0', "FILE",
           "profile, and write a Chrome trace (.json, .json.gz) of all of it",
           [](Arguments& a, const std::string& v) -> Status {
             a.profile.trace = v;
             return Done{};
           }},
    Option{"trace-failures", '\0', "DIR",
           "rerun each failed case with the profiler and write its trace to DIR",
           [](Arguments& a, const std::string& v) -> Status {
             a.profile.trace_failures = v;
             return Done{};
           }},
    Option{"under", '\0', "COMMAND", "start workers under COMMAND: nsys, ncu, perf, vtune",
           [](Arguments& a, const std::string& v) -> Status {
             a.profile.under = v;
             return Done{};
           }},
    Option{"beside", '\0', "WHAT",
           "if another bench measures on this machine: wait for it, at most 10 min (default), run "
           "beside it, or refuse to start",
           set_beside},
    Option{"check", '\0', "",
           "write nothing: check that FILE is a Chrome trace that trace viewers accept",
           [](Arguments& a, const std::string&) -> Status {
             a.check = true;
             return Done{};
           }},
    Option{"fail-on", '\0', "WHAT",
           "regression: exit 1 if a case became slower, and 5 if none can be compared",
           set_fail_on},
    Option{"across-machines", '\0', "",
           "compare times of different machine classes, which are incomparable otherwise",
           [](Arguments& a, const std::string&) -> Status {
             a.across_machines = true;
             return Done{};
           }},
    Option{"by", '\0', "PARAMETER",
           "compare the cases of one result that differ in PARAMETER alone: dtype, cache, threads, "
           "backend, n, ...",
           [](Arguments& a, const std::string& v) -> Status {
             a.by = v;
             return Done{};
           }},
    Option{"against", '\0', "VALUE",
           "the value of --by that the others are compared with (default the first or smallest)",
           [](Arguments& a, const std::string& v) -> Status {
             a.against = v;
             return Done{};
           }},
    Option{"summary", '\0', "",
           "print aggregate tables instead: layers, operators, categories, memory, counters; with "
           "--top, --order-by total|mean|min|max|count and --json",
           [](Arguments& a, const std::string&) -> Status {
             a.summary = true;
             return Done{};
           }},
    Option{"work", '\0', "FILE.yaml",
           "formulas for FLOPs and bytes of unknown operators (docs/analyze.md)",
           [](Arguments& a, const std::string& v) -> Status {
             a.work = v;
             return Done{};
           }},
    Option{"backtrace", '\0', "", "record the functions that called each primitive",
           [](Arguments& a, const std::string&) -> Status {
             a.backtrace = true;
             return Done{};
           }},
    Option{"sample", '\0', "RATE",
           "also sample where the program computes, RATE times per second of CPU time (default "
           "199): --sample or --sample=RATE",
           set_sample, "199"},
    Option{"sample-by", '\0', "SOURCE",
           "what takes the samples: perf_events or timer (default: perf_events if permitted)",
           set_sample_source},
    Option{"onednn-verbose", '\0', "LEVEL",
           "value of ONEDNN_VERBOSE for the program, e.g. all (default: creation and execution)",
           [](Arguments& a, const std::string& v) -> Status {
             a.onednn_verbose = v;
             return Done{};
           }},
    Option{"window", '\0', "WHAT",
           "record only this part: nvtx:NAME (while a range NAME is open), A-B (outermost "
           "ranges A to B, from 0; with nvtx:NAME, ranges of that name), cuda-profiler-api",
           add_window},
    Option{"top", 't', "N", "rows shown, 0: all (default 20; all with csv, json, space)", set_top},
    Option{"type", '\0', "WORD",
           "only this kind, phase (create, dispatch, ...) or operator (repeat: any of them)",
           add_type},
    Option{"kind", '\0', "KIND",
           "only this kind: primitive, kernel, memcpy, api, ... (repeat: any of them)", add_kind},
    Option{"name", '\0', "REGEX", "only activities whose name has a match", set_name},
    Option{"layer", '\0', "PATH",
           "only inside this scope: a name, or several joined by :", set_layer},
    Option{"direction", '\0', "NAME", "only this direction: forward, backward, backward_data, ...",
           set_direction},
    Option{"dtype", '\0', "NAME", "only this data type", set_dtype},
    Option{"min-time", '\0', "TIME", "only activities of at least TIME (without a unit: seconds)",
           set_min_time},
    Option{"max-time", '\0', "TIME", "only activities of at most TIME (without a unit: seconds)",
           set_max_time},
    Option{"phase", '\0', "PHASE", "exec, create or all (default exec)", set_phase},
    Option{"aggregate-by", '\0', "COLUMNS",
           "one row for each value of a column, or of several: type, or layer,direction",
           set_aggregate_by},
    Option{"aggregate", '\0', "HOW",
           "time, FLOPs and bytes of a group: max, min, sum or mean (default sum)", set_aggregate},
    Option{"order-by", '\0', "COLUMN",
           "order of the rows, +COLUMN ascending (default time_ns; of groups: typical_ns)",
           set_order_by},
    Option{"columns", 'c', "COLUMNS", "show these columns, in this order: time_ns,name,bandwidth",
           add_columns},
    Option{"sort", '\0', "COLUMN",
           "sort the cases by this column, largest first; +COLUMN: smallest first", set_order_by},
    Option{"wide", '\0', "", "CSV with one line per case instead of one per value",
           [](Arguments& a, const std::string&) -> Status {
             a.report.wide = true;
             return Done{};
           }},
    Option{"plots", '\0', "DIR", "also write each plot to DIR as an SVG file",
           [](Arguments& a, const std::string& v) -> Status {
             a.report.plots = v;
             return Done{};
           }},
    Option{"width", 'w', "N", "make the table N characters wide", set_width},
    Option{"peak-bandwidth", '\0', "RATE", "flag rows above this rate: 900GB/s",
           set_peak_bandwidth},
    Option{"peak-flops", '\0', "RATE", "flag rows above this rate: 10TFLOP/s", set_peak_flops},
    Option{"base", '\0', "BENCH",
           "the program to compare with: a bench, or the folder of a checkout with ./bench",
           [](Arguments& a, const std::string& v) -> Status {
             a.gate.base = v;
             return Done{};
           }},
    Option{"cand", '\0', "BENCH", "the program that is judged (default: this one)",
           [](Arguments& a, const std::string& v) -> Status {
             a.gate.candidate = v;
             return Done{};
           }},
    Option{"base-env", '\0', "NAME=VALUE",
           "set a variable only for the base; without --base the base is this program (repeatable)",
           [](Arguments& a, const std::string& v) -> Status {
             return set_variable(a.gate.base_environment, "--base-env", v);
           }},
    Option{"cand-env", '\0', "NAME=VALUE",
           "set a variable only for the candidate; without --base the base is this program "
           "without it (repeatable)",
           [](Arguments& a, const std::string& v) -> Status {
             return set_variable(a.gate.candidate_environment, "--cand-env", v);
           }},
    Option{"base-library", '\0', "PATH",
           "let only the base load the library in this file or folder: oneDNN, cuDNN and cuBLAS, "
           "OpenBLAS, BLIS or MKL; without --base the base is this program",
           [](Arguments& a, const std::string& v) -> Status {
             a.gate.base_library = v;
             return Done{};
           }},
    Option{"cand-library", '\0', "PATH", "the same for the candidate",
           [](Arguments& a, const std::string& v) -> Status {
             a.gate.candidate_library = v;
             return Done{};
           }},
    Option{"bisect", '\0', "",
           "exit with the statuses of `git bisect run`: 0 not slower, 1 slower, 125 not decided or "
           "not built",
           [](Arguments& a, const std::string&) -> Status {
             a.gate.bisect = true;
             return Done{};
           }},
    Option{"duets", '\0', "N", "pairs of processes (default 20)", set_duets},
    Option{"from", '\0', "FILE",
           "measure nothing: decide again from the evidence in this gate.jsonl",
           [](Arguments& a, const std::string& v) -> Status {
             a.gate.from = v;
             return Done{};
           }},
    Option{"allow-removed", '\0', "",
           "accept stored cases that the configuration no longer contains",
           [](Arguments& a, const std::string&) -> Status {
             a.gate.allow_removed = true;
             return Done{};
           }},
    Option{"allow-incomparable", '\0', "",
           "accept a gate in which nothing can be compared (otherwise exit status 5)",
           [](Arguments& a, const std::string&) -> Status {
             a.gate.allow_incomparable = true;
             return Done{};
           }},
    Option{"strict", '\0', "",
           "exit with status 4 if a case stays inconclusive or suspect, or both sides are equal",
           [](Arguments& a, const std::string&) -> Status {
             a.gate.strict = true;
             return Done{};
           }},
    Option{"require-baseline", '\0', "",
           "exit with status 5 if nothing can be compared, also in the first run",
           [](Arguments& a, const std::string&) -> Status {
             a.gate.require_baseline = true;
             return Done{};
           }},
    Option{"kit", '\0', "", "create the kit of every case, not only of failed ones",
           [](Arguments& a, const std::string&) -> Status {
             a.gate.kits_for_all = true;
             return Done{};
           }},
    Option{"self-test", '\0', "",
           "evaluate the gate itself on this machine, as `bench selftest` does",
           [](Arguments& a, const std::string&) -> Status {
             a.gate.self_test = true;
             return Done{};
           }},
    Option{"record", '\0', "FILE", "keep the raw duets of the self-test",
           [](Arguments& a, const std::string& v) -> Status {
             a.gate.record = v;
             return Done{};
           }},
    Option{"baseline", '\0', "DIR", "the folder of stored baselines (default baselines)",
           [](Arguments& a, const std::string& v) -> Status {
             a.baseline = v;
             return Done{};
           }},
    Option{"since", '\0', "DATE",
           "only runs and changes from this day or UTC time on: 2026-11-01, 2026-11-01T08:00",
           set_since},
    Option{"reason", '\0', "TEXT", "why these runs become a baseline, for later readers",
           [](Arguments& a, const std::string& v) -> Status {
             a.reason = v;
             return Done{};
           }},
    Option{"anchor", '\0', "NAME", "name these runs, so that they are kept: release-1.4",
           [](Arguments& a, const std::string& v) -> Status {
             a.anchor = v;
             return Done{};
           }},
    Option{"arch", '\0', "SM",
           "tensor cores of this architecture: sm_90, or with the libraries of a toolkit "
           "sm_75:cuda10; no such device is needed",
           set_architecture},
    Option{
        "gpu", '\0', "FILE",
        "the GPU that FILE describes: its tensor cores, and what cuDNN would run on it. No such "
        "device is needed; FILE is the output of `bench worker --probe libraries` on its machine",
        set_gpu},
    Option{"describe", '\0', "", "print operators, parameters, devices and libraries as JSON",
           [](Arguments& a, const std::string&) -> Status {
             a.describe = true;
             return Done{};
           }},
    Option{"probe", '\0', "devices|libraries|onednn",
           "print as JSON what the CUDA plugin finds, or which oneDNN is loaded",
           [](Arguments& a, const std::string& v) -> Status {
             a.probe = v;
             return Done{};
           }},
    Option{"support", '\0', "", "print as JSON what would compute the given cases on a CUDA device",
           [](Arguments& a, const std::string&) -> Status {
             a.support = true;
             return Done{};
           }},
    Option{"networks", '\0', "DIR", "search networks in DIR before the usual folders",
           [](Arguments& a, const std::string& v) -> Status {
             a.networks = v;
             return Done{};
           }},
};

struct CommandHelp {
  std::string_view command;
  std::string_view option;
  OptionHelp help;
};

// Help texts that replace the one of kOptions in one command.
constexpr std::array kCommandHelp = {
    CommandHelp{
        "run", "out", {"FILE", "the result file (default bench-NAME-RUNID.jsonl in this folder)"}},
    CommandHelp{"run", "quiet", {"", "print no progress and no messages, only results and errors"}},
    CommandHelp{"run",
                "profile",
                {"KINDS",
                 "profile each case in a second pass: operators, api, memory, device (default: all "
                 "four), or counters (of a GPU or the CPU), in a separate pass"}},
    CommandHelp{
        "run", "no-profile", {"", "no profiling pass, even if the configuration requests one"}},
    CommandHelp{"run",
                "profile-iterations",
                {"RANGE", "record these iterations, counted from 0 (default 5-9)"}},
    CommandHelp{"run",
                "baseline",
                {"DIR",
                 "compare each case with the baselines in this folder (default baselines, if it "
                 "contains this machine class)"}},
    CommandHelp{"validate", "quiet", {"", "print only errors"}},
    CommandHelp{"list", "shard", {"I/N", "only part I of N of the cases, as `run --shard` does"}},
    CommandHelp{"baseline", "filter", {"GLOB|/REGEX/", "only cases whose id matches (repeatable)"}},
    CommandHelp{"history", "filter", {"GLOB|/REGEX/", "only cases whose id matches (repeatable)"}},
    CommandHelp{
        "history",
        "fail-on",
        {"WHAT",
         "regression: exit 1 if a case became slower at its last change point or is evidently "
         "slower, and 5 if no case has enough runs; pending: also 4 if the last runs of a case may "
         "be slower"}},
    CommandHelp{"baseline",
                "force",
                {"",
                 "save: also store slower runs and those of another environment; prune: drop lines "
                 "that cannot be read; remove: also runs with an anchor; adopt: also a class of "
                 "another processor"}},
    CommandHelp{"baseline", "dry-run", {"", "list what would be removed or adopted, and stop"}},
    CommandHelp{
        "gate", "out", {"DIR", "folder for evidence, reports and kits (default gate-NAME-ID)"}},
    CommandHelp{"gate",
                "quick",
                {"",
                 "without a base: 2 processes, 200 ms per case, precision 5%; no effect with a "
                 "base"}},
    CommandHelp{"gate", "budget", {"TIME", "end after TIME (90s, 5m); open cases stay undecided"}},
    CommandHelp{
        "gate", "quiet", {"", "print no progress and no messages, only results and errors"}},
    CommandHelp{"gate", "force", {"", "replace existing files in the folder of --out"}},
    CommandHelp{"duet", "out", {"FILE", "write the evidence to FILE as JSON Lines"}},
    CommandHelp{
        "duet", "quiet", {"", "print no progress and no messages, only results and errors"}},
    CommandHelp{"selftest", "duets", {"N", "pairs of identical sides per case (default 40)"}},
    CommandHelp{
        "selftest",
        "budget",
        {"TIME", "end the measurements after TIME (90s, 5m); the resampling comes after it"}},
    CommandHelp{"selftest",
                "from",
                {"FILE", "measure nothing: judge the duets that --record kept in FILE"}},
    CommandHelp{
        "selftest", "quiet", {"", "print no progress and no messages, only results and errors"}},
    CommandHelp{
        "peak", "filter", {"GLOB|/REGEX/", "only loops whose case id matches (repeatable)"}},
    CommandHelp{"peak",
                "quick",
                {"", "faster and less precise: at most 30 s, two passes with 100 ms per ceiling"}},
    CommandHelp{"peak",
                "budget",
                {"TIME", "end after TIME (90s, 5m; default 5m) and list what was not measured"}},
    CommandHelp{"peak", "baseline", {"DIR", "the store of the ceilings (default baselines)"}},
    CommandHelp{
        "peak", "quiet", {"", "print no progress and no messages, only results and errors"}},
    CommandHelp{"report", "out", {"FILE", "write to FILE; its suffix selects the format"}},
    CommandHelp{
        "report",
        "format",
        {"NAME",
         "text, html, md, csv, xml, json, gbench or prom (default: by the suffix of FILE)"}},
    CommandHelp{"report",
                "columns",
                {"COLUMNS", "show these columns, in this order: case,median_ns,flops_per_s"}},
    CommandHelp{"report", "top", {"N", "only the first N cases; 0: all (default)"}},
    CommandHelp{"compare",
                "format",
                {"NAME", "text, markdown, html or json (default text; .html by its suffix)"}},
    CommandHelp{
        "compare", "require-baseline", {"", "exit with status 5 if no case can be compared"}},
    CommandHelp{"import", "out", {"FILE", "the new configuration, NAME.yaml"}},
    CommandHelp{"import", "quiet", {"", "print no summary, only errors"}},
    CommandHelp{"trace", "out", {"FILE", "the timeline; its suffix selects the format"}},
    CommandHelp{
        "trace", "format", {"NAME", "trace, html or memory_flow (default: by the suffix of FILE)"}},
    CommandHelp{"analyze", "format", {"NAME", "table, space, csv, json, markdown (default table)"}},
    CommandHelp{
        "explain", "from", {"FILE", "the result file with the case's time (default: the store)"}},
    CommandHelp{"explain",
                "baseline",
                {"DIR", "the store of the ceilings and of the case's time (default baselines)"}},
    CommandHelp{"analyze",
                "baseline",
                {"DIR", "the store with the ceilings of the machine (default baselines)"}},
    CommandHelp{"analyze",
                "device",
                {"NAME", "only activities of this device, such as cpu or cuda:0 (repeatable)"}},
    CommandHelp{
        "profile", "out", {"FILE", "the profile (default profile-PID.jsonl in this folder)"}},
    CommandHelp{"profile", "no-profile", {"", "run the program and record nothing"}},
    CommandHelp{"profile",
                "profile-iterations",
                {"RANGE", "record these outermost ranges, as --window A-B (default: all)"}},
    CommandHelp{"profile",
                "sample-rate",
                {"N",
                 "record the resident memory after every N-th primitive, with the kind memory "
                 "(default 0: never)"}},
    CommandHelp{
        "profile", "trace", {"FILE", "also write a Chrome trace (.json, .json.gz) of all of it"}},
};

constexpr std::array kContradictions = {Contradiction{"no-profile", "profile"},
                                        Contradiction{"no-profile", "profile-iterations"},
                                        Contradiction{"no-profile", "profile-format"},
                                        Contradiction{"no-profile", "sample-rate"},
                                        Contradiction{"no-profile", "trace"},
                                        Contradiction{"json", "format", "json"},
                                        Contradiction{"resume", "out"}};

}  // namespace

std::span<const Contradiction> contradictions() { return kContradictions; }

OptionHelp option_help(std::string_view command, const Option& option) {
  for (const CommandHelp& row : kCommandHelp) {
    if (row.command == command && row.option == option.name) return row.help;
  }
  return {option.value, option.help};
}

std::span<const Option> options() { return kOptions; }

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

}  // namespace bench
