// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/explain_sections.hpp"
#include "harness/cli/explain_variants.hpp"
#include "harness/cli/measured_time.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/stored_ceilings.hpp"
#include "harness/cli/turn.hpp"
#include "harness/config/case_work.hpp"
#include "harness/host/gpu_description.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/report/variant_text.hpp"
#include "harness/result/report.hpp"
#include "harness/result/result_text.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/probe.hpp"
#include "harness/store/store.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Maximum number of tensors that are all listed. A longer list, as of a network, shows the first
// half of this number and the last two.
constexpr std::size_t kMaxTensors = 12;
constexpr std::size_t kMinNameWidth = 18;

std::string format_tensor(const ops::Tensor& tensor, std::size_t name_width) {
  return fmt::format("  {:<{}} {:<8} {:<5} {:<20} {}\n", tensor.name, name_width,
                     to_string(tensor.role), info(tensor.dtype).name,
                     fmt::format("{}", fmt::join(tensor.dims, "x")), format_bytes(tensor.size()));
}

std::string format_tensors(std::span<const ops::Tensor> tensors) {
  std::size_t name_width = kMinNameWidth;
  for (const ops::Tensor& tensor : tensors) name_width = std::max(name_width, tensor.name.size());
  std::string text = "tensors\n";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool is_hidden =
        tensors.size() > kMaxTensors && i >= kMaxTensors / 2 && i + 2 < tensors.size();
    if (!is_hidden) text += format_tensor(tensors[i], name_width);
    if (is_hidden && i == kMaxTensors / 2)
      text += fmt::format("  ... {} more\n", tensors.size() - kMaxTensors / 2 - 2);
  }
  return text;
}

// Says how the streams of a case share the threads of this machine; empty for one stream.
std::string format_streams(const Case& spec) {
  if (spec.key.streams == 1) return "";
  std::string text = fmt::format(
      "streams\n  {} instances side by side, each with its own buffers\n", spec.key.streams);
  const auto placed = place_streams(worker_threads(spec.key), allowed_cores());
  if (!placed) return text + fmt::format("  not here: {}\n\n", placed.error().message());
  for (std::size_t i = 0; i < placed->size(); ++i) {
    text += fmt::format("  stream {:<5} {} on processors {}\n", i + 1,
                        pluralise((*placed)[i].size(), "thread"), fmt::join((*placed)[i], ", "));
  }
  return text + "\n";
}

// Makes the problem again to get its formulas, which a plan does not contain. Returns no formulas
// for a network.
std::vector<ops::Formula> derive_formulas(const Case& spec) {
  const auto* problem = std::get_if<ops::Problem>(&spec.work);
  if (problem == nullptr) return {};
  auto derived = ops::make_problem({.op = problem->op,
                                    .direction = problem->direction,
                                    .dtype = problem->dtype,
                                    .layout = problem->layout,
                                    .math = problem->math,
                                    .parameters = problem->parameters,
                                    .post_ops = problem->post_ops});
  return derived.ok() ? std::move(derived->formulas) : std::vector<ops::Formula>{};
}

