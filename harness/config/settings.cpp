// SPDX-License-Identifier: Apache-2.0
#include "harness/config/settings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <variant>

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
template <class Enum>
std::vector<std::string_view> words_of(const ops::OperatorRegistry&) {
  return to_vector(enumerator_names<Enum>());
}
std::vector<std::string_view> device_words(const ops::OperatorRegistry&) {
  return to_vector(kDevices);
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
     words_of<ops::Direction>,
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
     words_of<CacheMode>,
     "",
     0},
    {Axis::threads,
     AxisScope::everywhere,
     {"threads", "integer from 1 to 4096, `all`, or a list", "all",
      "CPU threads that a worker may use", 1, kMaxThreads},
     nullptr,
     "all",
     0},
    {Axis::streams,
     AxisScope::everywhere,
     {"streams", "integer from 1 to 4096, or a list", "1",
      "instances of the case that run side by side in one process and share its threads", 1,
      kMaxThreads},
     nullptr,
     "",
     1},
    {Axis::layout,
     AxisScope::everywhere,
     {"layout", "`any`, `nchw`, `nhwc`, or a list", "any",
      "memory layout of tensors; `any` lets the library choose; for a network that of its input "
      "(`any`: nchw)"},
     words_of<ops::Layout>,
     "",
     0},
    {Axis::math,
     AxisScope::everywhere,
     {"math", "`default`, `tf32`, `fast_accumulation`, or a list", "default",
      "`tf32`: f32 may be rounded to TF32; `fast_accumulation`: gemm of fp8 may sum in fewer bits"},
     words_of<ops::Math>,
     "",
     0},
    {Axis::batch,
     AxisScope::networks,
     {"batch", "integer >= 1, or a list", "1", "images (or sequences) at once through a network", 1,
      kMaxBatch},
     nullptr,
     "",
     1},
    {Axis::mode,
     AxisScope::networks,
     {"mode", "`inference`, `training`, or a list", "inference",
      "for a network: its forward pass, or every layer in each direction that it has"},
     words_of<ops::Mode>,
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

// Returns a member of Warmup or Measure of a case, or of Settings.
template <auto member, class Owner>
auto& setting_value(Owner& owner) {
  if constexpr (requires { owner.warmup.*member; }) {
    return owner.warmup.*member;
  } else {
    return owner.measure.*member;
  }
}

template <auto member>
void read_setting_value(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                        Settings& settings) {
  read_into(reader, key, node, setting_value<member>(settings));
}

template <auto member>
std::string format_for_hash(const Case& item) {
  const auto& value = setting_value<member>(item);
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_same_v<Value, Nanoseconds>) {
    return fmt::to_string(value.count());
  } else if constexpr (NamedEnum<Value>) {
    return std::string(to_string(value));
  } else {
    return fmt::format("{}", value);
  }
}

template <auto member>
std::string format_for_message(const Case& item) {
  const auto& value = setting_value<member>(item);
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_same_v<Value, Nanoseconds>) {
    return format_time(value);
  } else if constexpr (std::is_same_v<Value, double>) {
    return fmt::format("{}%", value * 100);
  } else {
    return format_for_hash<member>(item);
  }
}

// The type of the member and the limits of the row decide how a setting is read and written.
template <auto member>
constexpr SettingMember kMember = {read_setting_value<member>, format_for_message<member>,
                                   format_for_hash<member>};

constexpr std::array<std::string_view, 2> kNetworkPartNames = {"layers", "network"};

