// SPDX-License-Identifier: Apache-2.0
// table: one row per option
#include "harness/cli/option.hpp"

#include "base/characters.hpp"
#include "base/data_type.hpp"
#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "base/utc_time.hpp"
#include "harness/config/overrides.hpp"
#include "harness/config/settings.hpp"
#include "harness/host/gpu_description.hpp"
#include "harness/import/benchdnn_driver.hpp"
#include "harness/judge/comparison.hpp"
#include "harness/judge/variant.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/format.hpp"
#include "ops/foreign_words.hpp"
#include "ops/problem.hpp"
#include "ops/tensor_core/architecture.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/table_format.hpp"
#include "profiler/nvtx/window.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Returns a member of the arguments, or of a member of them.
template <auto... path>
auto& argument(Arguments& arguments) {
  return (arguments.*....*path);
}

// Read a value into an argument of their type. parse_command_line() adds the name of the option to
// their errors.
Status read_argument(const Option&, const std::string&, bool& flag) {
  flag = true;
  return Done{};
}

Status read_argument(const Option&, const std::string& value, std::string& text) {
  text = value;
  return Done{};
}

Status read_argument(const Option&, const std::string& value, std::vector<std::string>& texts) {
  texts.push_back(value);
  return Done{};
}

// The values of a repeated option NAME=VALUE.
Status read_argument(const Option& option, const std::string& value,
                     std::map<std::string, std::string>& assignments) {
  const std::size_t equals = value.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{fmt::format("{} is not an assignment; expected NAME=VALUE", quote(value)), "",
                 fmt::format("for example --{} ONEDNN_MAX_CPU_ISA=AVX2", option.name)};
  }
  assignments[value.substr(0, equals)] = value.substr(equals + 1);
  return Done{};
}

Status read_argument(const Option&, const std::string& value, std::int64_t& count) {
  const auto number = parse_number<std::int64_t>(value);
  if (!number || *number < 0)
    return Error{fmt::format("{} is not a whole number", quote(value)), "", ""};
  count = *number;
  return Done{};
}

Status read_argument(const Option&, const std::string& value, Nanoseconds& duration) {
  BENCH_ASSIGN_OR_RETURN(duration, parse_duration(value));
  if (duration <= kMaxDuration) return Done{};
  return Error{fmt::format("{} is longer than a year", quote(value)), "", "give at most 8760h"};
}

Status read_argument(const Option&, const std::string& value, BytesPerSecond& rate) {
  BENCH_ASSIGN_OR_RETURN(rate, parse_bandwidth(value));
  return Done{};
}

Status read_argument(const Option&, const std::string& value, FlopsPerSecond& rate) {
  BENCH_ASSIGN_OR_RETURN(rate, parse_flop_rate(value));
  return Done{};
}

template <NamedEnum Enum>
Status read_argument(const Option&, const std::string& value, Enum& enumerator) {
  const auto found = enumerator_from_name<Enum>(value);
  if (!found)
    return Error{fmt::format("unknown value {}", quote(value)), "",
                 expectation(value, enumerator_names<Enum>())};
  enumerator = *found;
  return Done{};
}

template <class Value>
Status read_argument(const Option& option, const std::string& value,
                     std::optional<Value>& argument) {
  return read_argument(option, value, argument.emplace());
}

// Functions for Option::apply: the type of the member decides what is a valid value.
template <auto... path>
Status store(Arguments& arguments, const Option& option, const std::string& value) {
  return read_argument(option, value, argument<path...>(arguments));
}

template <auto value, auto... path>
Status store_constant(Arguments& arguments, const Option&, const std::string&) {
  argument<path...>(arguments) = value;
  return Done{};
}

// Stores a duration. A number without a unit is in seconds, as in profile_analyze.
template <auto member>
Status store_seconds(Arguments& arguments, const Option&, const std::string& value) {
  const bool is_bare = !value.empty() && is_digit(value.back());
  BENCH_ASSIGN_OR_RETURN(arguments.analysis.*member, parse_duration(is_bare ? value + "s" : value));
  return Done{};
}

// Appends the names of a list such as "layer,direction".
template <auto member>
Status add_names(Arguments& arguments, const Option&, const std::string& value) {
  std::string_view list = value;
  while (true) {
    const std::size_t end = list.find(',');
    (arguments.analysis.*member).emplace_back(list.substr(0, end));
    if (end == std::string_view::npos) return Done{};
    list.remove_prefix(end + 1);
  }
}

// The value "all" stands for every variant that fits the case.
constexpr std::string_view kAllVariants = "all";

