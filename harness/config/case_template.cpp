// SPDX-License-Identifier: Apache-2.0
#include "harness/config/case_template.hpp"

#include "harness/config/parameter_value.hpp"
#include "ops/foreign_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace bench {
namespace {

constexpr std::array<KeyInfo, 5> kCaseKeys = {{
    {"op", "operator", "this or `network`", "the operator to measure"},
    {"network", "name of a network", "this or `op`",
     "NAME.yaml in the folder `networks` next to the file, or in the installed networks"},
    {"sweep", "mapping of keys to lists", "",
     "one case per combination of values; the last key varies fastest"},
    {"zip", "mapping of keys to lists of equal length", "", "one case per position"},
    {"post_ops", "list of unary functions and `add`", "",
     "fused after the operator, in this order; parameters as in ids: `leaky_relu0.1`"},
}};

// Returns what to write if `sweep` or `zip` is not a mapping.
std::string varying_hint(std::string_view key, const yaml::Node& node) {
  if (node.kind == yaml::Kind::null || node.kind == yaml::Kind::mapping) {
    return fmt::format("indent its keys below `{0}:`, or write `{0}: {{ n: [1, 8] }}`", key);
  }
  const bool is_list = node.kind == yaml::Kind::sequence;
  if (is_list && !node.items.empty() && node.items.front()->kind == yaml::Kind::mapping) {
    return fmt::format("leave out the dashes below `{0}:`, or write `{0}: {{ n: [1, 8] }}`", key);
  }
  std::vector<std::string_view> values;
  if (node.kind == yaml::Kind::scalar) values.push_back(node.text);
  for (const yaml::Node* item : node.items) values.push_back(item->text);
  return fmt::format("name the key of these values: `{}: {{ n: [{}] }}`", key,
                     fmt::join(values, ", "));
}

// Reads one case's entry.
class CaseReader {
 public:
  CaseReader(const Reader& reader, const yaml::Node& node, CaseTemplate& result)
      : reader_(reader), node_(node), case_(result) {}

  bool read() {
    if (!read_subject()) return false;
    for (const yaml::Entry& entry : node_.entries) read_entry(entry);
    read_varying("sweep", &CaseReader::read_sweep);
    read_varying("zip", &CaseReader::read_zip);
    return true;
  }

 private:
  SettingsOwner owner() const {
    return case_.op != nullptr ? SettingsOwner::operator_case : SettingsOwner::network_case;
  }

  // Says how to name the operator or network. In `{op:gemm}` the key is `op:gemm`.
  std::string subject_hint() const {
    for (const yaml::Entry& entry : node_.entries) {
      const bool is_subject = entry.key.starts_with("op:") || entry.key.starts_with("network:");
      if (const auto hint = missing_space(entry.key); hint && is_subject) return *hint;
    }
    return "write `op: conv` or `network: resnet50_v1_5`";
  }

  bool read_subject() {
    const yaml::Entry* op = node_.find("op");
    const yaml::Entry* network = node_.find("network");
    if ((op == nullptr) == (network == nullptr)) {
      const std::string_view found = op == nullptr ? "neither" : "both";
      reader_.complain(op == nullptr ? node_.location : network->location,
                       fmt::format("a case has `op` or `network`, found {}", found),
                       subject_hint());
      return false;
    }
    if (network != nullptr) {
      case_.network_spot = reader_.spot(network->value->location);
      case_.network = reader_.text(*network->value, "network").value_or(std::string());
      return !case_.network.empty();
    }
    case_.op = read_operator(reader_, *op->value);
    if (case_.op == nullptr) return false;
    case_.parameters = ops::ParameterSet(case_.op->parameters);
    case_.parameter_spots.assign(case_.op->parameters.size(), Spot{});
    return true;
  }

  std::optional<std::size_t> parameter_index(std::string_view key) const {
    if (case_.op == nullptr) return std::nullopt;
    const ops::Parameter* parameter = ops::find_parameter(case_.op->parameters, key);
    if (parameter == nullptr) return std::nullopt;
    return static_cast<std::size_t>(parameter - case_.op->parameters.data());
  }