std::string format_formulas(const Case& spec) {
  const std::vector<ops::Formula> formulas = derive_formulas(spec);
  if (formulas.empty()) return "";
  std::string text = "formulas (convention bench-1)\n";
  for (const ops::Formula& formula : formulas) {
    const auto continuation = [&](std::string_view value) {
      return fmt::format("  {:<{}} = {}\n", "", formula.name.size(), value);
    };
    text += fmt::format("  {} = {}\n", formula.name, formula.expression);
    text += continuation(formula.values);
    // A formula that only names another one has the result as its value.
    const std::string result = fmt::to_string(formula.result);
    if (result != formula.values) text += continuation(result);
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
  // Omits the parameters from a long list, as of a network.
  for (const BufferInfo& buffer : prepared.buffers) {
    if (prepared.buffers.size() > kMaxTensors && buffer.role == "weights") continue;
    text += fmt::format("  layout          {:<18} {:<14} {}\n", buffer.name, buffer.layout,
                        format_bytes(buffer.size));
  }
  const PreparationTimes& times = prepared.preparation;
  const auto format_optional_time = [](const std::optional<Nanoseconds>& time) {
    return format_or_unknown(time, format_time);
  };
  text += fmt::format("  once            create {}, again {}; reorders {}; first run {}\n",
                      format_optional_time(times.create), format_optional_time(times.create_hit),
                      format_optional_time(times.reorder), format_optional_time(times.first_run));
  text += fmt::format("  memory          peak {}, weights {}, workspace {}\n",
                      format_bytes(prepared.memory.peak), format_bytes(prepared.memory.weights),
                      format_bytes(prepared.memory.workspace));
  return text;
}

// Formats the steps that a network executes, in order. Empty for a single operator, because
// format_prepared() describes it completely.
std::string format_steps(const PreparedReply& prepared) {
  if (prepared.steps.size() < 2) return "";
  std::string text = "\nsteps\n";
  for (const ops::KernelStep& step : prepared.steps) {
    text += fmt::format("  {:<24} {:<12} {:<26} {}\n", step.node, step.kind, step.implementation,
                        step.layouts);
  }
  return text;
}

// Maximum number of reasons in the text. The reasons of a network repeat, so the first ones
// suffice.
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
  BENCH_MEMBERS(writer, reason, primitive, (implementation, kOptional), (message, "reason"),
                location);
}

std::string format_probe(const Case& spec, const Result<PreparedCase>& probe) {
  if (!probe.ok())
    return fmt::format("here\n  no worker could be started: {}\n", probe.error().message());
  const ops::LibraryInfo& library = probe->library;  // no name if no worker was asked
  std::string text = library.name.empty()
                         ? "here\n"
                         : fmt::format("here, with {} {}\n", library.name, library.version);
  if (probe->refused) {
    return text +
           fmt::format("  {}: {}\n", to_string(probe->refused->outcome), probe->refused->reason);
  }
  return text + format_prepared(*probe->prepared) + format_steps(*probe->prepared) +
         format_choice(spec, *probe->prepared);
}

// Returns the command that measures the case `spec` by this id. With `tune`, another kernel may
// compute it.
std::string format_reproduction(const std::string& id, const Case& spec, const Plan& plan,
                                const Arguments& arguments) {
  std::string line =
      fmt::format("{}{} run {}", shell_variables(inherited_variables(inherited_environment())),
                  arguments.program, shell_quoted(id));
  if (spec.measure.tune != 0) line += fmt::format(" --set tune={}", spec.measure.tune);
  for (const std::string& plugin : plan.plugins)
    line += fmt::format(" --plugin {}", shell_quoted(plugin));
  if (arguments.baseline) line += fmt::format(" --baseline {}", shell_quoted(*arguments.baseline));
  return line;
}

// A GPU that a file (--gpu) or an architecture (--arch) describes, and what its libraries would run
// for the case. `command` measures the case there.
struct RemoteGpuResult {
  GpuDescription gpu;
  Result<CudaSupport> support;
  std::string command;
};

// Returns the id of the same case on a GPU.
std::string make_gpu_id(const Case& spec) {
  CaseKey key = spec.key;
  if (key.device != "cuda") {
    key.device = "cuda";
    key.backend = ops::built_in_operators().default_backend(key.device, key.op);
  }
  return to_id(key);
}

bool is_network(const Case& spec) { return !std::holds_alternative<ops::Problem>(spec.work); }

// Returns the folder of network files beside the configuration that contains the case, or an empty
// string for a case id.
std::string beside_networks(const Case& spec) {
  if (looks_like_id(spec.place.file)) return "";
  return (std::filesystem::path(spec.place.file).parent_path() / "networks").string();
}