Status set_tried(Arguments& arguments, const Option&, const std::string& value) {
  arguments.tried.emplace();
  if (value == kAllVariants) return Done{};
  std::string_view list = value;
  while (!list.empty()) {
    const std::string_view name = cut_field(list, ',');
    if (std::ranges::find(variant_names(), name) == variant_names().end()) {
      return Error{fmt::format("unknown variant {}", quote(name)), "",
                   ops::expected_word(name, variant_names())};
    }
    arguments.tried->names.emplace_back(name);
  }
  return Done{};
}

Words list_variants() { return {variant_names().begin(), variant_names().end()}; }

Status set_shard(Arguments& arguments, const Option&, const std::string& value) {
  arguments.shard_by_scheduler = value == "auto";
  arguments.shard = parse_shard(value);
  if (arguments.shard || arguments.shard_by_scheduler) return Done{};
  return Error{fmt::format("invalid shard {}; expected I/N, 1 <= I <= N, or auto", quote(value)),
               "", "for example --shard 1/4"};
}

// More shards than any machine has nodes.
constexpr int kMaxShards = 100'000;

Status set_shards(Arguments& arguments, const Option&, const std::string& value) {
  arguments.submit.shards = parse_number<int>(value);
  if (arguments.submit.shards && *arguments.submit.shards >= 1 &&
      *arguments.submit.shards <= kMaxShards)
    return Done{};
  return Error{
      fmt::format("invalid number of shards {}; expected 1 to {}", quote(value), kMaxShards), "",
      "for example --shards 8"};
}

Status set_seed(Arguments& arguments, const Option&, const std::string& value) {
  arguments.seed = parse_number<std::uint64_t>(value);
  if (arguments.seed) return Done{};
  return Error{fmt::format("invalid seed {}; expected a whole number", quote(value)), "", ""};
}

// Returns the row of `choices` for a value.
template <class Choice, std::size_t size>
Result<Choice> find_choice(const std::string& value,
                           const std::array<std::pair<std::string_view, Choice>, size>& choices) {
  std::vector<std::string_view> words;
  for (const auto& [word, choice] : choices) {
    if (word == value) return choice;
    words.push_back(word);
  }
  return Error{fmt::format("unknown value {}; expected {}", quote(value), fmt::join(words, " or ")),
               "", ""};
}

Status set_requirement(Arguments& arguments, const Option&, const std::string& value) {
  constexpr std::array<std::pair<std::string_view, bool>, 1> kChoices = {{{"gpu", true}}};
  BENCH_ASSIGN_OR_RETURN(arguments.require_gpu, find_choice(value, kChoices));
  return Done{};
}

Status set_fail_on(Arguments& arguments, const Option&, const std::string& value) {
  constexpr std::array<std::pair<std::string_view, FailOn>, 2> kChoices = {
      {{"regression", FailOn::regression}, {"pending", FailOn::pending}}};
  BENCH_ASSIGN_OR_RETURN(arguments.fail_on, find_choice(value, kChoices));
  return Done{};
}

Status set_sample_source(Arguments& arguments, const Option&, const std::string& value) {
  constexpr std::array<std::pair<std::string_view, SampleSource>, 2> kChoices = {
      {{"perf_events", SampleSource::perf_events}, {"timer", SampleSource::timer}}};
  BENCH_ASSIGN_OR_RETURN(arguments.sample_by, find_choice(value, kChoices));
  return Done{};
}

Status set_flop_convention(Arguments& arguments, const Option&, const std::string& value) {
  arguments.flop_convention = enumerator_from_name<ops::FlopConvention>(value);
  if (arguments.flop_convention) return Done{};
  return Error{fmt::format("unknown convention {}", quote(value)), "",
               expectation(value, enumerator_names<ops::FlopConvention>())};
}

constexpr int kMaxDuets = 1000;  // limit of the exact test's tables (harness/stats/signed_rank.hpp)

Status set_duets(Arguments& arguments, const Option&, const std::string& value) {
  const auto count = parse_number<int>(value);
  if (!count || *count < 1 || *count > kMaxDuets) {
    return Error{
        fmt::format("invalid number of duets {}; expected 1 to {}", quote(value), kMaxDuets), "",
        ""};
  }
  arguments.gate.duets = count;
  return Done{};
}

// More would cost more than 2 % of the program's time (docs/profiler.md).
constexpr int kMaxSampleRate = 1000;

Status set_sample(Arguments& arguments, const Option&, const std::string& value) {
  const auto rate = parse_number<int>(value);
  if (!rate || *rate < 1 || *rate > kMaxSampleRate) {
    return Error{fmt::format("invalid rate {}; expected 1 to {} samples per second of CPU time",
                             quote(value), kMaxSampleRate),
                 "", "for example --sample=499"};
  }
  arguments.sample = rate;
  return Done{};
}

