// SPDX-License-Identifier: Apache-2.0
#include "harness/config/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace bench {
namespace {

// More processes would take time without a better mean of the process medians.
constexpr std::int64_t kMaxProcesses = 1000;
constexpr std::int64_t kMaxIterationCount = 1'000'000'000;
// Number of candidates for `tune: true`. The first candidates of cuDNN's and cuBLASLt's heuristics
// nearly always include the best.
constexpr std::int64_t kDefaultCandidates = 8;
// No heuristic returns more candidates.
constexpr std::int64_t kMaxCandidates = 1000;
constexpr std::int64_t kMaxBatch = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::string_view, 2> kDevices = {"cpu", "cuda"};

std::vector<std::string_view> to_vector(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}
std::vector<std::string_view> direction_words(const ops::OperatorRegistry&) {
  return to_vector(enumerator_names<ops::Direction>());
}
std::vector<std::string_view> cache_words(const ops::OperatorRegistry&) {
  return to_vector(enumerator_names<CacheMode>());
}
std::vector<std::string_view> layout_words(const ops::OperatorRegistry&) {
  return to_vector(enumerator_names<ops::Layout>());
}
std::vector<std::string_view> math_words(const ops::OperatorRegistry&) {
  return to_vector(enumerator_names<ops::Math>());
}
std::vector<std::string_view> device_words(const ops::OperatorRegistry&) {
  return to_vector(kDevices);
}
std::vector<std::string_view> mode_words(const ops::OperatorRegistry&) {
  return {"inference", "training"};
}
std::vector<std::string_view> flag_words(const ops::OperatorRegistry&) { return {"false", "true"}; }
std::vector<std::string_view> backend_words(const ops::OperatorRegistry& registry) {
  return registry.backend_names();
}
std::vector<std::string_view> dtype_words(const ops::OperatorRegistry&) {
  std::vector<std::string_view> names;
  for (const DataTypeInfo& row : data_types()) {
    if (row.is_case_type) names.push_back(row.name);
  }
  return names;
}

constexpr std::array<AxisRow, kAxisCount> kAxes = {{
    {Axis::direction,
     AxisScope::operators,
     {"direction", "`forward`, `backward_data`, `backward_weights`, or a list", "forward",
      "which pass of the operator; networks choose by `mode`"},
     direction_words,
     "",
     0},
    {Axis::dtype,
     AxisScope::everywhere,
     {"dtype", "`f64`, `f32`, `f16`, `bf16`, `s8`, `u8`, `f8_e4m3`, `f8_e5m2`, or a list", "f32",
      "data type of inputs and weights"},
     dtype_words,
     "",
     1},
    {Axis::backend,
     AxisScope::everywhere,
     {"backend",
      "`onednn`, `native`, `openblas`, `blis`, `mkl`, `cudnn`, `cublaslt`, `cublas`, a plugin's, "
      "or a list",
      "by device and operator", "the library that computes; each belongs to one device"},
     backend_words,
     "",
     kAutomatic},
    {Axis::device,
     AxisScope::everywhere,
     {"device", "`cpu`, `cuda`, or a list", "cpu",
      "where it runs; on a machine without the device its cases are skipped with the reason"},
     device_words,
     "",
     0},
    {Axis::cache,
     AxisScope::everywhere,
     {"cache", "`hot`, `cold`, `cold_weights`, or a list", "hot",
      "what is in the caches before an iteration: everything, nothing, all but the weights"},
     cache_words,
     "",
     0},
    {Axis::threads,
     AxisScope::everywhere,
     {"threads", "integer from 1 to 4096, `all`, or a list", "all",
      "CPU threads that a worker may use"},
     nullptr,
     "all",
     0},
    {Axis::streams,
     AxisScope::everywhere,
     {"streams", "integer from 1 to 4096, or a list", "1",
      "instances of the case that run side by side in one process and share its threads"},
     nullptr,
     "",
     1},
    {Axis::layout,
     AxisScope::everywhere,
     {"layout", "`any`, `nchw`, `nhwc`, or a list", "any",
      "memory layout of tensors; `any` lets the library choose; for a network that of its input "
      "(`any`: nchw)"},
     layout_words,
     "",
     0},
    {Axis::math,
     AxisScope::everywhere,
     {"math", "`default`, `tf32`, `fast_accumulation`, or a list", "default",
      "`tf32`: f32 may be rounded to TF32; `fast_accumulation`: gemm of fp8 may sum in fewer bits"},
     math_words,
     "",
     0},
    {Axis::batch,
     AxisScope::networks,
     {"batch", "integer >= 1, or a list", "1", "images (or sequences) at once through a network"},
     nullptr,
     "",
     1},
    {Axis::mode,
     AxisScope::networks,
     {"mode", "`inference`, `training`, or a list", "inference",
      "for a network: its forward pass, or every layer in each direction that it has"},
     mode_words,
     "",
     0},
    {Axis::fuse,
     AxisScope::networks,
     {"fuse", "`true`, `false`, or a list", "true in inference, false in training",
      "fold batch norm into weights and make bias, activation and residual add post-ops"},
     flag_words,
     "",
     kAutomatic},
}};

constexpr std::array<KeyRow<Warmup>, 2> kWarmup = {{
    {{"iterations", "integer >= 0", "3", "iterations before timing, at least"},
     [](const Reader& reader, const yaml::Node& node, Warmup& warmup) {
       if (const auto value = reader.integer(node, "iterations", 0, kMaxIterationCount)) {
         warmup.iterations = *value;
       }
     }},
    {{"time", "duration", "100ms", "time before timing, at least"},
     [](const Reader& reader, const yaml::Node& node, Warmup& warmup) {
       if (const auto value = reader.duration(node, "time", Nanoseconds(0))) warmup.time = *value;
     }},
}};

constexpr std::array<std::string_view, 2> kNetworkPartNames = {"layers", "network"};

void read_parts(const Reader& reader, const yaml::Node& node, Settings& settings) {
  std::array<bool, 2> is_selected = {};
  bool is_valid = true;
  for (const yaml::Node* item : reader.items(node, "measure")) {
    const auto index = reader.word(*item, "measure", kNetworkPartNames);
    if (index) is_selected[*index] = true;
    is_valid &= index.has_value();
  }
  if (!is_valid || (!is_selected[0] && !is_selected[1])) return;
  settings.parts = is_selected[0] && is_selected[1] ? NetworkParts::layers_and_network
                   : is_selected[0]                 ? NetworkParts::layers
                                                    : NetworkParts::network;
}

constexpr std::array<KeyRow<Settings>, 6> kMeasure = {{
    {{"processes", "integer from 1 to 1000", "5", "worker processes that measure a case"},
     [](const Reader& reader, const yaml::Node& node, Settings& settings) {
       if (const auto value = reader.integer(node, "processes", 1, kMaxProcesses)) {
         settings.measure.processes = static_cast<int>(*value);
       }
     }},
    {{"min_iterations", "integer >= 1", "20", "iterations of each process, at least"},
     [](const Reader& reader, const yaml::Node& node, Settings& settings) {
       if (const auto value = reader.integer(node, "min_iterations", 1, kMaxIterationCount)) {
         settings.measure.min_iterations = *value;
       }
     }},
    {{"precision", "percentage up to 100%", "2%",
      "a process stops when the half width of its median's interval is below this fraction"},
     [](const Reader& reader, const yaml::Node& node, Settings& settings) {
       if (const auto value = reader.percentage(node, "precision", 1.0)) {
         settings.measure.precision = *value;
       }
     }},
    {{"max_time", "duration", "2s", "timed time of a case over all its processes, at most"},
     [](const Reader& reader, const yaml::Node& node, Settings& settings) {
       if (const auto value = reader.duration(node, "max_time", Nanoseconds(1))) {
         settings.measure.max_time = *value;
       }
     }},
    {{"timeout", "duration", "60s",
      "limit of one step of a worker (setup, warm-up, a round) beyond its own target; a profile is "
      "three such steps in one"},
     [](const Reader& reader, const yaml::Node& node, Settings& settings) {
       if (const auto value = reader.duration(node, "timeout", Nanoseconds(1))) {
         settings.measure.timeout = *value;
       }
     }},
    {{"what", "list of `layers`, `network`", "[layers, network]",
      "for a network: each distinct layer, the whole network, or both"},
     read_parts},
}};

void read_warmup(const Reader& reader, const yaml::Node& node, Settings& settings) {
  if (reader.is_mapping(node, "warmup")) {
    read_keys<Warmup>(reader, node, kWarmup, settings.warmup);
  }
}

void read_measure(const Reader& reader, const yaml::Node& node, Settings& settings) {
  if (node.kind == yaml::Kind::mapping) {
    read_keys<Settings>(reader, node, kMeasure, settings);
  } else if (node.kind == yaml::Kind::sequence) {
    read_parts(reader, node, settings);
  } else {
    reader.report_mismatch(
        node, "measure",
        "a mapping ({ processes: 5, max_time: 2s }) or, for a network, a list of "
        "`layers` and `network`");
  }
}

void read_tune(const Reader& reader, const yaml::Node& node, Settings& settings) {
  const bool is_plain = node.kind == yaml::Kind::scalar && node.style == yaml::Style::plain;
  if (is_plain && (node.text == "true" || node.text == "false")) {
    settings.measure.tune = node.text == "true" ? kDefaultCandidates : 0;
  } else if (is_plain && node.text.find_first_not_of("-0123456789") == std::string::npos) {
    settings.measure.tune =
        reader.integer(node, "tune", 0, kMaxCandidates).value_or(settings.measure.tune);
  } else {
    reader.report_mismatch(node, "tune",
                           fmt::format("true, false, or an integer from 0 to {}", kMaxCandidates));
  }
}

void read_sample_method(const Reader& reader, const yaml::Node& node, Settings& settings) {
  if (const auto index =
          reader.word(node, "sample_method", enumerator_names<ops::SampleMethod>())) {
    settings.measure.sample_method = static_cast<ops::SampleMethod>(*index);
  }
}

constexpr std::array<KeyRow<Settings>, 4> kTiming = {{
    {{"warmup", "mapping", "", "what runs before timing and is never counted"}, read_warmup},
    {{"measure", "mapping; for a network also a list of `layers`, `network`", "",
      "how much is measured; for a network also which parts"},
     read_measure},
    {{"tune", "`true`, `false`, or integer from 0 to 1000", "false",
      "use the fastest of this many (`true`: 8) engines, algorithms or implementations, if a "
      "library offers them"},
     read_tune},
    {{"sample_method", "`any`, `stream` or `graph`", "any",
      "on a GPU: whichever suits the time of the case, launches one by one, or a replayed graph"},
     read_sample_method},
}};

bool owner_allows(SettingsOwner owner, AxisScope scope) {
  switch (scope) {
    case AxisScope::everywhere:
      return true;
    case AxisScope::operators:
      return owner != SettingsOwner::network_case;
    case AxisScope::networks:
      return owner != SettingsOwner::operator_case;
  }
  return false;
}

// Reports a choice of network parts in an operator's case, where it would have no effect.
void report_network_parts(const Reader& reader, std::string_view key, const yaml::Node& node,
                          SettingsOwner owner) {
  if (owner != SettingsOwner::operator_case || key != "measure") return;
  const yaml::Entry* what = node.find("what");
  if (node.kind == yaml::Kind::sequence || what != nullptr) {
    reader.report_error(what != nullptr ? what->location : node.location,
                        "`measure`: only a network can choose layers and network",
                        "write a mapping such as { processes: 5, max_time: 2s }");
  }
}

}  // namespace

