// SPDX-License-Identifier: Apache-2.0
#include "harness/config/case_id.hpp"
#include "harness/config/case_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace bench {
namespace {

std::int64_t find_position(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) - names.begin();
}

std::int64_t find_backend_value(const CaseKey& key, const ops::OperatorRegistry& registry) {
  if (registry.default_backend(key.device, key.op) == key.backend) return kAutomatic;
  return find_position(registry.backend_names(), key.backend);
}

Status set_network(const CaseKey& key, CaseTemplate& entry) {
  BENCH_ASSIGN_OR_RETURN(const NetworkSegment segment, parse_network_segment(key.parameters));
  const auto default_fusion =
      segment.mode == ops::Mode::inference ? ops::Fusion::fused : ops::Fusion::separate;
  entry.network = segment.name;
  entry.network_location = entry.location;
  entry.folder = "configs";
  entry.settings.parts = NetworkParts::network;
  entry.settings.axis(Axis::batch) = {{segment.batch, entry.location}};
  entry.settings.axis(Axis::mode) = {{static_cast<std::int64_t>(segment.mode), entry.location}};
  entry.settings.axis(Axis::fuse) = {{segment.fusion == default_fusion
                                          ? kAutomatic
                                          : std::int64_t{segment.fusion == ops::Fusion::fused},
                                      entry.location}};
  return Done{};
}

Status set_operator(const CaseKey& key, CaseTemplate& entry) {
  BENCH_ASSIGN_OR_RETURN(ops::ProblemTokens tokens,
                         ops::parse_problem_tokens(*entry.op, key.parameters));
  entry.parameters = std::move(tokens.parameters);
  entry.parameter_locations.assign(entry.op->parameters.size(), FileLocation{});
  entry.post_ops = std::move(tokens.post_ops);
  entry.settings.axis(Axis::direction) = {
      {static_cast<std::int64_t>(key.direction), entry.location}};
  return Done{};
}

bool selects_network_parts(const Override& setting) {
  return setting.key == "measure" &&
         (setting.value->kind == yaml::Kind::sequence || setting.value->find("what") != nullptr);
}

}  // namespace

Result<CaseTemplate> template_from_key(const CaseKey& key, FileLocation location,
                                       const ops::OperatorRegistry& registry) {
  CaseTemplate entry;
  entry.op = registry.find(key.op);
  entry.origin = CaseTemplate::Origin::id;
  entry.location = location;
  const auto set_axis = [&](Axis axis, std::int64_t value) {
    entry.settings.axis(axis) = {{value, location}};
  };
  set_axis(Axis::dtype, find_position(axis_row(Axis::dtype).words(registry), info(key.dtype).name));
  set_axis(Axis::backend, find_backend_value(key, registry));
  set_axis(Axis::device, find_position(device_names(), key.device));
  set_axis(Axis::cache, static_cast<std::int64_t>(key.cache));
  set_axis(Axis::threads, key.threads.value_or(0));
  set_axis(Axis::streams, key.streams);
  set_axis(Axis::layout, static_cast<std::int64_t>(key.layout));
  set_axis(Axis::math, static_cast<std::int64_t>(key.math));
  BENCH_RETURN_IF_ERROR(entry.op != nullptr ? set_operator(key, entry) : set_network(key, entry));
  return entry;
}

bool accepts_override(const CaseTemplate& entry, const Override& setting) {
  if (const AxisRow* row = find_axis(setting.key)) {
    return row->scope == AxisScope::everywhere ||
           (row->scope == AxisScope::operators) == (entry.op != nullptr);
  }
  return !selects_network_parts(setting) ||
         (entry.op == nullptr && entry.origin == CaseTemplate::Origin::file);
}

Error make_unused_override_error(const Override& setting) {
  if (selects_network_parts(setting)) {
    return {
        "`measure.what` chooses parts of a configuration's networks, but there is no network here",
        "", "leave it out, or name a configuration with a network"};
  }
  const AxisRow* row = find_axis(setting.key);
  if (row != nullptr && row->scope == AxisScope::operators) {
    return {fmt::format("`{}` is for operators, but there is no operator here", setting.key), "",
            "leave it out: a network's passes follow `mode`"};
  }
  return {fmt::format("`{}` is for networks, but there is no network here", setting.key), "",
          "leave it out, or name a network"};
}

}  // namespace bench