Status set_since(Arguments& arguments, const Option&, const std::string& value) {
  arguments.since = value;
  if (is_utc_date(value)) return Done{};
  return Error{
      fmt::format("{} is not a date; expected YYYY-MM-DD or YYYY-MM-DDTHH:MM", quote(value)), "",
      "for example --since 2026-11-01"};
}

Status set_override(Arguments& arguments, const Option&, const std::string& value) {
  if (value.find('=') == std::string::npos || value.front() == '=') {
    return Error{fmt::format("{} is not an assignment; expected key=value", quote(value)), "",
                 "for example --set measure.processes=3"};
  }
  arguments.overrides.push_back(value);
  return Done{};
}

Status set_device(Arguments& arguments, const Option&, const std::string& value) {
  // Also accepts what only `analyze` selects; the other commands refuse it when they see their
  // cases: the number of a GPU, `0` or `cuda:0`, and the GPUs of a log of oneDNN, `gpu` or `gpu:0`.
  std::string_view number = value;
  for (const std::string_view prefix : {"cuda:", "gpu:"}) {
    if (number.starts_with(prefix)) number.remove_prefix(prefix.size());
  }
  const auto names = device_names();
  const bool is_name = std::ranges::find(names, value) != names.end() || value == "gpu";
  if (!is_name && !parse_number<unsigned>(number)) {
    return Error{fmt::format("unknown device {}", quote(value)), "",
                 ops::expected_word(value, names)};
  }
  arguments.devices.push_back(value);
  return Done{};
}

Status set_dtype(Arguments& arguments, const Option&, const std::string& value) {
  std::vector<std::string_view> names;
  for (const DataTypeInfo& row : data_types()) names.push_back(row.name);
  arguments.analysis.dtypes = {value};
  const ops::ForeignWord* const word = ops::find_foreign_word(value, names);
  if (word == nullptr) return Done{};
  if (!word->hint.empty()) {
    return Error{fmt::format("`{}` may be one of several data types", value), "",
                 std::string(word->hint)};
  }
  arguments.analysis.dtypes.emplace_back(word->name);
  return Done{};
}

// Adds the value of the profiler's switch that has this option, and requests a profile.
Status set_switch(Arguments& arguments, const Option& option, const std::string& value) {
  const SwitchRow& row = *std::ranges::find(switch_rows(), option.name, &SwitchRow::option);
  ProfileSwitches scratch;
  BENCH_RETURN_IF_ERROR(row.apply(scratch, value));
  arguments.profile.mode = ProfileArguments::Mode::enabled;
  arguments.profile.switches.emplace_back(row.name, value);
  return Done{};
}

Status set_architecture(Arguments& arguments, const Option&, const std::string& value) {
  const auto platform = ops::parse_platform(value);
  if (!platform.ok()) return Error{platform.error().what, "--arch", platform.error().next};
  arguments.architecture = value;
  return Done{};
}

Status set_gpu(Arguments& arguments, const Option& option, const std::string& value) {
  const auto gpu = read_gpu_description(value);
  if (!gpu.ok()) return gpu.error();
  arguments.gpu = value;
  return set_architecture(arguments, option, gpu->architecture);
}

Status add_window(Arguments& arguments, const Option&, const std::string& value) {
  arguments.windows.push_back(value);
  const auto window = parse_capture_window(arguments.windows);
  if (!window.ok()) return window.error();
  return Done{};
}

// Returns "KEY=" for each key of --set.
Words list_override_keys() {
  Words keys;
  for (const std::string& key : override_keys()) keys.push_back(key + "=");
  return keys;
}

constexpr std::string_view kNoProgress =
    "print no progress and no messages, only results and errors";

