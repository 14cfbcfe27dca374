// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"
#include "base/printable.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/explain_sections.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/stored_ceilings.hpp"
#include "harness/host/gpu_description.hpp"
#include "harness/result/report.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/probe.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view kRoleNames[] = {"input", "weights", "output"};

// A network has hundreds of parameter tensors; those in the middle are of little interest.
constexpr std::size_t kMaxTensors = 12;
constexpr std::size_t kMinNameWidth = 18;

std::string tensor_line(const ops::Tensor& tensor, std::size_t name_width) {
  return fmt::format("  {:<{}} {:<8} {:<5} {:<20} {}\n", tensor.name, name_width,
                     kRoleNames[static_cast<std::size_t>(tensor.role)], info(tensor.dtype).name,
                     fmt::format("{}", fmt::join(tensor.dims, "x")), format_bytes(tensor.size()));
}

std::string format_tensors(std::span<const ops::Tensor> tensors) {
  std::size_t name_width = kMinNameWidth;
  for (const ops::Tensor& tensor : tensors) name_width = std::max(name_width, tensor.name.size());
  std::string text = "tensors\n";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool hidden =
        tensors.size() > kMaxTensors && i >= kMaxTensors / 2 && i + 2 < tensors.size();
    if (!hidden) text += tensor_line(tensors[i], name_width);
    if (hidden && i == kMaxTensors / 2)
      text += fmt::format("  ... {} more\n", tensors.size() - kMaxTensors / 2 - 2);
  }
  return text;
}

// Derives the formulas, because a plan's problems have none. Empty for a network.
std::vector<ops::Formula> derive_formulas(const Case& spec) {
  const auto* problem = std::get_if<ops::Problem>(&spec.work);
  if (problem == nullptr) return {};
  auto again = ops::make_problem({.op = problem->op,
                                  .direction = problem->direction,
                                  .dtype = problem->dtype,
                                  .layout = problem->layout,
                                  .math = problem->math,
                                  .parameters = problem->parameters,
                                  .post_ops = problem->post_ops});
  return again.ok() ? std::move(again->formulas) : std::vector<ops::Formula>{};
}

std::string format_formulas(const Case& spec) {
  const std::vector<ops::Formula> formulas = derive_formulas(spec);
  if (formulas.empty()) return "";
  std::string text = "formulas (convention bench-1)\n";
  for (const ops::Formula& formula : formulas) {
    text += fmt::format("  {} = {}\n  {:<{}} = {}\n  {:<{}} = {}\n", formula.name,
                        formula.expression, "", formula.name.size(), formula.values, "",
                        formula.name.size(), formula.result);
  }
  return text;
}

std::string format_work(const ops::Work& work) {
  std::string text = "work\n";
  if (work.macs)
    text += fmt::format("  MACs         {:<16} {}\n", *work.macs, format_count(*work.macs));
  text += fmt::format("  FLOPs        {:<16} {}, without padded taps {}\n", work.flops,
                      format_count(work.flops), work.flops_valid);
  if (work.sfu_ops != 0)
    text += fmt::format("  special      {:<16} exp, tanh, erf, ...\n", work.sfu_ops);
  const std::int64_t traffic = work.traffic().count;
  text += fmt::format("  bytes        {:<16} {}: {} read, {} written\n", traffic,
                      format_bytes(work.traffic()), work.bytes_read, work.bytes_written);
  if (traffic > 0) {
    text += fmt::format("  intensity    {:.2f} FLOP/byte\n",
                        static_cast<double>(work.flops) / static_cast<double>(traffic));
  }
  return text;
}

std::string format_prepared(const PreparedReply& prepared) {
  std::string text = fmt::format("  implementation  {}\n", prepared.implementation);
  // For networks, lists only tensors that are not parameters.
  for (const BufferInfo& buffer : prepared.buffers) {
    if (prepared.buffers.size() > kMaxTensors && buffer.role == "weights") continue;
    text += fmt::format("  layout          {:<18} {:<14} {}\n", buffer.name, buffer.layout,
                        format_bytes(buffer.size));
  }
  const PreparationTimes& times = prepared.preparation;
  const auto time_of = [](const std::optional<Nanoseconds>& time) {
    return format_or_unknown(time, format_time);
  };
  text += fmt::format("  once            create {}, again {}; reorders {}; first run {}\n",
                      time_of(times.create), time_of(times.create_hit), time_of(times.reorder),
                      time_of(times.first_run));
  text += fmt::format("  memory          peak {}, weights {}, workspace {}\n",
                      format_bytes(prepared.memory.peak), format_bytes(prepared.memory.weights),
                      format_bytes(prepared.memory.workspace));
  return text;
}

// The steps that a network executes, in order. Empty for a single operator, which the lines above
// describe completely.
std::string format_steps(const PreparedReply& prepared) {
  if (prepared.steps.size() < 2) return "";
  std::string text = "\nsteps\n";
  for (const ops::KernelStep& step : prepared.steps) {
    text += fmt::format("  {:<24} {:<12} {:<26} {}\n", step.node, step.kind, step.implementation,
                        step.layouts);
  }
  return text;
}