// Returns nullopt if no GPU was described, and for an operator if only its architecture is known.
std::optional<RemoteGpuResult> ask_remote_gpu(const Case& spec, const Plan& plan,
                                              const Arguments& arguments, Env& env) {
  const bool is_described = arguments.gpu || (arguments.architecture && is_network(spec));
  if (!is_described) return std::nullopt;
  const std::string id = make_gpu_id(spec);
  CudaSupportQuestion question{{id}};
  std::optional<GpuDescription> gpu;
  if (arguments.gpu) {
    auto read = read_gpu_description(*arguments.gpu);
    if (!read) return std::nullopt;  // not expected: the command-line parser has read the file
    question.gpu = *arguments.gpu;
    gpu = *std::move(read);
  } else {
    const auto platform = ops::parse_platform(*arguments.architecture);
    question.architecture = platform.value().architecture->name;
    gpu = describe_architecture(question.architecture);
  }
  if (is_network(spec)) question.network_folder = beside_networks(spec);
  std::string command = format_reproduction(id, spec, plan, arguments);
  auto supports = ask_cuda_support(own_path(), question, env);
  if (!supports) return RemoteGpuResult{*std::move(gpu), supports.error(), std::move(command)};
  return RemoteGpuResult{*std::move(gpu), supports->at(id), std::move(command)};
}

std::string format_remote_result(const RemoteGpuResult& remote) {
  std::string text = fmt::format("on {}, which --gpu describes\n", remote.gpu.name);
  if (!remote.support) return text + fmt::format("  n/a: {}\n\n", remote.support.error().message());
  const CudaSupport& support = *remote.support;
  const bool is_supported = support.runs == "yes";
  text +=
      fmt::format("  {}{}{}{}\n", is_supported ? "" : fmt::format("{}: ", support.runs), support.by,
                  support.by.empty() || support.reason.empty() ? "" : ": ", support.reason);
  if (support.engines.size() > 1) {
    text += fmt::format("  cuDNN offers {} configurations; it runs the first one that is used\n",
                        support.engines.size());
  }
  for (const std::string& engine : support.engines) text += fmt::format("  {}\n", engine);
  return text + "\n";
}

void write_remote_result(JsonWriter& writer, const RemoteGpuResult& remote) {
  BENCH_MEMBERS(writer, remote.gpu, (name, "gpu"), (architecture, "arch"));
  if (!remote.support) {
    writer.required("reason", remote.support.error().message());
    return;
  }
  writer.required("runs", remote.support->runs);
  writer.required("by", remote.support->by);
  writer.required("reason", remote.support->reason);
  writer.required("engines", remote.support->engines);
  write_network_plan(writer, *remote.support);
}

// What this machine runs for the case, and its ideal time from the stored ceilings.
struct LocalResult {
  Result<PreparedCase> probe;
  std::vector<DispatchReason> not_taken;
  std::string reproduction;
  Result<MeasuredTime> measured;  // the error says why no time is known
  std::optional<Roofline> ideal = std::nullopt;
};

// Finds the time in the file of --from, or else in the store.
Result<MeasuredTime> find_measured_time(const Case& spec, const Arguments& arguments,
                                        const std::optional<Report>& report, Env& env) {
  const MachineIdentity machine = find_machine_identity(spec, env);
  if (report) return find_time_in_report(spec, machine, *report, *arguments.gate.from);
  return find_time_in_store(spec, machine, store_folder(arguments.baseline));
}

LocalResult explain_locally(const Case& spec, const Plan& plan, const Arguments& arguments,
                            const std::optional<Report>& report, Env& env) {
  const std::string store = store_folder(arguments.baseline);
  ProbeOptions options;
  options.plugins = plan.plugins;
  options.worker_program = own_path();
  LocalResult local{probe_case(spec, options, env),
                    {},
                    format_reproduction(spec.id, spec, plan, arguments),
                    find_measured_time(spec, arguments, report, env)};
  local.ideal = compute_ideal(spec, local.probe.ok() ? local.probe->prepared : std::nullopt,
                              find_case_ceilings(spec, store, env));
  if (!local.probe.ok() || local.probe->library.name.empty()) return local;
  Case untuned = spec;  // without the reasons of candidates that are measured
  untuned.measure.tune = 0;
  if (auto reasons = dispatch_reasons(untuned, options, env)) local.not_taken = std::move(*reasons);
  return local;
}

void write_tensor(JsonWriter& writer, const ops::Tensor& tensor) {
  writer.required("name", tensor.name);
  writer.required("role", to_string(tensor.role));
  writer.required("dtype", info(tensor.dtype).name);
  writer.required("dims", tensor.dims);
  writer.required("size_bytes", tensor.size());
}

