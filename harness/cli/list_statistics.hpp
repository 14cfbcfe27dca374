// SPDX-License-Identifier: Apache-2.0
// The statistics of `list --stats`: layers of networks as they are written, and plain cases.
#pragma once

#include "base/env.hpp"
#include "base/json_writer.hpp"
#include "base/result.hpp"
#include "base/terminal_text.hpp"
#include "base/units.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/plan.hpp"
#include "ops/flop_convention.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// One line of a table: a layer, or a case.
struct StatisticsRow {
  std::string name;  // the layer's, or the case id
  std::string op;
  ops::Dims output;
  std::int64_t parameters = 0;
  std::int64_t activations = 0;
  std::optional<std::int64_t> macs;
  std::optional<std::int64_t> flops;  // in the convention that was asked for; nullopt: unknown
  Bytes bytes;
  std::optional<std::vector<std::int64_t>> receptive_field;
  std::size_t equal_layers = 1;
};

// Sums over rows. nullopt: a sum exceeds 2^63 - 1, or one of the rows is unknown.
struct StatisticsTotal {
  std::optional<std::int64_t> parameters, activations, macs, flops, bytes;
};
StatisticsTotal add_up(const std::vector<StatisticsRow>& rows);

struct NetworkStatistics {
  std::string name;
  std::int64_t batch = 1;
  std::string dtype;
  std::vector<StatisticsRow> layers;  // in execution order, without fusion
};

struct PlanStatistics {
  ops::FlopConvention convention = ops::FlopConvention::bench;
  std::vector<NetworkStatistics> networks;
  std::vector<StatisticsRow> cases;  // those that are not part of `networks`
};

// Each network stands once per batch and data type. With filters, a network stands only if its own
// case passes them; its layers that pass are then cases. Error: a network cannot be made.
Result<PlanStatistics> collect_statistics(const Plan& plan, const Arguments& arguments);

// Returns the texts for a terminal; nothing in them depends on the machine but the width.
std::string format_statistics(const PlanStatistics& statistics, const Arguments& arguments,
                              std::size_t width, Colour colour);

// Writes the members `flop_convention` and `networks` of the JSON document.
void write_statistics(JsonWriter& writer, const PlanStatistics& statistics);
// Writes the member `stats` of a case: its row.
void write_case_statistics(JsonWriter& writer, const StatisticsRow& row);

// Returns the row of a single problem.
StatisticsRow make_statistics_row(const std::string& name, const ops::Problem& problem,
                                  ops::FlopConvention convention);

}  // namespace bench