void read_parts(const Reader& reader, const KeyInfo&, const yaml::Node& node, Settings& settings) {
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

void read_warmup(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                 Settings& settings) {
  if (reader.is_mapping(node, key.name)) read_keys(reader, node, settings_of(key.name), settings);
}

void read_measure(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                  Settings& settings) {
  if (node.kind == yaml::Kind::mapping) {
    read_keys(reader, node, settings_of(key.name), settings);
  } else if (node.kind == yaml::Kind::sequence) {
    read_parts(reader, key, node, settings);
  } else {
    reader.report_mismatch(
        node, key.name,
        "a mapping ({ processes: 5, max_time: 2s }) or, for a network, a list of "
        "`layers` and `network`");
  }
}

void read_tune(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
               Settings& settings) {
  const bool is_plain = node.kind == yaml::Kind::scalar && node.style == yaml::Style::plain;
  if (is_plain && (node.text == "true" || node.text == "false")) {
    settings.measure.tune = node.text == "true" ? kDefaultCandidates : 0;
  } else if (is_plain && node.text.find_first_not_of("-0123456789") == std::string::npos) {
    read_into(reader, key, node, settings.measure.tune);
  } else {
    reader.report_mismatch(
        node, key.name,
        fmt::format("true, false, or an integer from {} to {}", key.minimum, key.maximum));
  }
}

std::string format_tune(const Case& item) {
  return item.measure.tune == 0 ? "false" : format_for_hash<&Measure::tune>(item);
}

bool is_on_gpu(const Case& item) { return item.key.device != "cpu"; }

// A network on the CPU offers no choice of an engine or an implementation, so its times with and
// without `tune` are comparable.
bool offers_choice(const Case& item) {
  return is_on_gpu(item) || std::holds_alternative<ops::Problem>(item.work);
}

constexpr std::array<SettingRow, 12> kSettings = {{
    {"warmup",
     {"iterations", "integer >= 0", "3", "iterations before timing, at least", 0,
      kMaxIterationCount},
     kMember<&Warmup::iterations>,
     PlanHash::always},
    {"warmup",
     {"time", "duration", "100ms", "time before timing, at least"},
     kMember<&Warmup::time>,
     PlanHash::always},
    {"measure",
     {"processes", "integer from 1 to 1000", "5", "worker processes that measure a case", 1,
      kMaxProcesses},
     kMember<&Measure::processes>,
     PlanHash::always},
    {"measure",
     {"min_iterations", "integer >= 1", "20", "iterations of each process, at least", 1,
      kMaxIterationCount},
     kMember<&Measure::min_iterations>,
     PlanHash::always},
    {"measure",
     {"precision", "percentage up to 100%", "2%",
      "a process stops when the half width of its median's interval is below this fraction", 0,
      100},
     kMember<&Measure::precision>,
     PlanHash::always},
    {"measure",
     {"max_time", "duration", "2s", "timed time of a case over all its processes, at most", 1},
     kMember<&Measure::max_time>,
     PlanHash::always},
    {"measure",
     {"timeout", "duration", "60s",
      "limit of one step of a worker (setup, warm-up, a round) beyond its own target; a profile is "
      "three such steps in one",
      1},
     kMember<&Measure::timeout>,
     PlanHash::always},
    {"measure",
     {"what", "list of `layers`, `network`", "[layers, network]",
      "for a network: each distinct layer, the whole network, or both"},
     {read_parts}},
    {"", {"warmup", "mapping", "", "what runs before timing and is never counted"}, {read_warmup}},
    {"",
     {"measure", "mapping; for a network also a list of `layers`, `network`", "",
      "how much is measured; for a network also which parts"},
     {read_measure}},
    {"",
     {"tune", "`true`, `false`, or integer from 0 to 1000", "false",
      "use the fastest of this many (`true`: 8) engines, algorithms or implementations, if a "
      "library offers them",
      0, kMaxCandidates},
     {read_tune, format_tune, format_for_hash<&Measure::tune>},
     PlanHash::always,
     offers_choice},
    {"",
     {"sample_method", "`any`, `stream` or `graph`", "any",
      "on a GPU: whichever suits the time of the case, launches one by one, or a replayed graph"},
     kMember<&Measure::sample_method>,
     PlanHash::unless_default,
     is_on_gpu},
}};

// Returns " name value", or nothing for the default.
std::string format_unless_default(const SettingRow& row, const Case& item) {
  static const Case kDefault;
  const std::string value = row.member.hash_text(item);
  return value == row.member.hash_text(kDefault) ? "" : fmt::format(" {} {}", row.info.name, value);
}

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
    value = read_value<std::int64_t>(reader, row.info, node);
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
  for (const SettingRow& row : settings_of("")) names.push_back(row.info.name);
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
  for (const SettingRow& setting : settings_of("")) {
    if (setting.info.name != key) continue;
    report_network_parts(reader, key, node, owner);
    setting.read(reader, setting.info, node, settings);
    return true;
  }
  return false;
}

std::span<const SettingRow> setting_rows() { return kSettings; }

std::span<const SettingRow> settings_of(std::string_view group) {
  const auto* const begin = std::ranges::find(kSettings, group, &SettingRow::group);
  return {begin, std::find_if(begin, kSettings.end(),
                              [&](const SettingRow& row) { return row.group != group; })};
}

std::string format_for_plan_hash(const Case& item, PlanHash part) {
  std::string text;
  for (const SettingRow& row : kSettings) {
    if (row.member.hash_text == nullptr || row.plan_hash != part) continue;
    text += part == PlanHash::always ? " " + row.member.hash_text(item)
                                     : format_unless_default(row, item);
  }
  return text;
}

std::string format_for_case_hash(const Case& item) {
  std::string text;
  for (const SettingRow& row : kSettings) {
    if (row.decides_work != nullptr && row.decides_work(item))
      text += format_unless_default(row, item);
  }
  return text;
}

std::string format_measuring(const Case& item) {
  std::string text;
  for (const SettingRow& row : kSettings) {
    const bool is_limit = row.info.name == "timeout";
    if (row.member.text == nullptr || row.decides_work != nullptr || is_limit) continue;
    text +=
        fmt::format("{}{}{} {}", text.empty() ? "" : ", ", row.group == "warmup" ? "warmup." : "",
                    row.info.name, row.member.text(item));
  }
  return text;
}

namespace {

const SettingRow* find_nested_setting(std::string_view key) {
  const auto* const row = std::ranges::find_if(kSettings, [&](const SettingRow& candidate) {
    return !candidate.group.empty() && candidate.info.name == key;
  });
  return row == kSettings.end() ? nullptr : row;
}

}  // namespace

std::optional<std::string_view> find_settings_group(std::string_view key) {
  const SettingRow* found = find_nested_setting(key);
  return found == nullptr ? std::nullopt : std::optional(found->group);
}

std::string expected_setting(std::string_view written, std::span<const std::string_view> names) {
  if (const SettingRow* found = find_nested_setting(written)) {
    return fmt::format("it is a key of `{0}`: indent it below, or write `{0}: {{ {1}: {2} }}`",
                       found->group, written, found->info.default_value);
  }
  return expected_key(written, names);
}

}  // namespace bench