void write_prepared(JsonWriter& writer, const PreparedReply& prepared) {
  writer.required("implementation", prepared.implementation);
  writer.required_list("buffers", prepared.buffers, [](JsonWriter& row, const BufferInfo& buffer) {
    BENCH_MEMBERS(row, buffer, name, role, layout, size);
  });
  for (const PreparationTime& row : kPreparationTimes) {
    writer.optional(row.name, prepared.preparation.*row.time);
  }
  writer.required_object("memory", [&](JsonWriter& memory) {
    BENCH_MEMBERS(memory, prepared.memory, peak, weights, workspace);
  });
}

void write_local_result(JsonWriter& writer, const LocalResult& local) {
  const Result<PreparedCase>& probe = local.probe;
  if (probe.ok() && probe->refused) {
    writer.required("outcome", to_string(probe->refused->outcome));
    writer.required("reason", probe->refused->reason);
  } else if (probe.ok() && probe->prepared) {
    write_prepared(writer, *probe->prepared);
    write_choice(writer, *probe->prepared);
  }
  writer.list("not_taken", local.not_taken, write_reason);
}

// A case and its explanation.
struct Explanation {
  const Case& spec;
  LocalResult local;
  std::optional<RemoteGpuResult> remote;
  const TriedVariants* tried = nullptr;  // nullptr without --try
};

// Writes the facts of the case and the sections of `explain`.
void write_explanation(JsonWriter& writer, const Explanation& explanation,
                       const Arguments& arguments, const std::optional<ops::Platform>& platform) {
  const auto& [spec, local, remote, tried] = explanation;
  write_case_facts(writer, spec);
  if (const auto tensors = case_tensors(spec); !tensors.empty())
    writer.required_list("tensors", tensors, write_tensor);
  writer.list("formulas", derive_formulas(spec), [](JsonWriter& row, const ops::Formula& formula) {
    BENCH_MEMBERS(row, formula, name, expression, values, result);
  });
  if (platform) {
    writer.required_object("tensor_cores", [&, &work = spec](JsonWriter& section) {
      write_tensor_cores(section, work, *platform);
    });
  }
  writer.group("there", remote, write_remote_result);
  if (local.ideal) {
    writer.required("ideal_ns", local.ideal->ideal);
    writer.required("bound", to_string(local.ideal->bound));
  }
  if (local.measured.ok()) {
    // "stored" is the name of an earlier version, for times of a store.
    for (const char* name : {"measured", "stored"}) {
      if (name == std::string_view("stored") && arguments.gate.from) continue;
      writer.required_object(name, [&result = local](JsonWriter& section) {
        write_measured_time(section, *result.measured, result.ideal);
      });
    }
  } else {
    writer.required("not_measured", local.measured.error().message());
  }
  if (tried != nullptr) write_variants(writer, {spec, tried->variants, tried->results});
  writer.required("reproduce", local.reproduction);
  writer.object("here",
                [&result = local](JsonWriter& section) { write_local_result(section, result); });
}

// Formats all sections except the id and the command to reproduce the case. Those two are for
// copying, so their lines are never folded.
std::string format_explanation(const Case& spec, const LocalResult& local,
                               const std::optional<RemoteGpuResult>& remote,
                               const std::optional<ops::Platform>& platform) {
  const std::string tensor_cores =
      (platform ? format_tensor_cores(spec, *platform) + "\n" : "") +
      (remote && !is_network(spec) ? format_remote_result(*remote) : "");
  return fmt::format("{}{}\n{}\n{}\n{}{}{}{}\n", format_streams(spec),
                     format_tensors(case_tensors(spec)), format_formulas(spec),
                     format_work(case_work(spec)), tensor_cores,
                     local.ideal ? format_ideal(*local.ideal) : "", format_probe(spec, local.probe),
                     format_dispatch_reasons(local.not_taken));
}

// Formats the plan of a network on the GPU that was described, the answer to the question; empty
// for an operator, and without a description.
std::string format_answer(const Case& spec, const std::optional<RemoteGpuResult>& remote,
                          const Env& env) {
  if (!remote || !is_network(spec)) return "";
  if (!remote->support) {
    return format_console_lines(fmt::format("plan on {}\n  n/a: {}\n\n", remote->gpu.name,
                                            remote->support.error().message()),
                                env);
  }
  return format_network_plan(*remote->support, remote->gpu.name, remote->command,
                             console_options(env).width);
}

