// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/plan_arguments.hpp"

#include "base/file.hpp"
#include "base/json_reader.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/import/kind.hpp"
#include "harness/import/receipt.hpp"
#include "harness/result/record.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/plugin_workers.hpp"
#include "harness/run/run.hpp"
#include "harness/run/schedule.hpp"
#include "harness/wire/slowdown.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

namespace bench {
namespace {

// Maximum size of a file in bytes, the same as the YAML parser's limit. It prevents reading a wrong
// file (a core dump, a device) completely.
constexpr std::int64_t kMaxFileBytes = 8'000'000;

// Returns the file names of a folder, for spelling hints. Empty if the folder cannot be read.
std::vector<std::string> list_file_names(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code))
    names.push_back(entry.path().filename().string());
  return names;
}

// Longer command lines are not repeated.
constexpr std::size_t kMaxCommandLine = 400;

// Returns the command line with the example instead of the wrong argument.
std::string replace_argument(const Arguments& arguments, const Diagnostic& diagnostic) {
  std::vector<std::string> words = arguments.command_line;
  std::ranges::replace(words, diagnostic.place.file, diagnostic.example);
  std::string line = shell_command(arguments.program, words);
  if (line.size() <= kMaxCommandLine) return line;
  return fmt::format("{} {} {}", arguments.program, arguments.command_line.front(),
                     shell_quoted(diagnostic.example));
}

// Converts a file of another benchmark to a configuration. Returns nullopt for a configuration.
// Adds what the text lacks to `remarks`.
std::optional<Result<ConvertedConfig>> convert_import(const std::string& path,
                                                      std::string_view text,
                                                      std::vector<std::string>& remarks) {
  const ImportKind* kind = recognise_import(path, text);
  if (kind == nullptr) return std::nullopt;
  auto output =
      import_files(*kind, {.files = {{path, std::string(text)}}, .read = read_included_file});
  if (!output.ok()) return std::move(output).error();
  const Imported& found = output->found;
  const std::string how =
      fmt::format("`bench import {} {} -o FILE.yaml` lists them", kind->name, shell_quoted(path));
  if (found.cases.empty()) {
    const std::string reason = found.refused.empty() ? "" : ": " + found.refused.front().reason;
    return Error{fmt::format("none of its {} is a case{}",
                             pluralise(found.refused_count(), kind->noun), reason),
                 path, how};
  }
  ConvertedConfig converted{.text = std::move(output->text), .origins = {}};
  for (const auto& origin : output->origins) {
    converted.origins.push_back(origin ? Place{found.files[origin->file], origin->line, 0}
                                       : Place{});
  }
  if (found.refused_count() > 0)
    remarks.push_back(fmt::format("{}: {}, {} cannot be expressed; {}", path,
                                  receipt_sentence(*kind, found), found.refused_count(), how));
  return converted;
}

}  // namespace

Result<std::string> read_included_file(const std::string& path) {
  return read_file(path, kMaxFileBytes, OpenDescriptors::refuse);
}

Result<std::string> read_named_file(const std::string& path) {
  return read_file(path == "-" ? "/dev/stdin" : path, kMaxFileBytes, OpenDescriptors::read);
}

std::vector<std::string> quick_overrides() {
  return {"measure.processes=2", "measure.max_time=200ms", "measure.precision=5%",
          "measure.min_iterations=5", "warmup.time=20ms"};
}

std::vector<std::string> network_folders(const std::string& program_path) {
  const std::filesystem::path program(program_path);
  const std::filesystem::path prefix = program.parent_path().parent_path();
  return {"configs/networks", (prefix / "share/bench/configs/networks").string(),
          (prefix.parent_path() / "configs/networks").string()};
}

std::vector<std::string> config_folders(const std::string& program_path) {
  std::vector<std::string> folders = network_folders(program_path);
  for (std::string& folder : folders) folder = std::filesystem::path(folder).parent_path().string();
  return folders;
}

