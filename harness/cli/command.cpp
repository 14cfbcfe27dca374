// SPDX-License-Identifier: Apache-2.0
// table: one row per command
#include "harness/cli/command.hpp"

#include "base/terminal_text.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/option.hpp"
#include "harness/import/kind.hpp"
#include "harness/report/format.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

// Returns "  pyprof         PyProf's table, ..." with the text wrapped in its column.
std::string format_list_entry(std::string_view name, std::string_view help) {
  constexpr std::size_t kWidth = 80, kColumn = 17;
  return fmt::format("  {:<15}{}", name, wrap(help, kWidth, kColumn).substr(kColumn));
}

// Returns the lines of all readers.
std::string list_readers() {
  std::string text;
  for (const ActivityReader& reader : activity_readers())
    text += format_list_entry(reader.name, reader.help);
  return text;
}

// Returns the lines of all kinds of imports.
std::string list_import_kinds() {
  std::string text;
  for (const ImportKind& kind : import_kinds()) text += format_list_entry(kind.name, kind.files);
  return text;
}

// Returns "  .html  html  a page with ..." for each format.
std::string list_report_formats() {
  std::string text;
  for (const ReportFormat& format : report_formats())
    text += fmt::format("  {:<14}{:<8}{}\n", format.suffix, format.name, format.help);
  return text;
}

constexpr std::string_view kRunOptions =
    "out filter device set plugin budget quick shard resume seed require profile no-profile "
    "profile-iterations sample-rate profile-format trace trace-failures baseline under dry-run "
    "explain json quiet force beside";
constexpr std::string_view kListOptions =
    "stats flop-convention filter device set plugin shard baseline json quiet";
constexpr std::string_view kSubmitOptions =
    "slurm kubernetes shards time image now out filter device set plugin budget quick seed require "
    "baseline quiet force";
constexpr std::string_view kValidateOptions = "set plugin json quiet";
constexpr std::string_view kExplainOptions =
    "try duets budget beside arch gpu json from baseline set plugin quiet";
constexpr std::string_view kReportOptions =
    "out format align columns sort top filter wide plots replay by fail-on explain force";
constexpr std::string_view kCompareOptions =
    "by against out format fail-on across-machines require-baseline json quiet force";
constexpr std::string_view kBaselineOptions =
    "baseline reason anchor filter dry-run json quiet force";
constexpr std::string_view kHistoryOptions =
    "baseline db save list reason anchor since filter fail-on explain json quiet";
constexpr std::string_view kGateOptions =
    "bisect baseline base base-env base-library cand cand-env cand-library out filter device set "
    "plugin budget quick seed require allow-removed allow-incomparable strict require-baseline kit "
    "from self-test explain json quiet force beside";
constexpr std::string_view kDuetOptions =
    "bisect base base-env base-library cand cand-env cand-library duets filter set plugin budget "
    "seed out explain json quiet force beside";
constexpr std::string_view kSelftestOptions =
    "baseline if-older record from duets set plugin seed budget json quiet force beside";
constexpr std::string_view kTraceOptions = "out format align check quiet force";
constexpr std::string_view kProfileOptions =
    "out profile no-profile profile-iterations sample-rate profile-format trace window sample "
    "sample-by backtrace onednn-verbose quiet force beside";
constexpr std::string_view kAnalyzeOptions =
    "audit summary steps against align top type kind name layer direction device dtype min-time "
    "max-time phase aggregate-by "
    "aggregate order-by columns width format peak-bandwidth peak-flops work baseline json quiet";
constexpr std::string_view kPeakOptions =
    "filter device baseline quick budget explain json quiet beside";
constexpr std::string_view kImportOptions = "out driver dimension json quiet force";
constexpr std::string_view kDoctorOptions = "watch json";
constexpr std::string_view kWorkerOptions = "describe probe support gpu arch networks plugin";