std::span<const AxisRow> axis_rows() { return kAxes; }

const AxisRow& axis_row(Axis axis) { return kAxes[static_cast<std::size_t>(axis)]; }

const AxisRow* find_axis(std::string_view name) {
  const auto* row = std::find_if(kAxes.begin(), kAxes.end(),
                                 [&](const AxisRow& axis) { return axis.info.name == name; });
  return row == kAxes.end() ? nullptr : row;
}

std::span<const std::string_view> device_names() { return kDevices; }

std::optional<AxisValue> read_axis_value(const Reader& reader, const AxisRow& row,
                                         const yaml::Node& node) {
  std::optional<std::int64_t> value;
  if (row.words != nullptr) {
    const std::vector<std::string_view> words = row.words(reader.registry());
    if (const auto index = reader.word(node, row.info.name, words)) {
      value = static_cast<std::int64_t>(*index);
    }
  } else if (!row.word_for_zero.empty() && node.text == row.word_for_zero) {
    value = 0;
  } else {
    const bool counts_threads = row.axis == Axis::threads || row.axis == Axis::streams;
    value = reader.integer(node, row.info.name, 1, counts_threads ? kMaxThreads : kMaxBatch);
  }
  if (!value) return std::nullopt;
  return AxisValue{*value, reader.locate(node.location)};
}

