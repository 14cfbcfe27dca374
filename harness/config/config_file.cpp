// SPDX-License-Identifier: Apache-2.0
#include "harness/config/config_file.hpp"

#include "base/text.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

namespace bench {
namespace {

void read_plugins(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                  ConfigFile& config) {
  for (const yaml::Node* item : reader.items(node, key.name)) {
    if (auto path = reader.text(*item, key.name)) {
      config.plugins.push_back({*std::move(path), reader.locate(item->location)});
    }
  }
}

// Reads a profiler switch. Joins the items of a list with commas, as on a command line.
void read_switch(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                 ProfileSwitches& switches) {
  std::string value;
  for (const yaml::Node* item : reader.items(node, key.name)) {
    if (item->kind != yaml::Kind::scalar || item->text.empty()) {
      return reader.report_mismatch(*item, key.name, key.type, "omit the key for its default");
    }
    value += (value.empty() ? "" : ",") + item->text;
  }
  if (value.empty()) return;  // items() has reported an empty list
  if (const Status status = find_switch(key.name)->apply(switches, value); !status) {
    reader.report_error(node.location, fmt::format("`{}`: {}", key.name, status.error().what),
                        status.error().next);
  }
}

// The maximum is far above a useful value; it only catches typing errors.
constexpr std::int64_t kMaxPercent = 1000;

constexpr std::array<KeyRow<GateSettings>, 3> kGate = {{
    {{"delta", "percentage", "1%", "a slowdown up to this is not a regression", 0, kMaxPercent},
     read_member<&GateSettings::delta>},
    {{"detect", "percentage", "2%", "a slowdown from this on must be found", 0, kMaxPercent},
     read_member<&GateSettings::detect>},
    {{"memory", "percentage", "5%", "memory growth beyond this is a regression", 0, kMaxPercent},
     read_member<&GateSettings::memory>},
}};

void read_profile(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                  ConfigFile& config) {
  if (!reader.is_mapping(node, key.name)) return;
  ProfileSwitches profile;
  read_keys(reader, node, profile_rows(), profile);
  config.profile = std::move(profile);
}

void read_gate(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
               ConfigFile& config) {
  if (!reader.is_mapping(node, key.name)) return;
  GateSettings gate;
  read_keys(reader, node, kGate, gate);
  if (gate.detect < gate.delta) {
    const auto format_value = [&](const KeyInfo& info, double fraction) {
      return fmt::format("{} ({}{:.6g}%)", info.name,
                         node.find(info.name) == nullptr ? "by default " : "", fraction * 100);
    };
    reader.report_error(
        node.location,
        fmt::format("`gate`: {} is below {}", format_value(kGate[1].info, gate.detect),
                    format_value(kGate[0].info, gate.delta)),
        "set detect, the slowdown that must be found, to at least delta, the slowdown that is "
        "allowed");
  }
  config.gate = gate;
}

void read_cases(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
                ConfigFile& config) {
  config.has_cases = true;
  if (node.kind != yaml::Kind::sequence || node.items.empty()) {
    reader.report_mismatch(node, key.name, "a list of at least one case",
                           "begin each case with a dash: `- op: gemm` or `- network: resnet18`");
    return;
  }
  config.cases = node.items;
}

constexpr std::array<KeyRow<ConfigFile>, 9> kFile = {{
    {{"version", "`1`", "required", "version of this language", 1, 1}, check_integer},
    {{"name", "text", "the file's stem", "names the run and its result file"},
     read_member<&ConfigFile::name>},
    {{"include", "list of files", "",
      "files, relative to this one, whose defaults and cases come before this file's"},
     [](const Reader& reader, const KeyInfo& key, const yaml::Node& node, ConfigFile& config) {
       config.includes = reader.items(node, key.name);
     }},
    {{"plugins", "list of files", "", "plugins that workers load, relative to this file"},
     read_plugins},
    {{"defaults", "mapping", "", "values for all cases of this file and of files that include it"},
     [](const Reader& reader, const KeyInfo& key, const yaml::Node& node, ConfigFile& config) {
       if (reader.is_mapping(node, key.name)) config.defaults = &node;
     }},
    {{"profile", "mapping", "", "requests a profiling pass and selects what it records"},
     read_profile},
    {kBudgetKey, read_member<&ConfigFile::budget>},
    {{"gate", "mapping", "", "what counts as a regression"}, read_gate},
    {{"cases", "list of cases", "", "what is measured, in this order"}, read_cases},
}};

// Returns an error if the text is a result file or another file of records, whose lines are JSON
// objects. Its syntax is valid YAML as far as the first line.
std::optional<yaml::Problem> find_records(const std::string& path, std::string_view text) {
  constexpr std::string_view kStart = "{\"record\":", kBaselineStart = "{\"schema\":";
  if (!text.starts_with(kStart) && !text.starts_with(kBaselineStart)) return std::nullopt;
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.find("\"bench.result/") == std::string_view::npos)
    return yaml::Problem{{1, 1},
                         "this is a file of records, not a configuration",
                         "name a YAML file that begins with `version: 1`, or the id of a case"};
  return yaml::Problem{{1, 1},
                       "this is a result file, not a configuration",
                       fmt::format("`bench report {}` shows it; `bench run CONFIG --resume {}` "
                                   "measures what it lacks",
                                   path, path)};
}

// Returns an error if the document describes a network.
std::optional<yaml::Problem> find_network_description(const yaml::Document& document) {
  if (!document.has_root()) return std::nullopt;
  const yaml::Entry* name = document.root().find("network");
  if (name == nullptr || document.root().find("layers") == nullptr) return std::nullopt;
  return yaml::Problem{name->location, "this file describes a network and is not a configuration",
                       fmt::format("a configuration measures it with `cases: [{{ network: {} }}]`",
                                   yaml::format_scalar(name->value->text))};
}

// Adds to a syntax error that the file, to judge by its name, may not be a configuration.
std::string explain_syntax_error(const std::string& path, const std::string& next) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".yaml" || suffix == ".yml" || suffix == ".json") return next;
  return fmt::format("{}{}a configuration is a YAML file that begins with `version: 1`", next,
                     next.empty() ? "" : "; ");
}

}  // namespace

