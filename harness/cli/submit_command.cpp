// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/job_script.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/rough_time.hpp"
#include "harness/host/process.hpp"
#include "harness/run/shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr int kDefaultShards = 4;
// The estimate knows neither the load of the nodes nor failing cases.
constexpr int kLimitFactor = 3;
constexpr Nanoseconds kMinLimit = 10min;
// How long sbatch may take to answer.
constexpr Nanoseconds kTimeToSubmit = 2min;

// How a scheduler's job is written and submitted.
struct SchedulerRow {
  Scheduler scheduler;
  std::string_view suffix;  // end of the name of the file
  std::string_view submit;  // the command that submits the file
  std::string (*write)(const JobRequest& request);
};
constexpr std::array<SchedulerRow, 2> kSchedulerRows = {
    {{Scheduler::slurm, ".slurm.sh", "bash", slurm_script},
     {Scheduler::kubernetes, ".job.yaml", "kubectl apply -f", kubernetes_manifest}}};

// A name of a registry, a path and a tag or digest need no other characters.
bool is_image_name(const std::string& image) {
  return !image.empty() && std::ranges::all_of(image, [](char character) {
    return std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@")
               .find(character) != std::string_view::npos;
  });
}

Status check_submit_options(const Arguments& arguments) {
  const SubmitArguments& submit = arguments.submit;
  if (!submit.scheduler) {
    return Error{"needs a scheduler", "", "add --slurm, or --kubernetes with --image IMAGE"};
  }
  const bool is_kubernetes = *submit.scheduler == Scheduler::kubernetes;
  if (is_kubernetes != submit.image.has_value()) {
    return is_kubernetes
               ? Error{"needs the image that the pods run", "--kubernetes", "add --image IMAGE"}
               : Error{"belongs to --kubernetes", "--image", "omit it"};
  }
  if (submit.image && !is_image_name(*submit.image)) {
    return Error{fmt::format("{} is not the name of an image", quote(*submit.image)), "--image",
                 "for example --image registry.example/bench:0.1"};
  }
  if (is_kubernetes && submit.now)
    return Error{"submits with sbatch, so only with --slurm", "--now",
                 "omit it, and run the command that is printed"};
  const bool has_control = std::ranges::any_of(arguments.command_line, [](const std::string& word) {
    return std::ranges::any_of(word, [](unsigned char character) { return character < ' '; });
  });
  if (has_control)
    return Error{"contains a control character, which a script cannot repeat", "", "omit it"};
  return Done{};
}

// Returns the words of `bench run` that select and measure the cases, without the shard and the
// result file.
std::vector<std::string> list_run_words(const Arguments& arguments) {
  std::vector<std::string> words = arguments.inputs;
  const auto add = [&](std::string_view option, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      words.push_back(fmt::format("--{}", option));
      words.push_back(value);
    }
  };
  const auto add_optional = [&](std::string_view option, const std::optional<std::string>& value) {
    if (value) add(option, {*value});
  };
  add("set", arguments.overrides);
  add("filter", arguments.filters);
  add("device", arguments.devices);
  add("plugin", arguments.plugins);
  add_optional("baseline", arguments.baseline);
  if (arguments.quick) words.emplace_back("--quick");
  if (arguments.require_gpu) add("require", {"gpu"});
  if (arguments.seed) add("seed", {std::to_string(*arguments.seed)});
  if (arguments.budget) add("budget", {fmt::format("{}ns", arguments.budget->count())});
  return words;
}

// Returns the command line without what only this call needs.
std::string format_own_command(const Arguments& arguments) {
  return shell_command("bench", without_flag(arguments.command_line, *find_option("now")));
}

Nanoseconds choose_limit(const Arguments& arguments, const ShardDivision& division) {
  if (arguments.submit.time) return *arguments.submit.time;
  const Nanoseconds limit = std::max<Nanoseconds>(kLimitFactor * division.longest, kMinLimit);
  return std::chrono::ceil<std::chrono::minutes>(limit);
}

// Runs the script, which calls sbatch, and prints its output.
Status submit_now(const std::string& path, Env& env) {
  const ProcessRequest request{"bash", {path}, inherited_environment(), {}};
  BENCH_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::start(request));
  child.close_input();
  std::string line;
  while (child.read_line(line, kTimeToSubmit, nullptr, *env.clock) == ChildProcess::Wait::ready)
    *env.out << printable(line) << '\n';
  const ProcessEnd end = child.finish(kTimeToSubmit, *env.clock);
  if (end.exit_status == 0) return Done{};
  return Error{fmt::format("could not submit the job ({}): {}", end.text(),
                           printable(child.standard_error())),
               path, "run it where `sbatch` submits jobs"};
}

}  // namespace

ExitStatus submit_command(const Arguments& arguments, Env& env) {
  if (const Status status = check_submit_options(arguments); !status)
    return fail("submit", status.error(), ExitStatus::usage, env);
  const auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  const SchedulerRow& row =
      *std::ranges::find(kSchedulerRows, *arguments.submit.scheduler, &SchedulerRow::scheduler);
  const BaselineStore store(store_folder(arguments.baseline));
  const CaseCosts costs = estimate_costs(*plan, stored_iterations(*plan, store));
  const int shards = arguments.submit.shards.value_or(kDefaultShards);
  const ShardDivision division = divide_longest_first(costs.costs, shards);
  JobRequest request{job_name(plan->name),
                     format_own_command(arguments),
                     shards,
                     choose_limit(arguments, division),
                     list_run_words(arguments),
                     arguments.submit.image.value_or("")};
  const std::string path = arguments.out.value_or(fmt::format("{}{}", request.name, row.suffix));
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  if (const Status written = write_file(path, row.write(request), existing); !written)
    return fail("submit", written.error(), ExitStatus::usage, env);
  if (arguments.verbosity == Verbosity::normal) {
    *env.out << wrap(
        fmt::format("Wrote {}: {} in {}, which take about {} each at most, {} in "
                    "total; each ends after {} at the latest.",
                    path, pluralise(plan->cases.size(), "case"), pluralise(shards, "shard"),
                    format_rough_time(division.longest), format_rough_time(division.total),
                    format_rough_time(request.limit)),
        console_options(env).width, 0);
  }
  if (arguments.submit.now) {
    const Status submitted = submit_now(path, env);
    return submitted ? ExitStatus::success
                     : fail("submit", submitted.error(), ExitStatus::not_measured, env);
  }
  if (arguments.verbosity == Verbosity::normal)
    *env.out << fmt::format("\nNext: submit it:\n  {} {}\n", row.submit, shell_quoted(path));
  return ExitStatus::success;
}

}  // namespace bench