std::string find_config(const std::string& argument, const std::vector<std::string>& folders) {
  std::filesystem::path path(argument);
  std::error_code code;
  if (path.is_absolute() || std::filesystem::exists(path, code)) return argument;
  // A bare word is the name of a configuration, unless it is that of an operator: `gemm` may mean a
  // case, so the message about it explains ids.
  const bool is_word = !path.has_extension() && !path.has_parent_path();
  if (is_word && ops::find_operator(argument) == nullptr) path += ".yaml";
  if (path.extension() != ".yaml") return argument;
  const std::filesystem::path name = path.parent_path() == "configs" ? path.filename() : path;
  for (const std::string& folder : folders) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (!name.has_parent_path() && std::filesystem::is_regular_file(file, code))
      return file.string();
  }
  return argument;
}

LoadRequest make_load_request(const Arguments& arguments) {
  LoadRequest request;
  request.config_folders = config_folders(own_path());
  for (const std::string& input : arguments.inputs)
    request.arguments.push_back(find_config(input, request.config_folders));
  request.overrides = arguments.quick ? quick_overrides() : std::vector<std::string>{};
  request.overrides.insert(request.overrides.end(), arguments.overrides.begin(),
                           arguments.overrides.end());
  request.filters = arguments.filters;
  request.devices = arguments.devices;
  request.plugins = arguments.plugins;
  request.network_folders = network_folders(own_path());
  request.read = [named = request.arguments](const std::string& path) {
    const bool is_named = std::ranges::find(named, path) != named.end();
    return is_named ? read_named_file(path) : read_included_file(path);
  };
  request.list = list_file_names;
  return request;
}

void accept_imports(LoadRequest& request, std::vector<std::string>& remarks) {
  request.convert = [&remarks](const std::string& path, std::string_view text) {
    return convert_import(path, text, remarks);
  };
}

void print_diagnostics(const std::vector<Diagnostic>& diagnostics, const Arguments& arguments,
                       Env& env) {
  const std::vector<std::string>* known = nullptr;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.example.empty()) {
      print_sentence(env, diagnostic.message());
      continue;
    }
    const std::string message =
        Error{diagnostic.what, diagnostic.place.text(), introduce_example(diagnostic.next)}
            .message();
    print_sentence(env, message + ":");
    // A command that is to be copied stays on one line.
    print_line(*env.err, "  " + replace_argument(arguments, diagnostic));
    if (!diagnostic.known.empty()) known = &diagnostic.known;
  }
  if (known == nullptr) return;
  for (const std::string& line : *known) print_sentence(env, line);
}

std::optional<Plan> plan_or_diagnose(const Arguments& arguments, Env& env) {
  if (const Status status = check_slowdown(env.variable(kSlowdownVariable)); !status) {
    print_sentence(env, status.error().message());
    return std::nullopt;
  }
  PluginWorkers workers(own_path(), env);
  LoadRequest request = make_load_request(arguments);
  request.load_plugins = [&](const std::vector<std::string>& files) {
    return workers.registry(files);
  };
  std::vector<std::string> remarks;
  accept_imports(request, remarks);
  auto plan = load_plan(request);
  workers.rest();
  if (!plan.ok()) {
    print_diagnostics(plan.error(), arguments, env);
    return std::nullopt;
  }
  if (arguments.verbosity == Verbosity::normal) {
    for (const std::string& remark : remarks) print_sentence(env, remark);
  }
  return *std::move(plan);
}

void write_case_facts(JsonWriter& writer, const Case& spec) {
  const JsonDocument facts = parse_json(to_json_line(case_facts(spec))).value();
  for (std::size_t i = 0; i < facts.root().size(); ++i) {
    const std::string_view name = facts.root().name(i);
    if (name != "outcome" && name != "flags") writer.required(name, facts.root().member(i));
  }
}

std::string own_path() {
  std::error_code code;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", code);
  return code ? std::string("bench") : path.string();
}

}  // namespace bench