constexpr std::array kOptions = {
    Option("out", "FILE", "write to FILE instead of standard output", store<&Arguments::out>,
           {.letter = 'o',
            .in = {{{"run", "the result file (default bench-NAME-RUNID.jsonl in this folder)"},
                    {"gate", "folder for evidence, reports and kits (default gate-NAME-ID)",
                     nullptr, "DIR"},
                    {"duet", "write the evidence to FILE as JSON Lines"},
                    {"report", "write to FILE; its suffix selects the format"},
                    {"import", "the new configuration or network, NAME.yaml"},
                    {"submit",
                     "the script or manifest (default bench-NAME.slurm.sh or "
                     "bench-NAME.job.yaml)"},
                    {"trace", "the timeline; its suffix selects the format"},
                    {"profile",
                     "the profile (default profile-PID.jsonl in this folder; of a rank of a "
                     "distributed job profile-rankN-PID.jsonl)"}}}}),
    Option("driver", "NAME", "the driver of benchdnn that reads the files: conv, matmul, pool, ...",
           store<&Arguments::driver>, {.words = words_of<benchdnn_drivers>}),
    Option("dimension", "NAME=SIZE",
           "a size that an ONNX model leaves open: batch=8 (repeatable; default 1)",
           store<&Arguments::dimensions>),
    Option(
        "format", "NAME", "format of the output", store<&Arguments::format>,
        {.in = {{{"report", "{words} (default: by the suffix of FILE)", words_of<report_formats>},
                 {"compare", "{words} (default text; .html by its suffix)",
                  words_of<comparison_formats>},
                 {"trace", "{words} (default: by the suffix of FILE)",
                  words_of<trace_format_names>},
                 {"analyze", "{words} (default table)", words_of<analysis::table_formats>}}}}),
    Option("filter", "GLOB|/REGEX/", "only cases whose id matches (repeat: any of them)",
           store<&Arguments::filters>,
           {.in = {{{"baseline", "only cases whose id matches (repeatable)"},
                    {"history", "only cases whose id matches (repeatable)"},
                    {"peak", "only loops whose case id matches (repeatable)"}}}}),
    Option("device", "NAME", "only cases of this device: cpu or cuda (repeat: any of them)",
           set_device,
           {.words = words_of<device_names>,
            .in = {{{"analyze",
                     "only activities of this device, such as cpu or cuda:0 (repeatable)"}}}}),
    Option("set", "KEY=VALUE", "override a default of the configuration, e.g. measure.processes=3",
           set_override, {.words = list_override_keys}),
    Option("plugin", "FILE.so",
           "load the operators and backends of a plugin, before those of `plugins:` (repeatable)",
           store<&Arguments::plugins>),
    Option("budget", "TIME", "stop after TIME (90s, 5m) and list the cases that were not measured",
           store<&Arguments::budget>,
           {.in = {{{"gate", "end after TIME (90s, 5m); open cases stay undecided"},
                    {"selftest",
                     "end the measurements after TIME (90s, 5m); the resampling comes after it"},
                    {"peak",
                     "end after TIME (90s, 5m; default 5m) and list what was not measured"}}}}),
    Option("watch", "TIME",
           "measure for TIME how fast and how steady the machine is (default 10s; 0s: skip)",
           store<&Arguments::watch>),
    Option(
        "quick", "", "faster and less precise: 2 processes, 200 ms per case, precision 5%",
        store<&Arguments::quick>,
        {.in = {{{"gate",
                  "without a base: 2 processes, 200 ms per case, precision 5%; no effect with a "
                  "base"},
                 {"peak",
                  "faster and less precise: at most 30 s, two passes with 100 ms per ceiling"}}}}),
    Option("stats", "",
           "parameters, activations, MACs, FLOPs, bytes and receptive field of each layer",
           store<&Arguments::stats>),
    Option("flop-convention", "NAME",
           "count the FLOPs of --stats as bench, torch, fvcore, xla or deepspeed (default bench)",
           set_flop_convention, {.words = enumerator_words<ops::FlopConvention>}),
    Option("shard", "I/N",
           "measure part I of N of the cases, which takes about as long as the others; auto: as a "
           "job array of Slurm or an indexed job of Kubernetes states",
           set_shard,
           {.words = [] { return Words{"auto"}; },
            .in = {{{"list", "only part I of N of the cases, as `run --shard` does"}}}}),
    Option("slurm", "", "write a script that submits a job array and a job that merges its results",
           store_constant<Scheduler::slurm, &Arguments::submit, &SubmitArguments::scheduler>),
    Option("kubernetes", "",
           "write a manifest with an indexed job and a job that merges its results",
           store_constant<Scheduler::kubernetes, &Arguments::submit, &SubmitArguments::scheduler>),
    Option("shards", "N", "the number of parts, each on a machine of its own (default 4)",
           set_shards),
    Option("time", "TIME",
           "the limit of each shard: 30m, 2h (default: three times the estimate of the longest)",
           store<&Arguments::submit, &SubmitArguments::time>),
    Option("image", "IMAGE", "the container image that has bench, for --kubernetes",
           store<&Arguments::submit, &SubmitArguments::image>),
    Option("now", "", "also submit the job, with sbatch",
           store<&Arguments::submit, &SubmitArguments::now>),
    Option("resume", "FILE",
           "resume an unfinished run: measure the missing cases and append them to FILE",
           store<&Arguments::resume>),
    Option("seed", "N", "seed of the order and of the input data (default 1)", set_seed),
    Option("require", "gpu", "exit with status 3 if a case finds no GPU", set_requirement,
           {.words = [] { return Words{"gpu"}; }}),
    Option(
        "dry-run", "", "list what would be measured, and stop", store<&Arguments::dry_run>,
        {.letter = 'n', .in = {{{"baseline", "list what would be removed or adopted, and stop"}}}}),
    Option("json", "", "machine-readable standard output",
           store_constant<Output::json, &Arguments::output>),
    Option("quiet", "", "print no messages, only results and errors",
           store_constant<Verbosity::quiet, &Arguments::verbosity>,
           {.letter = 'q',
            .in = {{{"run", kNoProgress},
                    {"validate", "print only errors"},
                    {"gate", kNoProgress},
                    {"duet", kNoProgress},
                    {"selftest", kNoProgress},
                    {"peak", kNoProgress},
                    {"import", "print no summary, only errors"}}}}),
    Option("explain", "", "show all notes on the numbers, not only the first three sentences",
           store_constant<NoteExtent::all, &Arguments::notes>),
    Option("force", "", "replace an existing output file", store<&Arguments::force>,
           {.in = {{{"baseline",
                     "save: also store slower runs and those of another environment; prune: drop "
                     "lines that cannot be read; remove: also runs with an anchor; adopt: also a "
                     "class of another processor"},
                    {"gate", "replace existing files in the folder of --out"}}}}),
    Option("profile", "KINDS",
           "record operators, api, memory, device (several with commas; default: all four)",
           set_switch,
           {.implied = "operators,api,memory,device",
            .words = enumerator_words<RecordGroup>,
            .in = {{{"run",
                     "profile each case in a second pass: operators, api, memory, device (default: "
                     "all four), or counters (of a GPU or the CPU), in a separate pass"}}}}),
    Option("no-profile", "", "record nothing",
           store_constant<ProfileArguments::Mode::disabled, &Arguments::profile,
                          &ProfileArguments::mode>,
           {.in = {{{"run", "no profiling pass, even if the configuration requests one"},
                    {"profile", "run the program and record nothing"}}}}),
    Option(
        "profile-iterations", "RANGE", "record these iterations, counted from 0", set_switch,
        {.in = {{{"run", "record these iterations, counted from 0 (default 5-9)"},
                 {"profile", "record these outermost ranges, as --window A-B (default: all)"}}}}),
    Option("sample-rate", "N",
           "record the memory in use after every N-th operator (default 0: never)", set_switch,
           {.in = {{{"profile",
                     "record the resident memory after every N-th primitive, with the kind memory "
                     "(default 0: never)"}}}}),
    Option("profile-format", "FORMATS",
           "also write the profile as trace, memory_flow; several with commas (default jsonl)",
           set_switch, {.words = enumerator_words<ProfileFormat>}),
    Option("trace", "FILE", "profile, and write a Chrome trace (.json, .json.gz) of all of it",
           store<&Arguments::profile, &ProfileArguments::trace>,
           {.in = {{{"profile", "also write a Chrome trace (.json, .json.gz) of all of it"}}}}),
    Option("trace-failures", "DIR",
           "rerun each failed case with the profiler and write its trace to DIR",
           store<&Arguments::profile, &ProfileArguments::trace_failures>),
    Option("under", "COMMAND", "start workers under COMMAND: nsys, ncu, perf, vtune",
           store<&Arguments::profile, &ProfileArguments::under>),
    Option("beside", "WHAT",
           "if another bench measures on this machine: wait for it, at most 10 min (default), run "
           "beside it, or refuse to start",
           store<&Arguments::beside>, {.words = enumerator_words<Beside>}),
    Option("check", "",
           "write nothing: check that FILE is a Chrome trace that trace viewers accept",
           store<&Arguments::check>),
    Option("fail-on", "WHAT",
           "regression: exit 1 if a case became slower, and 5 if none can be compared", set_fail_on,
           {.in = {{{"history",
                     "regression: exit 1 if a case became slower at its last change point or is "
                     "evidently slower, and 5 if no case has enough runs; pending: also 4 if the "
                     "last runs of a case may be slower",
                     [] {
                       return Words{"regression", "pending"};
                     }},
                    {"report",
                     "regression, with --by machine: exit 1 if a machine is slow, 3 if one has no "
                     "time of a case that its siblings measured, and 4 if a machine could not be "
                     "judged",
                     [] { return Words{"regression"}; }},
                    {"compare", "", [] { return Words{"regression"}; }}}}}),
    Option("across-machines", "",
           "compare times of different machine classes, which are incomparable otherwise",
           store<&Arguments::across_machines>),
    Option(
        "by", "PARAMETER",
        "compare the cases of one result that differ in PARAMETER alone: dtype, cache, threads, "
        "backend, n, ...",
        store<&Arguments::by>,
        {.in = {{{"report", "machine: each RESULT is of another machine; find the one that is slow",
                  [] { return Words{"machine"}; }, "machine"}}}}),
    Option("against", "VALUE",
           "the value of --by that the others are compared with (default the first or smallest)",
           store<&Arguments::against>,
           {.in = {{{"analyze",
                     "compare with the profile FILE by --aggregate-by (default type): what became "
                     "slower or faster",
                     nullptr, "FILE"}}}}),
    Option("align", "HOW",
           "put several files onto one clock by what they state about their clocks (clock, the "
           "default), or their first activities at one time (start)",
           store<&Arguments::align>, {.words = enumerator_words<Alignment>}),
    Option("steps", "NAME",
           "print a row per step instead, with the times in which the device worked and waited; "
           "steps are the ranges NAME (default step)",
           store<&Arguments::steps>, {.implied = "step"}),
    Option("summary", "",
           "print aggregate tables instead: layers, operators, categories, memory, counters; with "
           "--top, --order-by total|mean|min|max|count and --json",
           store<&Arguments::summary>),
    Option("audit", "",
           "print the verdict on the profile itself: each check of its records, times and costs; "
           "with --format and --json",
           store<&Arguments::audit>),
    Option("work", "FILE.yaml",
           "formulas for FLOPs and bytes of unknown operators (docs/analyze.md)",
           store<&Arguments::work>),
    Option("backtrace", "", "record the functions and the source line that called each primitive",
           store<&Arguments::backtrace>),
    Option("sample", "RATE",
           "also sample where the program computes, RATE times per second of CPU time (default "
           "199): --sample or --sample=RATE",
           set_sample, {.implied = "199"}),
    Option("sample-by", "SOURCE",
           "what takes the samples: perf_events or timer (default: perf_events if permitted)",
           set_sample_source),
    Option("onednn-verbose", "LEVEL",
           "value of ONEDNN_VERBOSE for the program, e.g. all (default: creation and execution)",
           store<&Arguments::onednn_verbose>),
    Option("window", "WHAT",
           "record only this part: nvtx:NAME (while a range NAME is open), A-B (outermost ranges A "
           "to B, from 0; with nvtx:NAME, ranges of that name), cuda-profiler-api",
           add_window),
    Option("top", "N", "rows shown, 0: all (default 20; all with csv, json, space)",
           store<&Arguments::analysis, &AnalysisOptions::top>,
           {.letter = 't', .in = {{{"report", "only the first N cases; 0: all (default)"}}}}),
    Option("type", "WORD",
           "only this kind, phase (create, dispatch, ...) or operator (repeat: any of them)",
           store<&Arguments::analysis, &AnalysisOptions::types>),
    Option("kind", "KIND",
           "only this kind: primitive, kernel, memcpy, api, ... (repeat: any of them)",
           store<&Arguments::analysis, &AnalysisOptions::kinds>,
           {.words = enumerator_words<ActivityKind>}),
    Option("name", "REGEX", "only activities whose name has a match",
           store<&Arguments::analysis, &AnalysisOptions::name>),
    Option("layer", "PATH", "only inside this scope: a name, or several joined by :",
           store<&Arguments::analysis, &AnalysisOptions::layer>),
    Option("direction", "NAME", "only this direction: forward, backward, backward_data, ...",
           store<&Arguments::analysis, &AnalysisOptions::direction>,
           {.words = enumerator_words<ops::Direction>}),
    Option("dtype", "NAME", "only this data type", set_dtype, {.words = words_of<data_types>}),
    Option("min-time", "TIME", "only activities of at least TIME (without a unit: seconds)",
           store_seconds<&AnalysisOptions::min_time>),
    Option("max-time", "TIME", "only activities of at most TIME (without a unit: seconds)",
           store_seconds<&AnalysisOptions::max_time>),
    Option("phase", "PHASE", "exec, create or all (default exec)",
           store<&Arguments::analysis, &AnalysisOptions::phase>,
           {.words = enumerator_words<PhaseFilter>}),
    Option("aggregate-by", "COLUMNS",
           "one row for each value of a column, or of several: type, or layer,direction",
           add_names<&AnalysisOptions::aggregate_by>, {.words = words_of<analysis::columns>}),
    Option("aggregate", "HOW",
           "time, FLOPs and bytes of a group: max, min, sum or mean (default sum)",
           store<&Arguments::analysis, &AnalysisOptions::aggregate>,
           {.words = enumerator_words<Aggregate>}),
    Option("order-by", "COLUMN",
           "order of the rows, +COLUMN ascending (default time_ns; of groups: typical_ns)",
           store<&Arguments::analysis, &AnalysisOptions::order_by>,
           {.words = words_of<analysis::columns>}),
    Option("columns", "COLUMNS", "show these columns, in this order: time_ns,name,bandwidth",
           add_names<&AnalysisOptions::columns>,
           {.letter = 'c',
            .words = words_of<analysis::columns>,
            .in = {{{"report", "show these columns, in this order: case,median_ns,flops_per_s",
                     words_of<case_columns>}}}}),
    Option(
        "sort", "COLUMN", "sort the cases by this column, largest first; +COLUMN: smallest first",
        store<&Arguments::analysis, &AnalysisOptions::order_by>, {.words = words_of<case_columns>}),
    Option("wide", "", "CSV with one line per case instead of one per value",
           store<&Arguments::report, &ReportArguments::wide>),
    Option("replay", "", "the time of PROFILE's executions beside that of its imported suite",
           store<&Arguments::report, &ReportArguments::replay>),
    Option("plots", "DIR", "also write each plot to DIR as an SVG file",
           store<&Arguments::report, &ReportArguments::plots>),
    Option("width", "N", "make the table N characters wide",
           store<&Arguments::analysis, &AnalysisOptions::width>, {.letter = 'w'}),
    Option("peak-bandwidth", "RATE", "flag rows above this rate, the ceiling of ideal_ns: 900GB/s",
           store<&Arguments::analysis, &AnalysisOptions::peak_bandwidth>),
    Option("peak-flops", "RATE", "flag rows above this rate, the ceiling of ideal_ns: 10TFLOP/s",
           store<&Arguments::analysis, &AnalysisOptions::peak_flops>),
    Option("base", "BENCH",
           "the program to compare with: a bench, or the folder of a checkout with ./bench",
           store<&Arguments::gate, &GateArguments::base>),
    Option("cand", "BENCH", "the program that is judged (default: this one)",
           store<&Arguments::gate, &GateArguments::candidate>),
    Option("base-env", "NAME=VALUE",
           "set a variable only for the base; without --base the base is this program (repeatable)",
           store<&Arguments::gate, &GateArguments::base_environment>),
    Option("cand-env", "NAME=VALUE",
           "set a variable only for the candidate; without --base the base is this program without "
           "it (repeatable)",
           store<&Arguments::gate, &GateArguments::candidate_environment>),
    Option("base-library", "PATH",
           "let only the base load the library in this file or folder: oneDNN, cuDNN and cuBLAS, "
           "OpenBLAS, BLIS or MKL; without --base the base is this program",
           store<&Arguments::gate, &GateArguments::base_library>),
    Option("cand-library", "PATH", "the same for the candidate",
           store<&Arguments::gate, &GateArguments::candidate_library>),
    Option("bisect", "",
           "exit with the statuses of `git bisect run`: 0 not slower, 1 slower, 125 not decided or "
           "not built",
           store<&Arguments::gate, &GateArguments::bisect>),
    Option("duets", "N", "pairs of processes (default 20)", set_duets,
           {.in = {{{"selftest", "pairs of identical sides per case (default 40)"},
                    {"explain", "pairs of processes per variant of --try (default 12)"}}}}),
    Option("from", "FILE", "measure nothing: decide again from the evidence in this gate.jsonl",
           store<&Arguments::gate, &GateArguments::from>,
           {.in = {{{"selftest", "measure nothing: judge the duets that --record kept in FILE"},
                    {"explain", "the result file with the case's time (default: the store)"}}}}),
    Option("allow-removed", "", "accept stored cases that the configuration no longer contains",
           store<&Arguments::gate, &GateArguments::allow_removed>),
    Option("allow-incomparable", "",
           "accept a gate in which nothing can be compared (otherwise exit status 5)",
           store<&Arguments::gate, &GateArguments::allow_incomparable>),
    Option("strict", "",
           "exit with status 4 if a case stays inconclusive or suspect, or both sides are equal",
           store<&Arguments::gate, &GateArguments::strict>),
    Option("require-baseline", "",
           "exit with status 5 if nothing can be compared, also in the first run",
           store<&Arguments::gate, &GateArguments::require_baseline>,
           {.in = {{{"compare", "exit with status 5 if no case can be compared"}}}}),
    Option("kit", "", "create the kit of every case, not only of failed ones",
           store<&Arguments::gate, &GateArguments::kits_for_all>),
    Option("self-test", "", "evaluate the gate itself on this machine, as `bench selftest` does",
           store<&Arguments::gate, &GateArguments::self_test>),
    Option("record", "FILE", "keep the raw duets of the self-test",
           store<&Arguments::gate, &GateArguments::record>),
    Option("if-older", "TIME",
           "measure only if the store has no passed self-test of the last TIME (24h)",
           store<&Arguments::gate, &GateArguments::if_older>),
    Option(
        "baseline", "DIR", "the folder of stored baselines (default baselines)",
        store<&Arguments::baseline>,
        {.in = {{{"run",
                  "compare each case with the baselines in this folder (default baselines, if it "
                  "contains this machine class); --shard assigns cases by their times"},
                 {"list", "the store with the times by which --shard assigns (default baselines)"},
                 {"submit",
                  "the store with the times by which cases are assigned (default "
                  "baselines)"},
                 {"peak", "the store of the ceilings (default baselines)"},
                 {"selftest", "the store that keeps what the self-test showed (default baselines)"},
                 {"explain",
                  "the store of the ceilings and of the case's time (default baselines)"},
                 {"analyze", "the store with the ceilings of the machine (default baselines)"}}}}),
    Option("db", "URL",
           "a history in a database instead of the folder: sqlite:FILE or "
           "postgresql://USER@HOST/DATABASE",
           store<&Arguments::history, &HistoryArguments::database>),
    Option("save", "",
           "store the runs of result files, or of a folder of stored baselines, in the database of "
           "--db",
           store<&Arguments::history, &HistoryArguments::save>),
    Option("list", "", "list all series of the database of --db, without judging them",
           store<&Arguments::history, &HistoryArguments::list>),
    Option("since", "DATE",
           "only runs and changes from this day or UTC time on: 2026-11-01, 2026-11-01T08:00",
           set_since),
    Option("reason", "TEXT", "why these runs become a baseline, for later readers",
           store<&Arguments::reason>,
           {.in = {{{"history", "with --save: what these runs are, for later readers"}}}}),
    Option("anchor", "NAME", "name these runs, so that they are kept: release-1.4",
           store<&Arguments::anchor>,
           {.in = {{{"history", "with --save: a name of these runs, such as release-1.4"}}}}),
    Option("try", "NAMES",
           "measure changes of the case, interleaved with it: all that fit, or NAMES with commas: "
           "{words}",
           set_tried, {.implied = kAllVariants, .words = list_variants}),
    Option("arch", "SM",
           "tensor cores of this architecture: sm_90, or with the libraries of a toolkit "
           "sm_75:cuda10; no such device is needed",
           set_architecture),
    Option(
        "gpu", "FILE",
        "the GPU that FILE describes: its tensor cores, and what cuDNN would run on it. No such "
        "device is needed; FILE is the output of `bench worker --probe libraries` on its machine",
        set_gpu),
    Option("describe", "", "print operators, parameters, devices and libraries as JSON",
           store<&Arguments::describe>),
    Option("probe", "devices|libraries|onednn",
           "print as JSON what the CUDA plugin finds, or which oneDNN is loaded",
           store<&Arguments::probe>),
    Option("support", "", "print as JSON what would compute the given cases on a CUDA device",
           store<&Arguments::support>),
    Option("networks", "DIR", "search networks in DIR before the usual folders",
           store<&Arguments::networks>),
};