// Returns the platform of --arch or --gpu; nullopt without them. The command-line parser has
// checked its name.
std::optional<ops::Platform> find_platform(const Arguments& arguments) {
  if (!arguments.architecture) return std::nullopt;
  return ops::parse_platform(*arguments.architecture).value();
}

// Prints what --try measured of each case, then the command that measures its fastest variant.
void print_variants(const Plan& plan, const std::vector<TriedVariants>& tried,
                    const Arguments& arguments, Env& env) {
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const VariantReport report{plan.cases[i], tried[i].variants, tried[i].results};
    *env.out << fmt::format("case  {}\n\n{}", printable(report.spec.id),
                            format_variants(report, console_options(env)));
    if (const PlannedVariant* best = find_best_variant(report)) {
      *env.out << fmt::format(
          "\nmeasure {}\n  {}\n", best->variant.name,
          printable(format_reproduction(best->spec.id, best->spec, plan, arguments)));
    }
    if (i + 1 < tried.size()) *env.out << '\n';
  }
}

// A variant that was asked for and has no effect is a part of the answer that is missing.
ExitStatus find_tried_status(const std::vector<TriedVariants>& tried) {
  const auto has_effect = [](const VariantResult& result) { return result.effect.has_value(); };
  const auto is_stopped = [](const VariantResult& result) { return result.stopped.has_value(); };
  const bool is_complete = std::ranges::all_of(tried, [&](const TriedVariants& entry) {
    const auto& results = entry.results;
    return results.empty() ||
           (std::ranges::any_of(results, has_effect) && std::ranges::none_of(results, is_stopped));
  });
  return is_complete ? ExitStatus::success : ExitStatus::not_measured;
}

}  // namespace

ExitStatus explain_command(const Arguments& arguments, Env& env) {
  if (const Status status = check_named_store(arguments); !status)
    return fail("explain", status.error(), ExitStatus::usage, env);
  std::optional<Report> report;
  if (arguments.gate.from) {
    auto read = read_report(*arguments.gate.from);
    if (!read.ok()) return fail("explain", read.error(), ExitStatus::usage, env);
    report = *std::move(read);
  }
  if (!arguments.tried && (arguments.gate.duets || arguments.budget)) {
    return fail("explain",
                Error{"nothing is measured without --try",
                      arguments.gate.duets ? "--duets" : "--budget", "add --try, or leave it out"},
                ExitStatus::usage, env);
  }
  const auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  std::vector<TriedVariants> tried;
  if (arguments.tried) {
    auto measured = try_variants(*plan, arguments, env);
    if (!measured.ok()) return fail("explain", measured.error(), kNoTurn, env);
    tried = *std::move(measured);
    if (arguments.output == Output::text) {
      print_variants(*plan, tried, arguments, env);
      return find_tried_status(tried);
    }
  }
  const auto platform = find_platform(arguments);
  std::vector<Explanation> explanations;
  for (std::size_t i = 0; i < plan->cases.size(); ++i) {
    const Case& spec = plan->cases[i];
    Explanation explanation{spec, explain_locally(spec, *plan, arguments, report, env),
                            ask_remote_gpu(spec, *plan, arguments, env),
                            tried.empty() ? nullptr : &tried[i]};
    if (arguments.output == Output::json) {
      explanations.push_back(std::move(explanation));
      continue;
    }
    const std::string text = format_console_lines(
        format_explanation(spec, explanation.local, explanation.remote, platform), env);
    const std::string measured = format_console_lines(
        format_measured_time(explanation.local.measured, explanation.local.ideal), env);
    *env.out << fmt::format("case  {}\n\n{}{}{}reproduce\n  {}\n", printable(spec.id),
                            format_answer(spec, explanation.remote, env), measured, text,
                            printable(explanation.local.reproduction));
  }
  if (arguments.output == Output::json) {
    *env.out << printed_json([&](JsonWriter& writer) {
      writer.required_list("cases", explanations,
                           [&](JsonWriter& entry, const Explanation& explanation) {
                             write_explanation(entry, explanation, arguments, platform);
                           });
    });
  }
  return find_tried_status(tried);
}

}  // namespace bench
