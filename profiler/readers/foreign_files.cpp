// SPDX-License-Identifier: Apache-2.0
// table: one row per format of another profiler
#include "profiler/readers/foreign_files.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

bool head_contains(std::string_view head, std::string_view part) {
  return head.find(part) != std::string_view::npos;
}

// The first character that is not blank.
char first_character(std::string_view head) {
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : head[at];
}

bool is_json(std::string_view head) {
  const char first = first_character(head);
  return first == '{' || first == '[';
}

constexpr std::array kForeignFiles = {
    ForeignFile{"a Chrome trace, which lacks what a profile contains",
                "`bench trace --check FILE` checks it, and a browser shows it; to analyze the "
                "program, record it with `bench profile -- PROGRAM`",
                [](std::string_view head) {
                  return is_json(head) &&
                         (head_contains(head, "\"traceEvents\"") || head_contains(head, "\"ph\""));
                }},
    ForeignFile{"a table of torch.profiler, which has sums only",
                "to analyze the program, let `bench analyze` read the trace that "
                "`prof.export_chrome_trace(\"trace.json\")` writes, or record it with `bench "
                "profile -- PROGRAM`",
                [](std::string_view head) {
                  return head_contains(head, "CPU total") && head_contains(head, "CPU time avg");
                }},
    ForeignFile{
        "a table of MXNet's profiler, which has sums only",
        "record the program with `bench profile -- PROGRAM`; `bench analyze FILE --summary` "
        "then prints such tables (docs/coming_from.md)",
        [](std::string_view head) {
          return head_contains(head, "Profile Statistics:") && head_contains(head, "Total Count");
        }},
    ForeignFile{"output of benchdnn, which has no profile",
                "`bench run FILE` measures the problems of its input; `bench import profile LOG -o "
                "CONFIG` takes them from a log of `ONEDNN_VERBOSE=1` (docs/coming_from.md)",
                [](std::string_view head) {
                  return head_contains(head, "Output template: perf,") ||
                         (head_contains(head, "tests:") && head_contains(head, "unimplemented:"));
                }},
    ForeignFile{"a log of MKL",
                "record the program with `bench profile --sample -- PROGRAM`, which "
                "shows the time in MKL's functions",
                [](std::string_view head) { return head_contains(head, "MKL_VERBOSE "); }},
    ForeignFile{"a summary of nvprof or Nsight Systems, which has sums only",
                "write the trace of the GPU: `nvprof --csv --print-gpu-trace PROGRAM` or `nsys "
                "stats -r cuda_gpu_trace -f csv FILE`; or record the program with `bench profile "
                "-- PROGRAM`",
                [](std::string_view head) {
                  return head_contains(head, "GPU activities:") ||
                         (head_contains(head, "Total Time") && head_contains(head, "Instances"));
                }},
    ForeignFile{"a profile of MegEngine's GraphProfiler",
                "MegEngine's profile_analyze reads it; to analyze the program here, record it with "
                "`bench profile -- PROGRAM`",
                [](std::string_view head) {
                  return is_json(head) && (head_contains(head, "\"graph_exec\"") ||
                                           head_contains(head, "\"opr_footprint\""));
                }},
};

}  // namespace

const ForeignFile* find_foreign_file(std::string_view head) {
  const auto* found = std::ranges::find_if(
      kForeignFiles, [&](const ForeignFile& file) { return file.recognises(head); });
  return found == kForeignFiles.end() ? nullptr : found;
}

}  // namespace bench