// Maximum number of reasons: for networks the first ones suffice, because they repeat.
constexpr std::size_t kMaxReasons = 16;

std::string format_dispatch_reasons(const std::vector<DispatchReason>& reasons) {
  if (reasons.empty()) return "";
  std::string text = "\nnot taken\n";
  for (const DispatchReason& reason :
       std::span(reasons).first(std::min(reasons.size(), kMaxReasons))) {
    text += fmt::format("  {:<24} {:<26} {}  ({})\n", reason.primitive,
                        reason.implementation.empty() ? kUnknown : reason.implementation,
                        reason.message, reason.location);
  }
  if (reasons.size() > kMaxReasons) {
    text += fmt::format("  ... {} more; --json has all\n", reasons.size() - kMaxReasons);
  }
  return text;
}

void write_reason(JsonWriter& writer, const DispatchReason& reason) {
  writer.required("primitive", reason.primitive);
  writer.optional("implementation", reason.implementation);
  writer.required("reason", reason.message);
  writer.required("location", reason.location);
}

std::string format_probe(const Result<PreparedCase>& probe) {
  if (!probe.ok())
    return fmt::format("here\n  no worker could be started: {}\n", probe.error().message());
  const ops::LibraryInfo& library = probe->library;  // without a name if no worker was asked
  std::string text = library.name.empty()
                         ? "here\n"
                         : fmt::format("here, with {} {}\n", library.name, library.version);
  if (probe->refused) {
    return text +
           fmt::format("  {}: {}\n", to_string(probe->refused->outcome), probe->refused->reason);
  }
  return text + format_prepared(*probe->prepared) + format_steps(*probe->prepared);
}

std::string reproduction(const Case& spec, const Plan& plan, const Arguments& arguments) {
  std::string line = fmt::format("{} run {}", arguments.program, shell_quoted(spec.id));
  for (const std::string& plugin : plan.plugins)
    line += fmt::format(" --plugin {}", shell_quoted(plugin));
  return line;
}

// A GPU that is not in this machine, and what its libraries would run.
struct There {
  GpuDescription gpu;
  Result<CudaSupport> support;
};

// The id of the same case on a GPU.
std::string id_on_gpu(const Case& spec) {
  CaseKey key = spec.key;
  if (key.device != "cuda") {
    key.device = "cuda";
    key.backend = ops::built_in_operators().default_backend(key.device, key.op);
  }
  return to_id(key);
}

// Returns nullopt if no GPU was described. For a network, explain each layer separately.
std::optional<There> look_there(const Case& spec, const Arguments& arguments, Env& env) {
  if (!arguments.gpu || !std::holds_alternative<ops::Problem>(spec.work)) return std::nullopt;
  auto gpu = read_gpu_description(*arguments.gpu);
  if (!gpu) return std::nullopt;  // not expected: it was read when the command line was parsed
  const std::string id = id_on_gpu(spec);
  auto supports = ask_cuda_support(own_path(), {{id}, *arguments.gpu}, env);
  if (!supports) return There{*std::move(gpu), supports.error()};
  return There{*std::move(gpu), supports->at(id)};
}

std::string format_remote_result(const There& there) {
  std::string text = fmt::format("there, on {}\n", there.gpu.name);
  if (!there.support) return text + fmt::format("  n/a: {}\n\n", there.support.error().message());
  const CudaSupport& support = *there.support;
  const bool runs = support.runs == "yes";
  text += fmt::format("  {}{}{}{}\n", runs ? "" : fmt::format("{}: ", support.runs), support.by,
                      support.by.empty() || support.reason.empty() ? "" : ": ", support.reason);
  for (const std::string& engine : support.engines) text += fmt::format("  {}\n", engine);
  return text + "\n";
}

void write_there(JsonWriter& writer, const There& there) {
  writer.required("gpu", there.gpu.name);
  writer.required("arch", there.gpu.architecture);
  if (!there.support) {
    writer.required("reason", there.support.error().message());
    return;
  }
  writer.required("runs", there.support->runs);
  writer.required("by", there.support->by);
  writer.required("reason", there.support->reason);
  writer.required("engines", there.support->engines);
}

// The result of preparing the case on this machine.
struct Here {
  Result<PreparedCase> probe;
  std::vector<DispatchReason> not_taken;
  std::string reproduction;
  std::optional<Roofline> ideal = std::nullopt;
};

Here look_here(const Case& spec, const Plan& plan, const Arguments& arguments, Env& env) {
  ProbeOptions options;
  options.plugins = plan.plugins;
  options.worker_program = own_path();
  Here here{probe_case(spec, options, env), {}, reproduction(spec, plan, arguments)};
  const auto memory = here.probe.ok() && here.probe->prepared
                          ? std::optional(here.probe->prepared->memory)
                          : std::nullopt;
  here.ideal = compute_ideal(spec, memory, ceilings_for(spec, env));
  if (!here.probe.ok() || here.probe->library.name.empty()) return here;
  if (auto reasons = dispatch_reasons(spec, options, env)) here.not_taken = std::move(*reasons);
  return here;
}

