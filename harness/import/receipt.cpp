// SPDX-License-Identifier: Apache-2.0
#include "harness/import/receipt.hpp"

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/import/suite_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Places that the text names; --json names all of them.
constexpr std::size_t kMaxListedPlaces = 100;

struct Reason {
  std::string_view text;
  std::size_t count = 0;
  Nanoseconds time{0};                    // sum over its executions, if it is a profile
  std::optional<std::int64_t> flops = 0;  // sum over its nodes of a model; nullopt: not known
  std::vector<const RefusedProblem*> problems;
};

void add_flops(std::optional<std::int64_t> more, std::optional<std::int64_t>& sum) {
  sum = more && sum ? (Checked(*sum) + *more).value() : std::nullopt;
}

// Returns the reasons, of a profile those of one source: those that take the most time first, else
// the most frequent.
// Equal ones are in the order of the files.
std::vector<Reason> list_reasons(const Imported& found, ExecutionSource source) {
  std::vector<Reason> reasons;
  std::map<std::string_view, std::size_t> index;
  for (const RefusedProblem& problem : found.refused) {
    if (problem.use && problem.use->source != source) continue;
    const auto [entry, is_new] = index.emplace(problem.reason, reasons.size());
    if (is_new) reasons.push_back({.text = problem.reason, .problems = {}});
    if (problem.use) reasons[entry->second].time += problem.use->time;
    add_flops(problem.flops, reasons[entry->second].flops);
    reasons[entry->second].count += problem.count;
    reasons[entry->second].problems.push_back(&problem);
  }
  std::ranges::stable_sort(reasons, std::greater(), [](const Reason& reason) {
    return std::tuple(reason.time, reason.flops.value_or(0), reason.count);
  });
  return reasons;
}

std::string format_place(const Imported& found, const RefusedProblem& problem) {
  const std::string times = problem.count == 1 ? "" : fmt::format(" ({} times)", problem.count);
  if (found.model) return problem.text + times;
  return fmt::format("{}{}: {}", found.place_text(problem.place), times, problem.text);
}

// "(15.8 ms, 3.7 %)" of the time of a source; empty without a profile.
std::string format_time_share(Nanoseconds time, const Imported& found, ExecutionSource source) {
  if (!found.coverage) return {};
  return fmt::format(" ({}, {})", format_time(time), format_part(time, found.time(source)));
}

// The first dimension whose size was not given.
std::string find_open(const ImportedModel& model) {
  const auto open = std::ranges::find(model.dimensions, false, &ModelDimension::is_given);
  return open == model.dimensions.end() ? "" : open->name;
}

// "(0.2 % of the FLOPs)", of a model only.
std::string format_flop_share(std::optional<std::int64_t> flops, const Imported& found) {
  if (!found.model || flops == 0) return {};
  if (!flops) return " (FLOPs not known)";
  const std::int64_t all = found.model->all_flops();
  return fmt::format(" ({} of the FLOPs)", format_fraction(*flops, all));
}

// "All 169 nodes are expressed, with 8.178 GFLOP: a network of 120 layers, 25,557,032 parameters"
std::string model_sentence(const Imported& found) {
  const ImportedModel& model = *found.model;
  const bool has_no_layer = found.refused.empty() && !found.has_content();
  if (has_no_layer) return fmt::format("None of {} is a layer", pluralise(model.nodes, "node"));
  const std::int64_t all = model.all_flops();
  const std::string_view verb = model.nodes == 1 ? "is" : "are";
  std::string text = model.expressed == model.nodes
                         ? fmt::format("All {} {} expressed, with {}",
                                       pluralise(model.nodes, "node"), verb, format_flops(all))
                         : fmt::format("{} of {} {} expressed, with {} of {}", model.expressed,
                                       pluralise(model.nodes, "node"), verb,
                                       format_fraction(model.flops, all), format_flops(all));
  if (model.without_flops > 0)
    text += fmt::format(" (those of {} are not known)", pluralise(model.without_flops, "node"));
  if (model.network)
    return text + fmt::format(": a network of {} with {} parameters",
                              pluralise(model.layers, "layer"),
                              format_with_commas(model.parameters));
  if (found.cases.empty()) return text;
  return text + fmt::format(": a suite of {}, not a network, because {}",
                            pluralise(found.cases.size(), "distinct operator"), model.suite_reason);
}

