// SPDX-License-Identifier: Apache-2.0
// bench_gpu_test [FIGURES.jsonl] [--session FILE] [--only PART,...]: runs the checks that need a
// device; see ci/gpu_check.sh. Appends figures as soon as they are available. Exit status: 0 if all
// checks passed or were cut, 1 if some failed, 77 if there is no device.
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/plugin/backends.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/cuda_runtime.hpp"
#include "ops/cuda/runtime/nvml_conditions.hpp"
#include "ops/cuda/runtime/sampler.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr int kSkipped = 77;
constexpr const char* kPartOption = "--part";

// The parts. Each runs in a new process, because a context affects a tracer that starts later, and
// a tracer affects all later work.
constexpr CheckPart kParts[] = {
    {"memory", nullptr, check_memory},          {"blocking", nullptr, check_blocking},
    {"sampling", nullptr, check_sampling},      {"long_graph", nullptr, check_long_graph},
    {"tracing", start_tracer, check_tracing},   {"late_tracing", nullptr, check_late_tracing},
    {"counters", nullptr, check_counters},      {"cold", nullptr, check_cold},
    {"verdicts", nullptr, check_verdicts},      {"ceilings", nullptr, check_ceilings},
    {"graph_level", nullptr, check_graph_level}};

struct Arguments {
  std::string figures, session;
  std::vector<const CheckPart*> parts;         // empty: all
  const CheckPart* in_this_process = nullptr;  // the only part to run
};

const CheckPart* find_part(std::string_view name) {
  const auto parts = check_parts();
  const auto found = std::ranges::find(parts, name, &CheckPart::name);
  return found == parts.end() ? nullptr : &*found;
}

std::optional<Arguments> parse_arguments(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--session" && has_value) {
      arguments.session = words[++i];
    } else if (word == kPartOption && has_value) {
      arguments.in_this_process = find_part(words[++i]);
      if (arguments.in_this_process == nullptr) return std::nullopt;
    } else if (word == "--only" && has_value) {
      std::istringstream names(words[++i]);
      for (std::string name; std::getline(names, name, ',');) {
        arguments.parts.push_back(find_part(name));
        if (arguments.parts.back() == nullptr) return std::nullopt;
      }
    } else if (!word.starts_with("-") && arguments.figures.empty()) {
      arguments.figures = word;
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

// Returns the plugin's search path. The plugin is in this program's folder in a build, and in
// lib/bench/ of a bundle.
std::vector<SearchStep> search_path() {
  auto steps = library_search_path(process_variable, own_folder());
  const auto loader = std::find_if(steps.begin(), steps.end(),
                                   [](const SearchStep& step) { return step.folder.empty(); });
  steps.insert(loader, {own_folder() + "/../lib/bench", "beside the plugin"});
  return steps;
}

Result<DeviceParts, BackendError> open_device(const std::vector<SearchStep>& search) {
  BENCH_ASSIGN_OR_RETURN(std::shared_ptr<Runtime> runtime, make_cuda_runtime());
  auto sampler =
      Sampler::create(runtime, watch_by_nvml(search, runtime->traits().bus_id,
                                             [clock = runtime.get()] { return clock->now(); }));
  if (!sampler) return BackendError{BackendError::Kind::failed, sampler.error().message()};
  return DeviceParts{std::move(runtime), *std::move(sampler)};
}

// Time limit of a part, so that a driver that never returns does not block the other parts.
constexpr unsigned kMaxPartSeconds = 90;

// Runs one part in a child process that executes this program again. Returns the exit status.
int run_in_child(const Arguments& arguments, const CheckPart& part) {
  // The child needs the full path, because own_folder() derives the folder from the name with which
  // the program was started.
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string name(part.name);
  std::vector<const char*> words = {self.c_str(), kPartOption, name.c_str()};
  if (!arguments.figures.empty()) words.push_back(arguments.figures.c_str());
  if (!arguments.session.empty()) {
    words.insert(words.end(), {"--session", arguments.session.c_str()});
  }
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMaxPartSeconds);
    execv(self.c_str(), const_cast<char**>(words.data()));
    _exit(EXIT_FAILURE);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return EXIT_FAILURE;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  CheckReport report(arguments.figures);
  if (WTERMSIG(status) == SIGALRM) {
    report.add(name, "", Outcome::cut,
               {{"reason", fmt::format("not done after {} s", kMaxPartSeconds)}});
    return EXIT_SUCCESS;
  }
  report.add_error(name, "", fmt::format("ended by signal {}", WTERMSIG(status)));
  return EXIT_FAILURE;
}

int run_part(const Arguments& arguments, const CheckPart& part) {
  CheckReport report(arguments.figures);
  CheckRun run{search_path(), report, arguments.figures, arguments.session};
  if (part.before_context != nullptr) part.before_context(run);
  auto device = open_device(run.search);
  if (!device) {
    report.add_error(part.name, "", device.error().reason);
    return EXIT_FAILURE;
  }
  run.device = *std::move(device);
  part.check(run);
  return report.failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Runs one part in this process, or all requested parts in child processes. This process creates no
// context before, because parts that trace must start before the context exists.
int run_checks(const Arguments& arguments) {
  if (const auto reason = why_no_device(process_variable)) {
    std::puts(fmt::format("skipped: {}", *reason).c_str());
    return kSkipped;
  }
  if (arguments.in_this_process != nullptr) return run_part(arguments, *arguments.in_this_process);
  std::vector<const CheckPart*> parts = arguments.parts;
  if (parts.empty()) {
    for (const CheckPart& part : check_parts()) parts.push_back(&part);
  }
  int failed = 0;
  for (const CheckPart* part : parts) {
    if (run_in_child(arguments, *part) != EXIT_SUCCESS) ++failed;
  }
  std::puts(
      fmt::format("{} of {} parts without a failure", std::ssize(parts) - failed, parts.size())
          .c_str());
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

std::span<const CheckPart> check_parts() { return kParts; }

}  // namespace bench::ops::cuda

int main(int count, char** words) {
  const auto arguments = bench::ops::cuda::parse_arguments(count, words);
  if (!arguments) {
    std::fputs("usage: bench_gpu_test [FIGURES.jsonl] [--session FILE] [--only PART,...]\nparts:",
               stderr);
    for (const auto& part : bench::ops::cuda::check_parts()) {
      std::fprintf(stderr, " %s", std::string(part.name).c_str());
    }
    std::fputs("\n", stderr);
    return 2;
  }
  return bench::ops::cuda::run_checks(*arguments);
}