constexpr std::array kCommands = {
    Command{"run", "CONFIG|CASE...", 1, -1, "measure every case of the configurations",
            "Measures each case in several worker processes, in random order, warm-up excluded, "
            "results checked\n"
            "before they are timed. Prints a table, and appends every record to a result file "
            "during the run:\n"
            "a killed run keeps its measurements, and --resume measures the rest.",
            "bench run configs/resnet.yaml                       # ResNet-50, layer by layer and "
            "as a whole\n"
            "bench run configs/resnet.yaml --filter 'network/*'  # only the whole network\n"
            "bench run conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot  # one case, by its id\n"
            "bench run configs/gemm.yaml --set threads=1 --quick --out gemm.jsonl\n"
            "bench run configs/serving.yaml    # items per second and latency, by streams and "
            "batch\n"
            "bench run configs/resnet.yaml --profile --out r.jsonl   # where the time goes, layer "
            "by layer\n"
            "bench run configs/resnet.yaml --trace resnet.json.gz    # a timeline for Perfetto\n"
            "bench run configs/quick.yaml --trace-failures traces    # what happened before a case "
            "failed\n"
            "bench run configs/quick.yaml --baseline baselines       # compared with the store\n"
            "bench run configs/resnet.yaml --shard 2/4 --out 2.jsonl  # a quarter of the cases\n"
            "bench run CASE --under 'perf record -g -o perf.data'    # under another "
            "profiler",
            kRunOptions, run_command},
    Command{
        "submit", "CONFIG|CASE...", 1, -1, "write a job that measures on many machines",
        "Writes the job for Slurm (--slurm) or Kubernetes (--kubernetes): one shard of the cases "
        "per machine,\n"
        "each with the same estimated time, and then a job that merges the results. A shard that "
        "was killed\n"
        "and requeued measures only what its file lacks. The other options are those of `run`, "
        "which the job\n"
        "repeats. Submits nothing without --now. docs/scale.md describes both.",
        "bench submit --slurm configs/resnet.yaml --shards 8 --time 1h\n"
        "bench submit --slurm configs/resnet.yaml --shards 8 --now\n"
        "bench submit --kubernetes resnet --shards 8 --image registry.example/bench:0.1",
        kSubmitOptions, submit_command},
    Command{
        "list", "CONFIG|CASE...", 1, -1, "list the cases that a run would measure, with their work",
        "Measures nothing. MACs, FLOPs and bytes follow the convention bench-1. The last column "
        "states whether\n"
        "a case can run here. For cases on a GPU it states what would compute them, or why they "
        "are\n"
        "unsupported; this needs cuDNN but no GPU.\n"
        "\n"
        "With --stats it lists every layer of the networks as the file has it, with totals, and "
        "nothing that\n"
        "depends on the machine. `activ.` counts the elements of the result, `field` the positions "
        "of the input\n"
        "that one of them depends on, `equal` the layers that are the same case.",
        "bench list configs/resnet.yaml\n"
        "bench list configs/operators.yaml --filter '*/bf16/*' --json\n"
        "bench list configs/resnet.yaml --stats --flop-convention torch\n"
        "bench list configs/gpu_operators.yaml --device cuda",
        kListOptions, list_command},
    Command{"validate", "CONFIG...", 1, -1, "check configurations and list every error",
            "Each error states file:line:column, what was found, what was expected and the nearest "
            "valid name.",
            "bench validate configs/*.yaml", kValidateOptions, validate_command},
    Command{"explain", "CASE", 1, 1,
            "explain one case: shapes, formulas, implementation, reproduction",
            "Shows the tensors, each formula with its values, which implementation and layouts the "
            "library chooses\n"
            "on this machine, what creation, reorders and the first run cost, and the command that "
            "reruns the case.\n"
            "With --arch it also shows whether tensor cores can be used on that architecture, and "
            "by which rules; no GPU is needed.\n"
            "With --gpu it shows the same for the GPU that a file describes, and the engines that "
            "cuDNN would choose on it.\n"
            "For a network it begins with the plan on that GPU: what runs each step, its layouts, "
            "and what transposes.\n"
            "docs/tensor_cores.md contains the rules.\n"
            "With --try it measures changes of the case that may make it faster (another layout or "
            "data type,\n"
            "padding, threads, ...) against it, and shows only what each gains and costs.\n"
            "Begins with the last time that this machine class measured (in the store, or in the "
            "result file of\n"
            "--from), its share of the ceilings, and what there is to gain.",
            "bench explain conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot\n"
            "bench explain conv/forward/c60h28w28k64r3s3p1/f32/onednn/cpu/hot --try\n"
            "bench explain gemm/forward/m256n256k256/f32/onednn/cpu/hot --from result.jsonl\n"
            "bench explain gemm/forward/m4096n4096k4095/f16/onednn/cpu/hot --arch sm_90\n"
            "bench explain conv/forward/c60h28w28k64r3s3p1/f16/cudnn/cuda/hot --gpu f.json\n"
            "bench explain network/forward/resnet50_v1_5/f16/cudnn/cuda/hot --gpu f.json",
            kExplainOptions, explain_command},
    Command{
        "analyze", "FILE...", 1, -1,
        "tables over profiled activities: filter, group, order, choose",
        "Reads files of these formats, detected from the content. `-` is standard "
        "input; .gz is\n"
        "unpacked.\n"
        "{list}\n"
        "Prints one row per executed activity (primitive, kernel, copy), the longest first; "
        "--type and --kind select\n"
        "others: create, dispatch, api, allocation. Unknown values are n/a, are sorted last and "
        "are excluded from rates. Columns:\n"
        "number name kind type layer direction case device stream pid tid start_ns time_ns "
        "self_ns share\n"
        "cumulative_ns cumulative_share count total_ns min_ns max_ns mean_ns stddev_ns p50_ns "
        "p90_ns p95_ns\n"
        "p99_ns value_min value_max value_last flops flops_per_s bytes\n"
        "bandwidth intensity ideal_ns efficiency bound in_shapes out_shapes implementation "
        "parameters dtype\n"
        "trace flags,\n"
        "and every other attribute. ideal_ns, efficiency and bound need the ceilings of the "
        "machine:\n"
        "--peak-flops and --peak-bandwidth, else those in a result file, else those that `bench "
        "peak` stored.\n"
        "Several files (ranks, processes, machines) are put onto one clock; --aggregate-by rank "
        "compares them.\n"
        "--steps prints what each step took. --against FILE compares two profiles of one "
        "program.",
        "bench analyze result.jsonl                                  # the 20 longest\n"
        "bench analyze result.jsonl --aggregate-by layer             # where the time goes\n"
        "bench analyze result.jsonl --summary                        # by layer, operator, "
        "category\n"
        "bench analyze profile-rank*.jsonl --aggregate-by rank,type\n"
        "bench analyze train.jsonl --steps                           # each step: busy and idle\n"
        "bench analyze new.jsonl --against old.jsonl --aggregate-by layer\n"
        "bench analyze onednn.log --aggregate-by type --order-by count\n"
        "bench analyze onednn.log --type dispatch -c implementation,reason -t 0\n"
        "bench analyze onednn.log -c name,time_ns,ideal_ns,efficiency,bound\n"
        "bench analyze table.csv --peak-bandwidth 900GB/s --order-by bandwidth\n"
        "program | bench analyze - --format csv -c name,time_ns,flops_per_s > rows.csv",
        kAnalyzeOptions, analyze_command, Visibility::shown, nullptr, list_readers},
    Command{
        "report", "RESULT...", 1, -1, "turn result files into a report",
        "Several files (shards, a run and its continuation) become one report. RESULT may "
        "also be the\n"
        "folder of a gate or its gate.jsonl, a store of baselines, whose report is its "
        "history, or a profile or\n"
        "log that `bench analyze` reads.\n"
        "Profiles of several ranks or processes become one report on one clock.\n"
        "The format follows the suffix of FILE, or --format; without FILE the report goes to "
        "standard output:\n"
        "{list}\n"
        "With --replay, RESULT is that of a suite from `bench import profile`, and PROFILE the\n"
        "profile: what the program's executions took, and what its cases take.\n"
        "With --by machine, each RESULT is of another machine that measured the same suite: which "
        "of them\n"
        "is slow? docs/scale.md#a-slow-machine.\n"
        "docs/reports.md describes the page, the columns and the plots.",
        "bench report results.jsonl                          # the table again\n"
        "bench report results.jsonl -o report.html           # look at it in a browser\n"
        "bench report results.jsonl --sort median_ns --top 10 --columns case,median_ns\n"
        "bench report results.jsonl --filter 'conv/*' -o conv.csv --wide\n"
        "bench report results.jsonl -o report.html --plots plots  # each plot as a file\n"
        "bench report gate/ -o gate.html\n"
        "bench report baselines -o history.html\n"
        "bench report --replay net_result.jsonl net.jsonl  # a program and its suite\n"
        "bench report node*.jsonl --by machine              # which machine or GPU is slow\n"
        "bench report shard-*.jsonl -o all.json",
        kReportOptions, report_command, Visibility::shown, nullptr, list_report_formats},
    Command{
        "compare", "BASE CANDIDATE|RESULT", 1, 2, "what became slower or faster, and what changed",
        "Reads result files of `bench run`, stored baselines (a file, a folder), and every format "
        "that\n"
        "`bench analyze` reads. For each\n"
        "case it shows the ratio of times with its interval over processes, and what else changed\n"
        "(implementation, layouts, memory). For all cases together it shows changes of machine,\n"
        "libraries and configuration. The worst cases come first. Times of different machine "
        "classes "
        "are\n"
        "incomparable without --across-machines. The sides were measured at different times, so "
        "small\n"
        "differences on noisy machines are not regressions: the exit status is 0 unless --fail-on "
        "or\n"
        "--require-baseline is given.\n\n"
        "With --by, it compares the cases of one result with each other: those that differ in one\n"
        "parameter alone. More than two values give a table of speed-ups.",
        "bench compare before.jsonl after.jsonl\n"
        "bench compare result.jsonl --by dtype --against f32      # inside one result\n"
        "bench compare result.jsonl --by threads                  # speed-up by threads\n"
        "bench compare result.jsonl --by streams                  # throughput by streams\n"
        "bench compare a.jsonl b.jsonl --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n"
        "bench compare baselines after.jsonl                      # with accepted runs\n"
        "bench compare baselines@release-1.4 baselines            # since an anchor\n"
        "bench compare old.json new.json --fail-on regression     # Google Benchmark",
        kCompareOptions, compare_command},
    Command{"baseline", "ACTION [RESULT|CASE|RUN|CLASS...]", 1, -1,
            "keep accepted runs: save, accept, list, show, remove, prune, adopt, verify",
            "The store is a folder, `baselines` or that of --baseline. It has one file per machine "
            "class "
            "and\n"
            "case, to which each accepted run adds a line. Keep it in git.\n"
            "  save RESULT...    add runs that are as fast as earlier ones, or the first runs\n"
            "                    of a case; refuses slower cases and those of another\n"
            "                    environment, exit 1\n"
            "  accept RESULT...  add runs with a justified change of level: opens an\n"
            "                    epoch, and earlier runs no longer count\n"
            "  list              the cases with runs, epochs, last commit, median and anchors\n"
            "  show CASE...      every run of a case, how much its runs differ, and the\n"
            "                    implementation and libraries of the last run\n"
            "  remove RUN...     remove runs from all cases: undoes save and accept\n"
            "  prune             keep the last 30 runs of each epoch, and every anchor\n"
            "  adopt CLASS       copy the runs and ceilings of another machine class, such as\n"
            "                    that of an earlier build, to the class of this machine\n"
            "  verify            check all files and list problems with file:line, exit 2\n"
            "save and accept need a --reason; remove and adopt take --dry-run. Runs under a "
            "vendor's tool,\n"
            "with an artificial slowdown or interrupted are refused, with the reason.\n"
            "docs/baselines.md describes format and policy.",
            "bench baseline save r.jsonl --reason 'nightly run of main'\n"
            "bench baseline accept r.jsonl --filter 'conv/*' --reason 'a new check (#123)'\n"
            "bench baseline save r.jsonl --anchor release-1.4 --reason 'release 1.4'\n"
            "bench baseline list --filter '*/bf16/*'\n"
            "bench baseline show conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot\n"
            "bench baseline remove 3f1d2c4b5a69 --dry-run        # then without --dry-run\n"
            "bench baseline adopt icelake-server-2c-2097c0e6     # after an upgrade\n"
            "bench baseline verify --baseline /srv/baselines     # in CI",
            kBaselineOptions, baseline_command, Visibility::shown, words_of<baseline_action_names>},
    Command{"history", "[CASE...|RESULT...]", 0, -1,
            "how stored cases developed: changes, creep, trend",
            "Reads the runs of the store (`bench baseline save`). The first sentence names the "
            "cases that changed,\n"
            "with date and commit; the table shows the trend of each case. A change point is a run "
            "from which on the\n"
            "times are at another level; a permutation test and the number of cases decide which "
            "ones count. Creep is\n"
            "the sum of small changes since an anchor or since the first run of the epoch. Epochs "
            "and machine classes\n"
            "are separate, and runs that are not comparable are named. With CASE it shows every "
            "run of the case and\n"
            "what changed with it. docs/history.md explains the method and its limits.\n"
            "With --db the runs are in a database, for many machines and a long memory; --save "
            "stores runs in it.",
            "bench history                                       # all cases of baselines/\n"
            "bench history --since 2026-11-01 --filter 'conv/*'\n"
            "bench history conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot\n"
            "bench history --fail-on regression                  # for CI: exit 1 if a case became "
            "slower\n"
            "bench history --db sqlite:history.db --save r.jsonl # creates the file\n"
            "bench history --db sqlite:history.db --filter 'conv/*'",
            kHistoryOptions, history_command},
    Command{
        "gate", "CONFIG|CASE...", 0, -1, "judge a change: what became slower than before",
        "Compares each case of the candidate (this program) with the base in duets: interleaved "
        "pairs of processes\n"
        "on the same processors. New duets must confirm a slowdown unless it is obvious; then the "
        "case is a\n"
        "REGRESSION, as it is if its memory grew. Only a REGRESSION exits with 1. Without a base "
        "(--base, --base-env\n"
        "or --cand-env) the stored baselines decide, and only large effects are detected. DIR "
        "(--out) receives all\n"
        "evidence, a report in each format, and for each failing case a kit: a folder with what "
        "changed, timelines and samples.\n"
        "docs/gate.md explains the rules and their cost.",
        "bench gate configs/resnet.yaml --base ../main           # another checkout\n"
        "bench gate configs/resnet.yaml --base /opt/bench-1.4/bin/bench --out gate\n"
        "bench gate configs/resnet.yaml --base-library /opt/onednn-3.2/lib\n"
        "bench gate configs/quick.yaml --cand-env ONEDNN_MAX_CPU_ISA=SSE41\n"
        "bench gate configs/resnet.yaml                          # only against baselines/\n"
        "bench gate --from gate/gate.jsonl                       # decide again, measure nothing",
        kGateOptions, gate_command},
    Command{
        "duet", "CASE|CONFIG...", 1, -1,
        "cases by two builds, libraries or environments, side by side",
        "Base and candidate alternate, one sample each, on the same processors, in new processes "
        "each time, so that\n"
        "machine drift affects both. Shows by how much the candidate is slower, with bounds, and "
        "the minimum\n"
        "detectable effect. Of several cases it shows those that changed, with the implementation "
        "of both sides.",
        "bench duet conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot --base ../main\n"
        "bench duet CASE --base-env ONEDNN_MAX_CPU_ISA=AVX2 --duets 40\n"
        "bench duet configs/resnet.yaml --base-library /opt/onednn-3.1",
        kDuetOptions, duet_command},
    Command{"selftest", "[CONFIG|CASE...]", 0, -1, "how far this machine can be trusted",
            "Measures the timer, the harness and the gate itself: pairs of identical sides, and of "
            "sides with an artificial\n"
            "slowdown. Prints how many gates of 100 unchanged cases would fail, how often "
            "slowdowns of 2, 3, 5 "
            "and 10 %\n"
            "are detected, and the minimum detectable effect on this machine. Stores this; the "
            "reports of later gates\n"
            "state it.",
            "bench selftest\n"
            "bench selftest --budget 30s --if-older 24h\n"
            "bench selftest --duets 500 --record duets.jsonl\n"
            "bench selftest configs/quick.yaml --budget 5m",
            kSelftestOptions, selftest_command},
    Command{"trace", "FILE...", 1, -1, "turn a profile into a timeline",
            "Reads what `bench analyze` reads.\n"
            "Several files (ranks, processes, machines) become one timeline on one clock. The "
            "suffix given to -o, or\n"
            "--format, selects the output:\n"
            "  .json, .json.gz  trace        Chrome trace, for ui.perfetto.dev\n"
            "  .html            html         the timeline as a page, which needs no network\n"
            "  .svg             memory_flow  time x address, one rectangle per allocation\n"
            "With --check it lists the errors of Chrome traces of any origin.",
            "bench trace result.jsonl -o result.html             # look at it in a browser\n"
            "bench trace result.jsonl -o result.json.gz          # for Perfetto\n"
            "bench trace result.jsonl -o memory.svg              # what was allocated when\n"
            "bench trace profile-rank*.jsonl -o job.html         # all ranks of a job\n"
            "bench trace --check result.json.gz",
            kTraceOptions, trace_command},
    Command{
        "profile", "-- COMMAND ARG...", 1, -1, "profile any program that uses oneDNN, NVTX or CUDA",
        "Runs COMMAND unchanged, with its own standard streams and exit status (128 + n if "
        "signal n ended it,\n"
        "127 if there is no such program). Records in FILE the primitives of oneDNN, the program's "
        "NVTX ranges and\n"
        "CUDA's work on GPUs, also from child processes and all threads. Ranges `layer:NAME` are "
        "layers; ranges of\n"
        "PyTorch's emit_nvtx are read as operators. The default FILE is profile-PID.jsonl in this "
        "folder. A static\n"
        "program runs, but only --sample sees it; a setuid program is invisible. If you set "
        "ONEDNN_VERBOSE yourself, the "
        "program prints\n"
        "oneDNN's lines as usual, and FILE contains only what that value requests. If you set "
        "NVTX_INJECTION64_PATH\n"
        "or CUDA_INJECTION64_PATH, the library that it names receives the ranges or the GPU "
        "activities, and FILE\n"
        "does not contain them.",
        "bench profile -- python3 infer.py                   # then: bench analyze "
        "profile-PID.jsonl\n"
        "bench profile --sample -- python3 infer.py          # and where the time outside oneDNN "
        "goes\n"
        "bench profile --backtrace --out p.jsonl -- ./serve --once\n"
        "bench profile --window nvtx:step --window 20-25 -- python3 train.py   # six steps\n"
        "bench profile --trace t.json.gz --sample-rate 10 -- ./serve --once    # a timeline, with "
        "its memory\n"
        "bench profile --profile=operators,device -- python3 train.py          # no calls, no "
        "memory",
        kProfileOptions, profile_command},
    Command{
        "peak", "", 0, 0, "measure this machine's ceilings and keep them",
        "Measures with loops of its own how fast this machine computes, by instruction set and "
        "data type, and how\n"
        "fast it moves data in each cache and in memory, with one thread and with all. Also "
        "measures large matrix\n"
        "products of the library, and the time of its shortest call. On an NVIDIA GPU: CUDA "
        "cores, tensor cores,\n"
        "L2 cache, memory, and the launch of an empty kernel. Stores the ceilings of the "
        "machine class in the\n"
        "folder of baselines. Later runs state for each case what limits it and how near it "
        "comes to that limit.\n"
        "Measures the most valuable ceilings first, all of them three times, and keeps the best "
        "values. Takes about\n"
        "two minutes, with a GPU some more, and ends after five minutes, or after --budget.",
        "bench peak\n"
        "bench peak --quick                      # faster and less precise\n"
        "bench peak --filter '*/dot_*'           # some ceilings again\n"
        "bench peak --device cuda                # only those of the GPU\n"
        "bench peak --baseline /srv/baselines    # another store",
        kPeakOptions, peak_command},
    Command{"import", "KIND FILE...", 2, -1, "make a configuration of another benchmark's inputs",
            "KIND says what the files are:\n"
            "{list}\n"
            "Ends with a summary: how many problems are cases now, and for each other one\n"
            "its file and line, its text and the reason. The names of the folder and the\n"
            "file say which driver of benchdnn reads it (inputs/conv/...), unless a line\n"
            "(--conv) or --driver does. Such a file also works in place of a\n"
            "configuration: `bench run inputs/conv/shapes_alexnet`. docs/import.md\n"
            "describes what is read.",
            "bench import benchdnn inputs/conv/shapes_resnet_50 -o resnet.yaml\n"
            "bench import profile net.jsonl -o net.yaml    # after bench profile -o net.jsonl\n"
            "bench import benchdnn my_products --driver matmul -o products.yaml\n"
            "bench import tritonbench BertForMaskedLM_training.txt -o bert.yaml\n"
            "bench import onnx resnet50.onnx --dimension batch=8 -o resnet50.yaml\n"
            "bench import benchdnn inputs/ip/* -o ip.yaml --json    # the summary as JSON",
            kImportOptions, import_command, Visibility::shown, words_of<import_kind_names>,
            list_import_kinds},
    Command{
        "doctor", "", 0, 0, "what this machine offers and lacks",
        "Shows libraries with versions and paths, the CPU, and what makes measurements noisy "
        "here, each with its\n"
        "consequence and remedy. Observes the machine for 10 s with 5 short processes: at which "
        "speeds it runs,\n"
        "what slows it down, and how precisely two runs can be compared here. Takes about 12 s, "
        "changes nothing,\n"
        "exits with 0.",
        "bench doctor\n"
        "bench doctor --watch 0s      # without observing the machine",
        kDoctorOptions, doctor_command},
    Command{"man", "", 0, 0, "print the manual: every command with its options and examples",
            "A checkout has no page for man(1); an installation also has `man "
            "bench`.",
            "bench man | less", "", man_command},
    Command{"completion", "SHELL", 1, 1, "print completion for bash or zsh", "",
            "bench completion bash > /etc/bash_completion.d/bench\n"
            "source <(bench completion zsh)",
            "", completion_command, Visibility::shown, words_of<completion_shells>},
    Command{"worker", "[CASE|BACKEND...]", 0, -1, "serve a coordinator (docs/worker_protocol.md)",
            "", "", kWorkerOptions, worker_command, Visibility::hidden},
    Command{"manual", "", 0, 0, "print the man page", "", "", "", manual_command,
            Visibility::hidden},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::vector<const Option*> options_of(const Command& command) {
  std::vector<const Option*> options;
  std::string_view names = command.options;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    options.push_back(find_option(names.substr(0, end)));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return options;
}

std::string describe(const Command& command) {
  std::string text(command.description);
  if (command.list == nullptr) return text;
  return text.replace(text.find(kListPlace), kListPlace.size(), command.list());
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::vector<const Command*> shown_commands() {
  std::vector<const Command*> shown;
  for (const Command& command : kCommands) {
    if (command.visibility == Visibility::shown) shown.push_back(&command);
  }
  return shown;
}

}  // namespace bench