  std::vector<std::string_view> valid_keys() const {
    std::vector<std::string_view> names;
    if (case_.op != nullptr) {
      for (const ops::Parameter& parameter : case_.op->parameters) names.push_back(parameter.name);
      names.push_back("post_ops");
    }
    for (const std::string_view name : setting_names(owner())) names.push_back(name);
    names.insert(names.end(), {"sweep", "zip"});
    return names;
  }

  void unknown_key(const yaml::Entry& entry) const {
    const std::string subject = case_.op != nullptr ? std::string(case_.op->name) : "network";
    if (find_axis(entry.key) != nullptr) {
      const bool op = case_.op != nullptr;
      const auto hint = ops::foreign_word_hint(entry.key, valid_keys());
      return reader_.complain(
          entry.location,
          fmt::format("{} is for {}", quote(entry.key), op ? "networks" : "operators"),
          hint ? *hint
          : op ? fmt::format("a {} does not have it", subject)
               : "a network's passes follow `mode`");
    }
    reader_.complain(entry.location,
                     fmt::format("unknown key {} of a {}", quote(entry.key), subject),
                     expected_setting(entry.key, valid_keys()));
  }

  void read_entry(const yaml::Entry& entry) {
    // Read last, to detect keys that already have a value
    if (entry.key == "sweep" || entry.key == "zip") return;
    if (entry.key == "op" || entry.key == "network") return;
    if (const auto index = parameter_index(entry.key)) {
      const ops::Parameter& parameter = case_.op->parameters[*index];
      written_.emplace(entry.key, entry.location);
      case_.parameter_spots[*index] = reader_.spot(entry.value->location);
      if (auto value = read_parameter(reader_, parameter, *entry.value)) {
        case_.parameters.set(parameter.name, *std::move(value));
      } else {
        bad_ = true;
      }
    } else if (entry.key == "post_ops" && case_.op != nullptr) {
      case_.post_ops = read_post_ops(reader_, *entry.value);
      case_.post_ops_spot = reader_.spot(entry.value->location);
    } else if (read_setting(reader_, entry.key, *entry.value, owner(), case_.settings)) {
      written_.emplace(entry.key, entry.location);
    } else {
      unknown_key(entry);
    }
  }

  void read_varying(std::string_view key, void (CaseReader::*read_group)(const yaml::Node&)) {
    const yaml::Entry* entry = node_.find(key);
    if (entry == nullptr) return;
    if (entry->value->kind != yaml::Kind::mapping || entry->value->entries.empty()) {
      reader_.mismatch(*entry->value, key, "a mapping of keys to lists of values",
                       varying_hint(key, *entry->value));
      return;
    }
    (this->*read_group)(*entry->value);
  }

  // Returns the assignments of one key's list; empty if an error was reported.
  std::vector<Assignment> read_list(const yaml::Entry& entry) {
    if (const auto [first, inserted] = written_.emplace(entry.key, entry.location); !inserted) {
      reader_.complain(entry.location,
                       fmt::format("{} already has values at line {}, column {}", quote(entry.key),
                                   first->second.line, first->second.column),
                       "remove one of them");
      return {};
    }
    const auto index = parameter_index(entry.key);
    const AxisRow* axis = index ? nullptr : allowed_axis(entry);
    if (!index && axis == nullptr) return {};
    if (entry.value->kind != yaml::Kind::sequence || entry.value->items.empty()) {
      const bool is_value = entry.value->kind == yaml::Kind::scalar;
      reader_.mismatch(*entry.value, entry.key, "a list of at least one value",
                       fmt::format("write `{}: [{}]`", entry.key,
                                   is_value ? std::string_view(entry.value->text) : "..."));
      return {};
    }
    std::vector<Assignment> assignments;
    for (const yaml::Node* item : entry.value->items) {
      std::optional<Assignment> assignment =
          index ? parameter_value(*index, *item) : axis_value(*axis, *item);
      if (assignment) assignments.push_back(*std::move(assignment));
    }
    if (assignments.size() != entry.value->items.size()) assignments.clear();
    return assignments;
  }

