// SPDX-License-Identifier: Apache-2.0
// table: one row a command
#include "harness/cli/command.hpp"

#include <array>

namespace bench {
namespace {

constexpr std::array<std::string_view, 14> kRunOptions = {
    "out",    "filter", "device",  "set",     "budget", "quick", "shard",
    "resume", "seed",   "require", "dry-run", "json",   "quiet", "force"};
constexpr std::array<std::string_view, 6> kListOptions = {"filter", "device", "set",
                                                          "shard",  "json",   "quiet"};
constexpr std::array<std::string_view, 3> kValidateOptions = {"set", "json", "quiet"};
constexpr std::array<std::string_view, 2> kExplainOptions = {"json", "set"};
constexpr std::array<std::string_view, 3> kReportOptions = {"out", "format", "force"};
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
            "bench run configs/gemm.yaml --set threads=1 --quick --out gemm.jsonl",
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
    Command{"report", "RESULT...", 1, -1, "turn result files into a report",
            "Several files (shards, a run and its continuation) become one report. The format "
            "follows the suffix of\n"
            "FILE, or --format; without FILE the report goes to standard output.",
            "bench report results.jsonl                          # the table again\n"
            "bench report shard-*.jsonl -o all.json",
            kReportOptions, report_command},
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
