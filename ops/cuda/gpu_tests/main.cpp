// SPDX-License-Identifier: Apache-2.0
// bench_gpu_test FIGURES.jsonl [--session FILE] [--counters|--graph-level]: what only a device can
// tell, see ci/gpu_check.sh. Status: 0 all checks passed, 1 some failed, 77 there is no device.
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/plugin/backends.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/cuda_runtime.hpp"
#include "ops/cuda/runtime/nvml_conditions.hpp"
#include "ops/cuda/runtime/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr int kSkipped = 77;
constexpr const char *kCounters = "--counters", *kGraphLevel = "--graph-level";

enum class Part { timed_and_traced, counted, graph_level };

struct Arguments {
  std::string figures, session;
  Part part = Part::timed_and_traced;
};

std::optional<Arguments> arguments_of(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == kCounters) {
      arguments.part = Part::counted;
    } else if (word == kGraphLevel) {
      arguments.part = Part::graph_level;
    } else if (word == "--session" && i + 1 < count) {
      arguments.session = words[++i];
    } else if (!word.starts_with("-") && arguments.figures.empty()) {
      arguments.figures = word;
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

// As the plugin's, which lies beside this program in a build, and in lib/bench/ of a bundle.
std::vector<SearchStep> search_path() {
  auto steps = library_search_path(process_variable, own_folder());
  const auto loader = std::find_if(steps.begin(), steps.end(),
                                   [](const SearchStep& step) { return step.folder.empty(); });
  steps.insert(loader, {own_folder() + "/../lib/bench", "beside the plugin"});
  return steps;
}

Result<DeviceParts, Refusal> open_device(const std::vector<SearchStep>& search) {
  BENCH_ASSIGN_OR_RETURN(std::shared_ptr<Runtime> runtime, make_cuda_runtime());
  auto sampler =
      Sampler::create(runtime, watch_by_nvml(search, runtime->traits().bus_id,
                                             [clock = runtime.get()] { return clock->now(); }));
  if (!sampler) return Refusal{Refusal::Kind::failed, sampler.error().message()};
  return DeviceParts{std::move(runtime), *std::move(sampler)};
}

// A driver that never answers must not cost the other checks.
constexpr unsigned kMostSecondsOfAPart = 45;

// This program once more: a profiler that was attached stays so until its process ends. Absent: it
// was cut off.
std::optional<int> run_apart(const char* part, const std::string& figures) {
  // By its whole path: own_folder() has it from the name that a program is started by.
  std::error_code failed;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSecondsOfAPart);
    execl(self.c_str(), self.c_str(), figures.c_str(), part, nullptr);
    _exit(EXIT_FAILURE);
  }
  int status = 0;
  const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  return ended ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

// All parts but this one's. Status: as of a program.
int run_other_parts(const std::string& figures) {
  int failed = EXIT_SUCCESS;
  for (const char* part : {kCounters, kGraphLevel}) {
    const auto status = run_apart(part, figures);
    if (status == EXIT_SUCCESS) continue;
    failed = EXIT_FAILURE;
    if (status) continue;  // it says itself what failed
    CheckReport(figures).broken(
        part, part == kCounters ? "f" : "d",
        fmt::format("cut off by a signal, or after {} s", kMostSecondsOfAPart));
  }
  return failed;
}

int run_checks(const Arguments& arguments) {
  const auto search = search_path();
  if (const auto reason = why_no_device(process_variable)) {
    std::puts(fmt::format("skipped: {}", *reason).c_str());
    return kSkipped;
  }
  // The file is begun anew, and the other parts come before this process has CUDA.
  const bool first = arguments.part == Part::timed_and_traced;
  if (first && !arguments.figures.empty()) std::remove(arguments.figures.c_str());
  const int apart = first && !arguments.figures.empty() ? run_other_parts(arguments.figures) : 0;
  auto device = open_device(search);
  if (!device) {
    std::puts(fmt::format("FAILED   {}", device.error().reason).c_str());
    return EXIT_FAILURE;
  }
  CheckReport report(arguments.figures);
  CheckRun run{*device, search, report, arguments.session, {}, {}, {}};
  if (first) {
    for (const auto check :
         {check_memory, check_blocking, check_sampling, check_ceilings, check_tracing}) {
      check(run);
    }
  } else if (arguments.part == Part::counted) {
    check_counters(run);
  } else {
    check_graph_level(run);
  }
  std::puts(report.summary().c_str());
  return report.failures() == 0 && apart == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace bench::ops::cuda

int main(int count, char** words) {
  const auto arguments = bench::ops::cuda::arguments_of(count, words);
  if (!arguments) {
    std::fputs(
        "usage: bench_gpu_test [FIGURES.jsonl] [--session FILE] [--counters|--graph-level]\n",
        stderr);
    return 2;
  }
  return bench::ops::cuda::run_checks(*arguments);
}