  const AxisRow* allowed_axis(const yaml::Entry& entry) const {
    const std::vector<std::string_view> names = setting_names(owner());
    const AxisRow* axis = find_axis(entry.key);
    const bool allowed = std::find(names.begin(), names.end(), entry.key) != names.end();
    if (allowed && axis != nullptr) return axis;
    if (allowed || entry.key == "op" || entry.key == "network" || entry.key == "post_ops") {
      reader_.complain(entry.location, fmt::format("{} cannot vary", quote(entry.key)),
                       "parameters and axes can; write one case for each value");
    } else {
      unknown_key(entry);
    }
    return nullptr;
  }

  std::optional<Assignment> parameter_value(std::size_t index, const yaml::Node& node) const {
    auto value = read_parameter(reader_, case_.op->parameters[index], node);
    if (!value) return std::nullopt;
    return Assignment{std::nullopt, index, *std::move(value), {}, reader_.spot(node.location)};
  }

  std::optional<Assignment> axis_value(const AxisRow& row, const yaml::Node& node) const {
    const auto value = read_axis_value(reader_, row, node);
    if (!value) return std::nullopt;
    return Assignment{row.axis, 0, {}, *value, value->spot};
  }

  void read_sweep(const yaml::Node& node) {
    for (const yaml::Entry& entry : node.entries) {
      Dimension dimension;
      for (Assignment& assignment : read_list(entry)) dimension.push_back({std::move(assignment)});
      if (!dimension.empty()) case_.dimensions.push_back(std::move(dimension));
    }
  }

  void read_zip(const yaml::Node& node) {
    Dimension dimension;
    const yaml::Entry* first = nullptr;
    for (const yaml::Entry& entry : node.entries) {
      std::vector<Assignment> assignments = read_list(entry);
      if (assignments.empty()) continue;
      if (first == nullptr) {
        first = &entry;
        dimension.resize(assignments.size());
      } else if (assignments.size() != dimension.size()) {
        reader_.complain(entry.value->location,
                         fmt::format("`zip`: {} has {} values, {} has {}", quote(entry.key),
                                     assignments.size(), quote(first->key), dimension.size()),
                         "lists in `zip` have equal lengths; `sweep` combines all");
        continue;
      }
      for (std::size_t i = 0; i < dimension.size(); ++i) {
        dimension[i].push_back(std::move(assignments[i]));
      }
    }
    if (first != nullptr) case_.dimensions.push_back(std::move(dimension));
  }

 public:
  // Whether a parameter has an invalid value: expanding would report it as missing.
  bool incomplete() const { return bad_; }

 private:
  const Reader& reader_;
  const yaml::Node& node_;
  CaseTemplate& case_;
  std::map<std::string_view, yaml::SourceLocation> written_;
  bool bad_ = false;
};

// Keys that --set fixes no longer vary.
void drop_overridden(std::span<const Override> overrides, std::vector<Dimension>& dimensions) {
  for (const Override& fixed : overrides) {
    const AxisRow* row = find_axis(fixed.key);
    if (row == nullptr) continue;
    for (Dimension& dimension : dimensions) {
      for (Choice& choice : dimension) {
        std::erase_if(choice, [&](const Assignment& made) { return made.axis == row->axis; });
      }
    }
  }
}

}  // namespace

void apply_overrides(std::span<const Override> overrides, const ops::OperatorRegistry& registry,
                     Findings& findings, Settings& settings) {
  for (const Override& fixed : overrides) {
    const Reader reader(findings, fixed.file, registry);
    read_setting(reader, fixed.key, *fixed.value, SettingsOwner::defaults, settings);
  }
}

std::optional<CaseTemplate> read_case(const Reader& reader, const yaml::Node& node,
                                      const Settings& defaults, std::span<const Override> overrides,
                                      Findings& findings) {
  if (!reader.is_mapping(node, "cases")) return std::nullopt;
  const std::size_t before = findings.count();
  CaseTemplate result;
  result.spot = reader.spot(node.location);
  result.settings = defaults;
  CaseReader case_reader(reader, node, result);
  if (!case_reader.read()) return std::nullopt;
  apply_overrides(overrides, reader.registry(), findings, result.settings);
  drop_overridden(overrides, result.dimensions);
  // Without a value, expanding would only repeat an error that is already reported.
  if (findings.count() != before || case_reader.incomplete()) return std::nullopt;
  return result;
}

std::span<const KeyInfo> case_keys() { return kCaseKeys; }

}  // namespace bench