Settings::Settings() {
  for (const AxisRow& row : kAxes) axis(row.axis) = {AxisValue{row.default_value, FileLocation{}}};
}

std::vector<std::string_view> setting_names(SettingsOwner owner) {
  std::vector<std::string_view> names;
  for (const AxisRow& row : kAxes) {
    if (owner_allows(owner, row.scope)) names.push_back(row.info.name);
  }
  for (const KeyRow<Settings>& row : kTiming) names.push_back(row.info.name);
  return names;
}

bool read_setting(const Reader& reader, std::string_view key, const yaml::Node& node,
                  SettingsOwner owner, Settings& settings) {
  const AxisRow* row = find_axis(key);
  if (row != nullptr && owner_allows(owner, row->scope)) {
    std::vector<AxisValue> values;
    for (const yaml::Node* item : reader.items(node, key)) {
      if (const auto value = read_axis_value(reader, *row, *item)) values.push_back(*value);
    }
    if (!values.empty()) settings.axis(row->axis) = std::move(values);
    return true;
  }
  for (const KeyRow<Settings>& timing : kTiming) {
    if (timing.info.name != key) continue;
    report_network_parts(reader, key, node, owner);
    timing.read(reader, node, settings);
    return true;
  }
  return false;
}

namespace {

// A key of `measure` or `warmup`.
struct GroupedKey {
  std::string_view group, default_value;
};
std::optional<GroupedKey> find_grouped_key(std::string_view key) {
  for (const auto& row : kMeasure) {
    if (row.info.name == key) return GroupedKey{"measure", row.info.default_value};
  }
  for (const auto& row : kWarmup) {
    if (row.info.name == key) return GroupedKey{"warmup", row.info.default_value};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> find_settings_group(std::string_view key) {
  const auto found = find_grouped_key(key);
  return found ? std::optional(found->group) : std::nullopt;
}

std::string expected_setting(std::string_view written, std::span<const std::string_view> names) {
  if (const auto found = find_grouped_key(written)) {
    return fmt::format("it is a key of `{0}`: indent it below, or write `{0}: {{ {1}: {2} }}`",
                       found->group, written, found->default_value);
  }
  return expected_key(written, names);
}

std::span<const KeyRow<Warmup>> warmup_rows() { return kWarmup; }
std::span<const KeyRow<Settings>> measure_rows() { return kMeasure; }
std::span<const KeyRow<Settings>> timing_rows() { return kTiming; }

}  // namespace bench
