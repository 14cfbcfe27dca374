// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/list_statistics.hpp"

#include "base/checked.hpp"
#include "base/json_fields.hpp"
#include "base/quote.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/short_id.hpp"
#include "ops/model.hpp"
#include "ops/network/network.hpp"
#include "ops/network/statistics.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {
namespace {

// How sentences name the FLOPs of a convention, in the order of the enumerators.
constexpr std::array<std::string_view, 5> kFlopsOf = {
    "FLOPs (bench-1)", "FLOPs as torch.utils.flop_counter counts them",
    "FLOPs as fvcore counts them", "FLOPs as XLA's HloCostAnalysis counts them",
    "FLOPs as DeepSpeed counts them"};

StatisticsRow make_row(const std::string& name, const ops::Problem& problem,
                       const ops::LayerStatistics& statistics, ops::FlopConvention convention) {
  return {.name = name,
          .op = std::string(problem.op->name),
          .output = problem.output().dims,
          .parameters = statistics.parameters,
          .activations = statistics.activations,
          .macs = problem.work.macs,
          .flops = ops::count_flops(problem, convention),
          .bytes = problem.work.traffic(),
          .receptive_field = statistics.receptive_field,
          .equal_layers = statistics.equal_layers};
}

// The network that a case is, or that it is a layer of.
const PlannedNetwork* network_of(const Case& entry) {
  return entry.network != nullptr ? entry.network.get() : entry.layer_of.get();
}

std::string network_key(const PlannedNetwork& network, DataType dtype) {
  return fmt::format("{}/{}/{}", network.definition.name, network.batch, info(dtype).name);
}

Result<NetworkStatistics> make_statistics(const PlannedNetwork& planned, DataType dtype,
                                          const ops::OperatorRegistry& registry,
                                          ops::FlopConvention convention) {
  BENCH_ASSIGN_OR_RETURN(const ops::Network network,
                         ops::make_network(planned.definition, planned.batch, dtype,
                                           ops::Mode::inference, ops::Fusion::separate, registry));
  NetworkStatistics statistics{.name = network.name,
                               .batch = network.batch,
                               .dtype = std::string(info(dtype).name),
                               .layers = {}};
  const std::vector<ops::LayerStatistics> layers = ops::layer_statistics(network);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ops::Node& node = network.nodes[i];
    statistics.layers.push_back(make_row(node.name, node.problem, layers[i], convention));
  }
  return statistics;
}

// Adds a value to a sum that is unknown from its first unknown value on.
void add_known(std::optional<Checked>& sum, std::optional<std::int64_t> value) {
  if (sum && value) {
    *sum += *value;
  } else {
    sum = std::nullopt;
  }
}

std::optional<std::int64_t> value_of(const std::optional<Checked>& sum) {
  return sum ? sum->value() : std::nullopt;
}

std::string count_or_dash(const std::optional<std::int64_t>& count) {
  return count ? format_count(*count) : "-";
}

std::string exact_or_unknown(const std::optional<std::int64_t>& count) {
  return format_or_unknown(count, [](std::int64_t value) { return format_with_commas(value); });
}

std::string format_field(const std::optional<std::vector<std::int64_t>>& field) {
  if (!field) return "-";
  const bool is_square =
      std::ranges::all_of(*field, [&](std::int64_t size) { return size == field->front(); });
  return is_square ? fmt::format("{}", field->front()) : fmt::format("{}", fmt::join(*field, "x"));
}

TextRow make_text_row(const StatisticsRow& row) {
  return {.cells = {{row.name},
                    {row.op},
                    {ops::join_dims(row.output)},
                    {format_count(row.parameters)},
                    {format_count(row.activations)},
                    {count_or_dash(row.macs)},
                    {format_or_unknown(row.flops, format_count)},
                    {format_bytes(row.bytes)},
                    {format_field(row.receptive_field)},
                    {row.equal_layers > 1 ? fmt::format("x{}", row.equal_layers) : ""}},
          .note = {}};
}

