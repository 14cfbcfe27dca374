// SPDX-License-Identifier: Apache-2.0
// table: one row a command
#include "harness/cli/command.hpp"

#include <array>

namespace bench {
namespace {

constexpr std::array<std::string_view, 22> kRunOptions = {"out",
                                                          "filter",
                                                          "device",
                                                          "set",
                                                          "budget",
                                                          "quick",
                                                          "shard",
                                                          "resume",
                                                          "seed",
                                                          "require",
                                                          "profile",
                                                          "no-profile",
                                                          "profile-iterations",
                                                          "sample-rate",
                                                          "profile-format",
                                                          "trace",
                                                          "trace-failures",
                                                          "under",
                                                          "dry-run",
                                                          "json",
                                                          "quiet",
                                                          "force"};
constexpr std::array<std::string_view, 6> kListOptions = {"filter", "device", "set",
                                                          "shard",  "json",   "quiet"};
constexpr std::array<std::string_view, 3> kValidateOptions = {"set", "json", "quiet"};
constexpr std::array<std::string_view, 2> kExplainOptions = {"json", "set"};
constexpr std::array<std::string_view, 3> kReportOptions = {"out", "format", "force"};
constexpr std::array<std::string_view, 6> kCompareOptions = {"out",  "format", "fail-on",
                                                             "json", "quiet",  "force"};
constexpr std::array<std::string_view, 5> kTraceOptions = {"out", "format", "check", "quiet",
                                                           "force"};
constexpr std::array<std::string_view, 5> kProfileOptions = {"out", "backtrace", "onednn-verbose",
                                                             "quiet", "force"};
constexpr std::array<std::string_view, 22> kAnalyzeOptions = {
    "summary",        "top",        "type",     "kind",     "name",     "layer",
    "direction",      "device",     "dtype",    "min-time", "max-time", "phase",
    "aggregate-by",   "aggregate",  "order-by", "columns",  "width",    "format",
    "peak-bandwidth", "peak-flops", "json",     "quiet"};
constexpr std::array<std::string_view, 1> kJsonOption = {"json"};
constexpr std::array<std::string_view, 1> kWorkerOptions = {"describe"};

constexpr std::array kCommands = {
    Command{"run", "CONFIG|CASE...", 1, -1, "measure every case of the configurations",
            "Measures each case in several worker processes, in random order, warm-up excluded, "
            "results checked\n"
            "before they are timed. Prints a table, and appends every record to a result file "
            "while it goes on:\n"
            "a killed run keeps what it measured, --resume measures the rest.",
            "bench run configs/resnet.yaml                       # ResNet-50, layer by layer and "
            "as one network\n"
            "bench run configs/resnet.yaml --filter 'network/*'  # only the network as one\n"
            "bench run conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot  # one case, by its id\n"
            "bench run configs/gemm.yaml --set threads=1 --quick --out gemm.jsonl\n"
            "bench run configs/resnet.yaml --profile --out r.jsonl   # where the time goes, layer "
            "by layer\n"
            "bench run configs/resnet.yaml --trace resnet.json.gz    # a timeline for Perfetto\n"
            "bench run configs/quick.yaml --trace-failures traces    # what happened before a case "
            "failed\n"
            "bench run CASE --under 'perf record -g -o perf.data'    # below somebody else's "
            "profiler",
            kRunOptions, run_command},
    Command{"list", "CONFIG|CASE...", 1, -1,
            "list the cases that a run would measure, with their work",
            "Nothing is measured. MACs, FLOPs and bytes follow the convention bench-1; the last "
            "column says where\n"
            "a case can run.",
            "bench list configs/resnet.yaml\n"
            "bench list configs/operators.yaml --filter '*/bf16/*' --json",
            kListOptions, list_command},
    Command{"validate", "CONFIG...", 1, -1, "check configurations and list every error",
            "Each error names file:line:column, what was found, what was expected and the nearest "
            "valid name.",
            "bench validate configs/*.yaml", kValidateOptions, validate_command},
    Command{"explain", "CASE", 1, 1,
            "explain one case: shapes, formulas, implementation, reproduction",
            "Shows the tensors, each formula with its values, which implementation and layouts the "
            "library chooses\n"
            "on this machine, what creation, reorders and the first run cost, and the command that "
            "reruns the case.",
            "bench explain conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot", kExplainOptions,
            explain_command},
    Command{
        "analyze", "FILE", 1, 1, "tables over profiled activities: filter, group, order, choose",
        "Reads a result file of `bench run --profile`, a profile of `bench profile`, a log with "
        "oneDNN's verbose\n"
        "lines, or PyProf's table; which one it is follows from its content. `-` is standard "
        "input; .gz is unpacked.\n"
        "One row for each executed activity (primitive, kernel, copy), the longest first; "
        "--type and --kind choose\n"
        "others: create, dispatch, api, allocation. Unknown values are n/a, stand last and "
        "enter no rate. Columns:\n"
        "number name kind type layer direction case device stream pid tid start_ns time_ns "
        "self_ns share\n"
        "cumulative_ns cumulative_share count total_ns min_ns max_ns mean_ns p50_ns p95_ns "
        "flops flops_per_s bytes\n"
        "bandwidth in_shapes out_shapes implementation parameters dtype trace flags and every "
        "other attribute.",
        "bench analyze result.jsonl                                  # the 20 longest\n"
        "bench analyze result.jsonl --aggregate-by layer             # where the time goes\n"
        "bench analyze result.jsonl --summary                        # by layer, operator, "
        "category\n"
        "bench analyze onednn.log --aggregate-by type --order-by count\n"
        "bench analyze onednn.log --type dispatch -c implementation,reason -t 0\n"
        "bench analyze table.csv --peak-bandwidth 900GB/s --order-by bandwidth\n"
        "program | bench analyze - --format csv -c name,time_ns,flops_per_s > rows.csv",
        kAnalyzeOptions, analyze_command},
    Command{"report", "RESULT...", 1, -1, "turn result files into a report",
            "Several files (shards, a run and its continuation) become one report. The format "
            "follows the suffix of\n"
            "FILE, or --format; without FILE the report goes to standard output.",
            "bench report results.jsonl                          # the table again\n"
            "bench report shard-*.jsonl -o all.json",
            kReportOptions, report_command},
    Command{
        "compare", "BASE CANDIDATE", 2, 2, "what became slower or faster, and what changed",
        "Result files of `bench run`, or Google Benchmark's JSON. For each case the ratio of "
        "times with its\n"
        "interval over processes, what else changed (implementation, layouts, memory), and for "
        "all of them the\n"
        "machine, libraries and configuration; worst first. Both sides were measured at their "
        "own time: small\n"
        "differences of noisy machines are no regressions, hence exit status 0 unless --fail-on "
        "asks for more.",
        "bench compare before.jsonl after.jsonl\n"
        "bench compare before.jsonl after.jsonl --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n"
        "bench compare old.json new.json --fail-on regression     # Google Benchmark",
        kCompareOptions, compare_command},
    Command{"trace", "FILE...", 1, -1, "turn a profile into a timeline",
            "Reads what `bench analyze` reads: result files of `bench run --profile`, profiles, "
            "oneDNN's log lines.\n"
            "Several files become one timeline. What is written follows the suffix given to -o, or "
            "--format:\n"
            "  .json, .json.gz  trace        Chrome trace, for ui.perfetto.dev and "
            "chrome://tracing\n"
            "  .html            html         the timeline as a page, which needs no network\n"
            "  .svg             memory_flow  time x address, one rectangle an allocation\n"
            "With --check the files are Chrome traces, of any origin, whose errors are listed.",
            "bench trace result.jsonl -o result.html             # look at it in a browser\n"
            "bench trace result.jsonl -o result.json.gz          # for Perfetto\n"
            "bench trace result.jsonl -o memory.svg              # what was allocated when\n"
            "bench trace --check result.json.gz",
            kTraceOptions, trace_command},
    Command{"profile", "-- COMMAND ARG...", 1, -1, "profile any program that uses oneDNN",
            "Runs COMMAND unchanged, with its own standard streams and exit status (128 + n when "
            "signal n ended it,\n"
            "127 when there is no such program), and takes what oneDNN tells of its primitives "
            "into FILE, from\n"
            "child processes and all threads too. FILE is profile-PID.jsonl here unless said "
            "otherwise. A program\n"
            "that is static or setuid runs, but nothing is captured. Where you set ONEDNN_VERBOSE "
            "yourself, its\n"
            "lines go to standard output as ever.",
            "bench profile -- python3 infer.py                   # then: bench analyze "
            "profile-PID.jsonl\n"
            "bench profile --backtrace --out p.jsonl -- ./serve --once",
            kProfileOptions, profile_command},
    Command{"doctor", "", 0, 0, "what this machine offers and lacks",
            "Libraries with versions and paths, the CPU, and what makes measurements noisy here; "
            "each with its\n"
            "consequence and remedy. Changes nothing, exits 0.",
            "bench doctor", kJsonOption, doctor_command},
    Command{"completion",
            "SHELL",
            1,
            1,
            "print completion for bash or zsh",
            "",
            "bench completion bash > /etc/bash_completion.d/bench\n"
            "source <(bench completion zsh)",
            {},
            completion_command},
    Command{"worker", "", 0, 0, "serve a coordinator (docs/worker_protocol.md)", "", "",
            kWorkerOptions, worker_command, Visibility::hidden},
    Command{
        "manual", "", 0, 0, "print the man page", "", "", {}, manual_command, Visibility::hidden},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace bench
