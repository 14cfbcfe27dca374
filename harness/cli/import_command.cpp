// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/json_writer.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/profile_source.hpp"
#include "harness/config/load.hpp"
#include "harness/import/kind.hpp"
#include "harness/import/receipt.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>

namespace bench {
namespace {

// The receipt goes to standard error if the configuration goes to standard output.
std::ostream& receipt_stream(const Arguments& arguments, Env& env) {
  return *arguments.out == "/dev/stdout" ? *env.err : *env.out;
}

// The option that gives a network the data type of its model.
std::string dtype_option(const Imported& found) {
  constexpr std::string_view kDefault = "f32";
  if (!found.model || found.model->dtype == kDefault || found.model->is_measured_in_f32())
    return {};
  return " --set dtype=" + found.model->dtype;
}

std::string format_next_commands(const Arguments& arguments, const ImportKind& kind,
                                 const Imported& found) {
  const std::string suite = printable(shell_quoted(*arguments.out));
  if (kind.input != ImportInput::stream)
    return fmt::format(
        "\nNext: look at the cases, then measure them:\n  {0} list {1}\n  {0} run {1}{2}\n",
        arguments.program, suite, dtype_option(found));
  return fmt::format(
      "\nNext: look at the cases, measure them, and compare the times with the program's:\n"
      "  {0} list {1}\n  {0} run {1} --out RESULT.jsonl\n"
      "  {0} report --replay RESULT.jsonl {2}\n",
      arguments.program, suite, printable(shell_quoted(arguments.inputs[1])));
}

void print_receipt(const Arguments& arguments, const ImportKind& kind, const Imported& found,
                   std::size_t cases, Env& env) {
  std::ostream& out = receipt_stream(arguments, env);
  if (arguments.output == Output::json) {
    out << json_object([&](JsonWriter& writer) { write_receipt(writer, found, cases); }) << '\n';
  } else if (arguments.verbosity == Verbosity::normal) {
    out << format_receipt(kind, found, cases, limited_width(env).value_or(kUnlimitedWidth));
    if (cases > 0) out << format_next_commands(arguments, kind, found);
  }
}

// Returns the number of distinct cases of a configuration. Prints its errors, of which there are
// none unless a limit is exceeded.
std::optional<std::size_t> count_cases(const Arguments& arguments, const ImportOutput& output,
                                       Env& env) {
  const auto& model = output.found.model;
  LoadRequest request;
  // A network is found by its name.
  request.arguments = {model && model->network ? model->network->name + ".yaml" : *arguments.out};
  request.read = [&](const std::string&) -> Result<std::string> { return output.text; };
  const auto plan = load_plan(request);
  if (plan.ok()) return plan->cases.size();
  print_diagnostics(plan.error(), arguments, env);
  return std::nullopt;
}

// The name of a network is the stem of its file. Empty: standard output has none.
std::string output_name(const Arguments& arguments) {
  if (*arguments.out == "/dev/stdout") return {};
  return std::filesystem::path(*arguments.out).stem().string();
}

// Only files with these suffixes are read as networks.
Status check_network_suffix(const std::string& path, const Imported& found) {
  const bool is_file_of_network = found.model && found.model->network && path != "/dev/stdout";
  if (!is_file_of_network || path.ends_with(".yaml") || path.ends_with(".yml")) return Done{};
  return Error{fmt::format("{} is not the name of a network's file", quote(path)), "--out",
               "write -o NAME.yaml"};
}

Result<ImportRequest> read_request(const ImportKind& kind, const Arguments& arguments) {
  ImportRequest request{.files = {},
                        .driver = arguments.driver,
                        .dimensions = arguments.dimensions,
                        .name = output_name(arguments),
                        .read = read_included_file,
                        .open = open_profile_with_work};
  for (std::size_t i = 1; i < arguments.inputs.size(); ++i) {
    const std::string& path = arguments.inputs[i];
    std::string text;
    if (kind.input == ImportInput::text) {
      BENCH_ASSIGN_OR_RETURN(text, read_named_file(path));
    } else if (kind.input == ImportInput::bytes) {
      BENCH_ASSIGN_OR_RETURN(text, read_file(path == "-" ? "/dev/stdin" : path, kMaxImportBytes));
    }
    request.files.push_back({path, std::move(text)});
  }
  return request;
}

bool is_empty(const Imported& found) {
  return found.refused.empty() && (!found.model || found.model->nodes == 0);
}

// Says why an import has nothing to write.
Error explain_absence(const ImportKind& kind, const Imported& found) {
  if (is_empty(found))
    return {fmt::format("there is no {} in the files", kind.noun), "", std::string(kind.absent)};
  if (found.model && found.refused.empty())
    return {
        "the model only gives tensors other shapes and reads constants; no node of it is a "
        "layer, so there is no new file",
        "", "import a model that computes something"};
  return {"nothing can be expressed, so there is no new file", "", ""};
}

Result<ExitStatus> write_configuration(const Arguments& arguments, Env& env) {
  const std::string& name = arguments.inputs.front();
  const ImportKind* kind = find_import_kind(name);
  if (kind == nullptr)
    return Error{fmt::format("unknown kind {}", quote(name)), "",
                 expectation(name, import_kind_names())};
  if (!arguments.out) return Error{"no output file is given", "", "add -o FILE.yaml"};
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  BENCH_RETURN_IF_ERROR(check_output(*arguments.out, existing));
  if (!arguments.driver.empty() && kind->name != "benchdnn")
    return Error{"`--driver` names a driver of benchdnn", "",
                 "leave it out, or import benchdnn's inputs"};
  if (!arguments.dimensions.empty() && kind->input != ImportInput::bytes)
    return Error{"`--dimension` sets sizes of a model", "", "leave it out, or import a model"};
  BENCH_ASSIGN_OR_RETURN(const ImportRequest request, read_request(*kind, arguments));
  BENCH_ASSIGN_OR_RETURN(const ImportOutput output, import_files(*kind, request));
  if (!output.found.has_content()) {
    if (!is_empty(output.found)) print_receipt(arguments, *kind, output.found, 0, env);
    return explain_absence(*kind, output.found);
  }
  BENCH_RETURN_IF_ERROR(check_network_suffix(*arguments.out, output.found));
  const auto cases = count_cases(arguments, output, env);
  if (!cases) return ExitStatus::usage;
  BENCH_RETURN_IF_ERROR(write_file(*arguments.out, output.text, existing));
  print_receipt(arguments, *kind, output.found, *cases, env);
  return ExitStatus::success;
}

}  // namespace

ExitStatus import_command(const Arguments& arguments, Env& env) {
  const auto status = write_configuration(arguments, env);
  return status.ok() ? *status : fail("import", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