TextRow make_total_row(const StatisticsTotal& total) {
  return {.cells = {{"total"},
                    {""},
                    {""},
                    {format_or_unknown(total.parameters, format_count)},
                    {format_or_unknown(total.activations, format_count)},
                    {format_or_unknown(total.macs, format_count)},
                    {format_or_unknown(total.flops, format_count)},
                    {format_or_unknown(total.bytes,
                                       [](std::int64_t value) { return format_bytes({value}); })},
                    {""},
                    {""}},
          .note = {}};
}

// What the rows of a table are. Ids of cases leave no room for all numbers in 80 columns, so the
// numbers that follow from the others go, too.
struct Listed {
  std::string_view heading;
  std::size_t narrowest;   // TextColumn::narrowest of the first column
  int activations, field;  // TextColumn::expendable
};
constexpr Listed kLayers = {"layer", 12, 0, 0};
constexpr Listed kCases = {"case", kMinId, 1, 2};

std::vector<TextColumn> make_columns(const Listed& listed) {
  constexpr Align kRight = Align::right;
  return {{std::string(listed.heading), Align::left, listed.narrowest},
          {"op", Align::left, std::nullopt, 5},
          {"output", kRight, std::nullopt, 4},
          {"params", kRight},
          {"activ.", kRight, std::nullopt, listed.activations},
          {"MACs", kRight},
          {"FLOPs", kRight},
          {"bytes", kRight},
          {"field", kRight, std::nullopt, listed.field},
          {"equal", kRight, std::nullopt, 3}};
}

std::string format_totals(const StatisticsTotal& total, ops::FlopConvention convention) {
  return fmt::format("{} parameters, {} activations, {} MACs, {} {}",
                     exact_or_unknown(total.parameters), exact_or_unknown(total.activations),
                     exact_or_unknown(total.macs), exact_or_unknown(total.flops),
                     kFlopsOf[static_cast<std::size_t>(convention)]);
}

std::string format_network(const NetworkStatistics& network, ops::FlopConvention convention,
                           std::size_t width, Colour colour) {
  const StatisticsTotal total = add_up(network.layers);
  std::vector<TextRow> rows;
  for (const StatisticsRow& layer : network.layers) rows.push_back(make_text_row(layer));
  rows.push_back(make_total_row(total));
  const std::string sentence =
      fmt::format("The network {} (batch {}, {}) has {}, in {} as they are written, before fusion.",
                  network.name, network.batch, network.dtype, format_totals(total, convention),
                  pluralise(network.layers.size(), "layer"));
  return wrap(sentence, width, 0) + "\n" +
         render_table(make_columns(kLayers), std::move(rows), width, colour);
}

std::string format_cases(const std::vector<StatisticsRow>& cases, ops::FlopConvention convention,
                         std::size_t width, Colour colour) {
  const StatisticsTotal total = add_up(cases);
  std::vector<TextRow> rows;
  for (const StatisticsRow& row : cases) rows.push_back(make_text_row(row));
  shorten_ids(rows);
  rows.push_back(make_total_row(total));
  const std::string sentence =
      fmt::format("{} together {}.", pluralise(cases.size(), "case has", "cases have"),
                  format_totals(total, convention));
  return wrap(sentence, width, 0) + "\n" +
         render_table(make_columns(kCases), std::move(rows), width, colour);
}

std::string format_next(const PlanStatistics& statistics, const Arguments& arguments) {
  std::string inputs;
  for (const std::string& input : arguments.inputs) inputs += " " + shell_quoted(input);
  const bool is_own = statistics.convention == ops::FlopConvention::bench;
  return fmt::format("Next: count {}, or measure:\n  {} list{} --stats{}\n  {} run{}\n",
                     is_own ? "as PyTorch does" : "in the convention of all results",
                     arguments.program, inputs, is_own ? " --flop-convention torch" : "",
                     arguments.program, inputs);
}