constexpr std::array kContradictions = {Contradiction{"no-profile", "profile"},
                                        Contradiction{"no-profile", "profile-iterations"},
                                        Contradiction{"no-profile", "profile-format"},
                                        Contradiction{"no-profile", "sample-rate"},
                                        Contradiction{"no-profile", "trace"},
                                        Contradiction{"json", "format", "json"},
                                        Contradiction{"resume", "out"},
                                        Contradiction{"db", "baseline"},
                                        Contradiction{"save", "list"},
                                        Contradiction{"save", "since"},
                                        Contradiction{"save", "fail-on"},
                                        Contradiction{"list", "since"},
                                        Contradiction{"list", "fail-on"}};

}  // namespace

std::span<const Contradiction> contradictions() { return kContradictions; }

namespace {

// Returns nullptr if nothing differs in the command.
const InCommand* find_in_command(std::string_view command, const Option& option) {
  const auto* const found = std::ranges::find(option.details.in, command, &InCommand::command);
  return found == std::end(option.details.in) ? nullptr : found;
}

// Returns "text, html or json".
std::string join_choices(const Words& words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

}  // namespace

OptionHelp option_help(std::string_view command, const Option& option) {
  const InCommand* const own = find_in_command(command, option);
  const bool has_own_help = own != nullptr && !own->help.empty();
  std::string help(has_own_help ? own->help : option.help);
  if (const std::size_t place = help.find(kWordsPlace); place != std::string::npos)
    help.replace(place, kWordsPlace.size(), join_choices(option_words(command, option)));
  return {own == nullptr || own->value.empty() ? option.value : own->value, std::move(help)};
}

Words option_words(std::string_view command, const Option& option) {
  const InCommand* const own = find_in_command(command, option);
  if (own != nullptr && own->words != nullptr) return own->words();
  return option.details.words == nullptr ? Words() : option.details.words();
}

std::span<const Option> options() { return kOptions; }

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

}  // namespace bench