// What a reader must know to judge the counts, one paragraph per fact.
std::vector<std::string> model_notes(const Imported& found) {
  const ImportedModel& model = *found.model;
  std::vector<std::string> notes;
  if (model.network && !found.refused.empty())
    notes.emplace_back(
        "What cannot be expressed is at the edges of the graph: its results are inputs of the "
        "network, "
        "and what it reads are outputs.");
  if (model.network && model.shared_parameters > 0)
    notes.push_back(fmt::format(
        "The model stores {} parameters: layers share {}, of which the network has copies.",
        format_with_commas(model.parameters - model.shared_parameters),
        format_with_commas(model.shared_parameters)));
  if (!model.without_layer.empty()) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : model.without_layer)
      parts.push_back(fmt::format("{} ({})", count, name));
    notes.push_back(fmt::format("Expressed without a layer: {}.", fmt::join(parts, ", ")));
  }
  if (model.is_measured_in_f32())
    notes.push_back(fmt::format("The model computes with {}; f32 is measured.", model.dtype));
  std::vector<std::string> sizes;
  for (const ModelDimension& dimension : model.dimensions)
    if (!dimension.is_given)
      sizes.push_back(fmt::format("{} = {}", dimension.name, dimension.size));
  if (!sizes.empty())
    notes.push_back(fmt::format("Sizes that were not given: {}; `--dimension {}=8` sets one.",
                                fmt::join(sizes, ", "), find_open(model)));
  return notes;
}

// Whether the profile has anything of the source. A profile without both has no primitives.
bool has_source(const Imported& found, ExecutionSource source) {
  const auto is_of = [&](const auto& item) { return item.use && item.use->source == source; };
  return std::ranges::any_of(found.cases, is_of) || std::ranges::any_of(found.refused, is_of);
}

std::vector<ExecutionSource> find_sources(const Imported& found) {
  std::vector<ExecutionSource> sources;
  for (const auto source : {ExecutionSource::primitives, ExecutionSource::gpu})
    if (has_source(found, source)) sources.push_back(source);
  if (sources.empty()) sources.push_back(ExecutionSource::primitives);
  return sources;
}

// "14 cases repeat 96.3 % of the 430.1 ms that the program spent in primitives, 812 executions"
std::string profile_sentence(const Imported& found, ExecutionSource source) {
  std::int64_t executions = 0;
  std::size_t cases = 0;
  for (const ImportedCase& item : found.cases) {
    if (item.use->source != source) continue;
    ++cases;
    executions += item.use->count;
  }
  return fmt::format(
      "{} {} {} of the {} {}, {}", pluralise(cases, "case"), cases == 1 ? "repeats" : "repeat",
      format_part(found.cases_time(source), found.time(source)), format_time(found.time(source)),
      source == ExecutionSource::gpu ? "of the GPU's work" : "that the program spent in primitives",
      pluralise(executions, "execution"));
}

std::string profile_sentences(const Imported& found) {
  std::string text;
  for (const ExecutionSource source : find_sources(found))
    text += (text.empty() ? "" : "; ") + profile_sentence(found, source);
  return text;
}

// "184.0 us (21.8 %) are 9 kernels, copies and memsets outside of operators of a framework."
std::string format_unattributed(const Imported& found) {
  const UnattributedWork& work = found.unattributed;
  return fmt::format(
      "{} ({}) {} outside of operators that the profile states: {}.", format_time(work.time),
      format_part(work.time, found.time(ExecutionSource::gpu)), work.count == 1 ? "is" : "are",
      pluralise(work.count, "kernel, copy or memset", "kernels, copies and memsets"));
}

// Writes the refused problems, and counts those that are listed.
std::string format_reasons(const Imported& found, ExecutionSource source, std::size_t width,
                           std::size_t& listed) {
  std::string text;
  for (const Reason& reason : list_reasons(found, source)) {
    text += wrap(fmt::format("{:>6}  {}{}{}", reason.count, printable(reason.text),
                             format_time_share(reason.time, found, source),
                             format_flop_share(reason.flops, found)),
                 width, 8);
    for (const RefusedProblem* problem : reason.problems) {
      if (++listed > kMaxListedPlaces) continue;
      text += "          " +
              shorten(printable(format_place(found, *problem)), width > 20 ? width - 10 : width) +
              "\n";
    }
  }
  return text;
}

std::size_t count_refused(const Imported& found, ExecutionSource source) {
  std::size_t count = 0;
  for (const RefusedProblem& problem : found.refused)
    if (!problem.use || problem.use->source == source) count += problem.count;
  return count;
}

// Returns the first sentence, and what cannot be expressed.
std::string format_answer(std::string first, const Imported& found, ExecutionSource source,
                          std::size_t width, std::size_t& listed) {
  const std::size_t refused = count_refused(found, source);
  first += refused == 0 ? "."
                        : fmt::format("; {}{} cannot be expressed:", refused,
                                      format_time_share(found.refused_time(source), found, source));
  std::string text = wrap(first, width, 0) + format_reasons(found, source, width, listed);
  if (source == ExecutionSource::gpu && found.unattributed.count > 0)
    text += wrap(format_unattributed(found), width, 0);
  return text;
}

}  // namespace