void write_tensor(JsonWriter& writer, const ops::Tensor& tensor) {
  writer.required("name", tensor.name);
  writer.required("role", kRoleNames[static_cast<std::size_t>(tensor.role)]);
  writer.required("dtype", info(tensor.dtype).name);
  writer.required("dims", tensor.dims);
  writer.required("size_bytes", tensor.size());
}

void write_prepared(JsonWriter& writer, const PreparedReply& prepared) {
  writer.required("implementation", prepared.implementation);
  writer.required_list("buffers", prepared.buffers, [](JsonWriter& row, const BufferInfo& buffer) {
    row.required("name", buffer.name);
    row.required("role", buffer.role);
    row.required("layout", buffer.layout);
    row.required("size_bytes", buffer.size);
  });
  for (const PreparationTime& row : kPreparationTimes) {
    writer.optional(row.name, prepared.preparation.*row.time);
  }
  writer.required_object("memory", [&](JsonWriter& memory) {
    memory.required("peak_bytes", prepared.memory.peak);
    memory.required("weights_bytes", prepared.memory.weights);
    memory.required("workspace_bytes", prepared.memory.workspace);
  });
}

void write_here(JsonWriter& writer, const Here& here) {
  const Result<PreparedCase>& probe = here.probe;
  if (probe.ok() && probe->refused) {
    writer.required("outcome", to_string(probe->refused->outcome));
    writer.required("reason", probe->refused->reason);
  } else if (probe.ok() && probe->prepared) {
    write_prepared(writer, *probe->prepared);
  }
  writer.list("not_taken", here.not_taken, write_reason);
}

// A case, and what was found out about it.
struct Explanation {
  const Case& spec;
  Here here;
  std::optional<There> there;
};

// The case record of the result file (the plan's facts) without what only a run decides, with the
// additions of `explain`.
void write_explanation(JsonWriter& writer, const Explanation& explanation,
                       const std::optional<ops::Platform>& platform) {
  const auto& [spec, here, there] = explanation;
  const JsonDocument facts = parse_json(to_json_line(case_facts(spec))).value();
  for (std::size_t i = 0; i < facts.root().size(); ++i) {
    const std::string_view name = facts.root().name(i);
    if (name != "outcome" && name != "flags") writer.required(name, facts.root().member(i));
  }
  if (const auto tensors = case_tensors(spec); !tensors.empty())
    writer.required_list("tensors", tensors, write_tensor);
  writer.list("formulas", derive_formulas(spec), [](JsonWriter& row, const ops::Formula& formula) {
    row.required("name", formula.name);
    row.required("expression", formula.expression);
    row.required("values", formula.values);
    row.required("result", formula.result);
  });
  if (platform) {
    writer.required_object("tensor_cores", [&, &work = spec](JsonWriter& section) {
      write_tensor_cores(section, work, *platform);
    });
  }
  writer.group("there", there, write_there);
  if (here.ideal) {
    writer.required("ideal_ns", here.ideal->ideal);
    writer.required("bound", bound_names()[static_cast<std::size_t>(here.ideal->bound)]);
  }
  writer.required("reproduce", here.reproduction);
  writer.object("here", [&found = here](JsonWriter& section) { write_here(section, found); });
}

// Everything except the id and the command, which are for copying and never fold.
std::string format_explanation(const Case& spec, const Here& here,
                               const std::optional<There>& there,
                               const std::optional<ops::Platform>& platform) {
  const std::string tensor_cores = (platform ? format_tensor_cores(spec, *platform) + "\n" : "") +
                                   (there ? format_remote_result(*there) : "");
  return fmt::format("{}\n{}\n{}\n{}{}{}{}\n", format_tensors(case_tensors(spec)),
                     format_formulas(spec), format_work(case_work(spec)), tensor_cores,
                     here.ideal ? format_ideal(*here.ideal) : "", format_probe(here.probe),
                     format_dispatch_reasons(here.not_taken));
}

// The name was checked when the command line was parsed.
std::optional<ops::Platform> find_platform(const Arguments& arguments) {
  if (!arguments.architecture) return std::nullopt;
  return ops::parse_platform(*arguments.architecture).value();
}

}  // namespace

ExitStatus explain_command(const Arguments& arguments, Env& env) {
  const auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  const auto platform = find_platform(arguments);
  std::vector<Explanation> explanations;
  for (const Case& spec : plan->cases) {
    Explanation found{spec, look_here(spec, *plan, arguments, env),
                      look_there(spec, arguments, env)};
    if (arguments.output == Output::json) {
      explanations.push_back(std::move(found));
      continue;
    }
    const std::string text =
        shown_lines(format_explanation(spec, found.here, found.there, platform), env);
    *env.out << fmt::format("case  {}\n\n{}reproduce\n  {}\n", printable(spec.id), text,
                            printable(found.here.reproduction));
  }
  if (arguments.output == Output::json) {
    *env.out << printed_json([&](JsonWriter& writer) {
      writer.required_list("cases", explanations, [&](JsonWriter& entry, const Explanation& each) {
        write_explanation(entry, each, platform);
      });
    });
  }
  return ExitStatus::success;
}

}  // namespace bench