std::string resolve_path(const std::string& folder, const std::string& path) {
  const std::filesystem::path joined = std::filesystem::path(folder) / path;
  return joined.lexically_normal().string();
}

ConfigFile read_config(Diagnostics& diagnostics, const std::string& path, std::string_view text) {
  ConfigFile config;
  config.file = diagnostics.add_file(path);
  config.path = path;
  config.folder = std::filesystem::path(path).parent_path().string();
  if (config.folder.empty()) config.folder = ".";
  const Reader reader(diagnostics, config.file);
  if (const auto records = find_records(path, text)) {
    reader.report_error(records->location, records->what, records->next);
    return config;
  }
  auto document = yaml::parse(text);
  if (!document.ok()) {
    reader.report_error(document.error().location, document.error().what,
                        explain_syntax_error(path, document.error().next));
    return config;
  }
  if (const auto network = find_network_description(*document)) {
    reader.report_error(network->location, network->what, network->next);
    return config;
  }
  config.document = *std::move(document);
  for (const yaml::Problem& problem : config.document.problems()) {
    reader.report_error(problem.location, problem.what, problem.next);
  }
  const yaml::Node& root = config.document.root();
  if (root.kind != yaml::Kind::mapping) {
    reader.report_error(root.location, fmt::format("found {}, expected a mapping", describe(root)),
                        "a configuration begins with `version: 1`");
    return config;
  }
  read_keys(reader, root, kFile, config);
  if (root.find("version") == nullptr) {
    reader.report_error(root.location, "the key `version` is missing", "write `version: 1`");
  }
  for (ConfigFile::Plugin& plugin : config.plugins) {
    plugin.path = resolve_path(config.folder, plugin.path);
  }
  return config;
}

void apply_defaults(const ConfigFile& config, const ops::OperatorRegistry& registry,
                    Diagnostics& diagnostics, Settings& settings) {
  if (config.defaults == nullptr) return;
  const Reader reader(diagnostics, config.file, registry);
  for (const yaml::Entry& entry : config.defaults->entries) {
    if (read_setting(reader, entry.key, *entry.value, SettingsOwner::defaults, settings)) continue;
    reader.report_error(entry.location, fmt::format("unknown key {} of defaults", quote(entry.key)),
                        expected_setting(entry.key, setting_names(SettingsOwner::defaults)));
  }
}

std::span<const KeyRow<ConfigFile>> file_rows() { return kFile; }
std::vector<KeyRow<ProfileSwitches>> profile_rows() {
  std::vector<KeyRow<ProfileSwitches>> rows;
  for (const SwitchRow& row : switch_rows()) {
    if (!row.type.empty())
      rows.push_back({{row.name, row.type, row.fallback, row.help}, read_switch});
  }
  return rows;
}
std::span<const KeyRow<GateSettings>> gate_rows() { return kGate; }

}  // namespace bench