std::string receipt_sentence(const ImportKind& kind, const Imported& found) {
  if (found.coverage) return profile_sentences(found);
  if (found.model) return model_sentence(found);
  const std::size_t taken = found.cases.size();
  const std::size_t all = taken + found.refused_count();
  return fmt::format("{} of {} {} {}", taken, pluralise(all, kind.noun), taken == 1 ? "is" : "are",
                     taken == 1 ? "a case" : "cases");
}

std::string format_receipt(const ImportKind& kind, const Imported& found, std::size_t cases,
                           std::size_t width) {
  const std::string distinct = cases != found.cases.size() && !found.model
                                   ? fmt::format(" ({} of them distinct)", cases)
                                   : "";
  std::string text;
  std::size_t listed = 0;
  if (found.coverage) {
    text = wrap(describe_coverage(*found.coverage), width, 0);
    for (const ExecutionSource source : find_sources(found))
      text +=
          format_answer(profile_sentence(found, source) + distinct, found, source, width, listed);
  } else {
    text = format_answer(receipt_sentence(kind, found) + distinct, found,
                         ExecutionSource::primitives, width, listed);
  }
  if (listed > kMaxListedPlaces)
    text +=
        wrap(fmt::format("{} not listed; --json lists all.",
                         pluralise(listed - kMaxListedPlaces, "more line is", "more lines are")),
             width, 0);
  if (found.model) {
    for (const std::string& note : model_notes(found)) text += wrap(printable(note), width, 0);
  }
  return text;
}

std::string describe_model(const ImportedModel& model) {
  std::string text = model.producer.empty() ? "Model" : "Model by " + model.producer;
  for (const ModelDimension& dimension : model.dimensions)
    text += fmt::format(", {} = {}", dimension.name, dimension.size);
  text += fmt::format(".\n{} multiply-accumulates, {} parameters.", format_with_commas(model.macs),
                      format_with_commas(model.parameters));
  if (model.network && !model.scales_with_batch)
    text += "\nIts sizes do not follow from the batch: for another one, import it again.";
  return text;
}

namespace {

void write_model(JsonWriter& writer, const ImportedModel& model) {
  if (model.network)
    writer.required("network", model.network->name);
  else
    writer.required("suite_reason", model.suite_reason);
  writer.required("nodes", model.nodes);
  writer.required("expressed", model.expressed);
  writer.required("layers", model.layers);
  writer.required("macs", model.macs);
  writer.required("parameters", model.parameters);
  writer.required("shared_parameters", model.shared_parameters);
  writer.required("flops", model.flops);
  writer.required("refused_flops", model.refused_flops);
  writer.required("nodes_without_flops", model.without_flops);
  writer.required_list("without_layer", model.without_layer,
                       [](JsonWriter& row, const auto& group) {
                         row.required("what", group.first);
                         row.required("nodes", group.second);
                       });
  writer.required_list("dimensions", model.dimensions,
                       [](JsonWriter& row, const ModelDimension& dimension) {
                         row.required("name", dimension.name);
                         row.required("size", dimension.size);
                         row.required("given", dimension.is_given);
                       });
}

}  // namespace

void write_receipt(JsonWriter& writer, const Imported& found, std::size_t cases) {
  writer.required("found", static_cast<std::int64_t>(found.cases.size() + found.refused_count()));
  writer.required("imported", static_cast<std::int64_t>(found.cases.size()));
  writer.required("cases", static_cast<std::int64_t>(cases));
  if (found.model) write_model(writer, *found.model);
  if (found.coverage) {
    writer.required("primitives_ns", found.time(ExecutionSource::primitives));
    writer.required("imported_ns", found.cases_time(ExecutionSource::primitives));
    if (has_source(found, ExecutionSource::gpu)) {
      writer.required("gpu_ns", found.time(ExecutionSource::gpu));
      writer.required("gpu_imported_ns", found.cases_time(ExecutionSource::gpu));
      writer.required("gpu_unattributed_ns", found.unattributed.time);
    }
  }
  writer.required_list("refused", found.refused,
                       [&](JsonWriter& row, const RefusedProblem& problem) {
                         row.required("file", found.files[problem.place.file]);
                         row.required("line", problem.place.line);
                         row.required("text", problem.text);
                         row.required("reason", problem.reason);
                         row.required("count", static_cast<std::int64_t>(problem.count));
                         row.optional("flops", problem.flops);
                         if (!problem.use) return;
                         if (problem.use->source == ExecutionSource::gpu)
                           row.required("device", "cuda");
                         row.required("executions", problem.use->count);
                         row.required("time_ns", problem.use->time);
                       });
}

}  // namespace bench