void write_row(JsonWriter& writer, const StatisticsRow& row) {
  BENCH_MEMBERS(writer, row, output, parameters, activations, macs, flops, (bytes, "bytes"),
                receptive_field);
  writer.defaulted("equal_layers", row.equal_layers, std::size_t{1});
}

void write_network(JsonWriter& writer, const NetworkStatistics& network) {
  const StatisticsTotal total = add_up(network.layers);
  BENCH_MEMBERS(writer, network, name, batch, dtype);
  BENCH_MEMBERS(writer, total, parameters, activations, macs, flops, bytes);
  writer.required_list("layers", network.layers, [](JsonWriter& layer, const StatisticsRow& row) {
    BENCH_MEMBERS(layer, row, name, op);
    write_row(layer, row);
  });
}

}  // namespace

StatisticsRow make_statistics_row(const std::string& name, const ops::Problem& problem,
                                  ops::FlopConvention convention) {
  return make_row(name, problem, ops::problem_statistics(problem), convention);
}

StatisticsTotal add_up(const std::vector<StatisticsRow>& rows) {
  std::optional<Checked> parameters = 0, activations = 0, macs = 0, flops = 0, bytes = 0;
  for (const StatisticsRow& row : rows) {
    add_known(parameters, row.parameters);
    add_known(activations, row.activations);
    add_known(macs, row.macs.value_or(0));  // a layer without products has 0
    add_known(flops, row.flops);
    add_known(bytes, row.bytes.count);
  }
  return {value_of(parameters), value_of(activations), value_of(macs), value_of(flops),
          value_of(bytes)};
}

Result<PlanStatistics> collect_statistics(const Plan& plan, const Arguments& arguments) {
  PlanStatistics statistics{
      .convention = arguments.flop_convention.value_or(ops::FlopConvention::bench),
      .networks = {},
      .cases = {}};
  const ops::OperatorRegistry& registry =
      plan.registry != nullptr ? *plan.registry : ops::built_in_operators();
  std::set<std::string> asked;  // keys of the networks
  for (const Case& entry : plan.cases) {
    const PlannedNetwork* network = network_of(entry);
    if (network == nullptr || (entry.network == nullptr && !arguments.filters.empty())) continue;
    if (!asked.insert(network_key(*network, entry.key.dtype)).second) continue;
    BENCH_ASSIGN_OR_RETURN(
        NetworkStatistics made,
        make_statistics(*network, entry.key.dtype, registry, statistics.convention));
    statistics.networks.push_back(std::move(made));
  }
  for (const Case& entry : plan.cases) {
    const auto* problem = std::get_if<ops::Problem>(&entry.work);
    if (problem == nullptr) continue;
    if (!entry.memberships.empty() && arguments.filters.empty()) continue;
    StatisticsRow row = make_statistics_row(entry.id, *problem, statistics.convention);
    if (!entry.memberships.empty()) row.equal_layers = entry.memberships.front().layers.size();
    statistics.cases.push_back(std::move(row));
  }
  return statistics;
}

std::string format_statistics(const PlanStatistics& statistics, const Arguments& arguments,
                              std::size_t width, Colour colour) {
  std::string text;
  for (const NetworkStatistics& network : statistics.networks) {
    text += format_network(network, statistics.convention, width, colour) + "\n";
  }
  if (!statistics.cases.empty()) {
    text += format_cases(statistics.cases, statistics.convention, width, colour) + "\n";
  }
  return text + format_next(statistics, arguments);
}

void write_statistics(JsonWriter& writer, const PlanStatistics& statistics) {
  writer.required("flop_convention", statistics.convention);
  writer.required_list("networks", statistics.networks, write_network);
}

void write_case_statistics(JsonWriter& writer, const StatisticsRow& row) {
  writer.object("stats", [&](JsonWriter& section) { write_row(section, row); });
}

}  // namespace bench
