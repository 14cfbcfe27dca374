// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/run/plugin_workers.hpp"

#include <fmt/format.h>

#include <ostream>

namespace bench {
namespace {

void print_json(const std::vector<Diagnostic>& diagnostics, Env& env) {
  *env.out << json_object([&](JsonWriter& writer) {
    writer.required_list("errors", diagnostics, [](JsonWriter& row, const Diagnostic& diagnostic) {
      row.required("file", diagnostic.place.file);
      row.required("line", diagnostic.place.line);
      row.required("column", diagnostic.place.column);
      row.required("message", diagnostic.what);
      row.required("next", diagnostic.next_with_example());
    });
  }) << '\n';
}

}  // namespace

ExitStatus validate_command(const Arguments& arguments, Env& env) {
  std::vector<Diagnostic> diagnostics;
  PluginWorkers workers(own_path(), env);
  // Loads each file separately, so that an error in one file hides no error in the next.
  for (const std::string& input : arguments.inputs) {
    Arguments single = arguments;
    single.inputs = {input};
    LoadRequest request = make_load_request(single);
    request.load_plugins = [&](const std::vector<std::string>& files) {
      return workers.registry(files);
    };
    std::vector<std::string> remarks;
    accept_imports(request, remarks);
    const auto plan = load_plan(request);
    if (plan.ok()) {
      for (const std::string& remark : remarks) print_sentence(env, remark);
      const bool is_verbose =
          arguments.output == Output::text && arguments.verbosity == Verbosity::normal;
      if (is_verbose)
        *env.out << fmt::format("{}: {}\n", printable(input),
                                pluralise(plan->cases.size(), "case"));
    } else {
      diagnostics.insert(diagnostics.end(), plan.error().begin(), plan.error().end());
    }
  }
  if (arguments.output == Output::json) {
    print_json(diagnostics, env);
  } else {
    print_diagnostics(diagnostics, arguments, env);
  }
  return diagnostics.empty() ? ExitStatus::success : ExitStatus::usage;
}

}  // namespace bench
