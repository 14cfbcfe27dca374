// SPDX-License-Identifier: Apache-2.0
#include "harness/config/case_template.hpp"

#include "base/text.hpp"
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

constexpr std::array<KeyInfo, 6> kCaseKeys = {{
    {"op", "operator", "this or `network`", "the operator to measure"},
    {"network", "name of a network", "this or `op`",
     "NAME.yaml in the folder `networks` next to the file, or in the installed networks"},
    {"sweep", "mapping of keys to lists", "",
     "one case per combination of values; the last key varies fastest"},
    {"zip", "mapping of keys to lists of equal length", "", "one case per position"},
    {"post_ops", "list of unary functions and `add`", "",
     "fused after the operator, in this order; parameters as in ids: `leaky_relu0.1`"},
    {"multiplicity", "integer >= 1", "1",
     "how often a program executes the operator: the weight of the case in sums", 1, kMaxCaseCount},
}};

// Writes a value where a list is expected as a list. There are no ranges, so the ends of a text
// like `1..128` become two values.
std::string format_as_list(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kSeparators = " .,:;-";
  std::vector<std::string_view> numbers;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t digits = std::min(rest.find_first_not_of(kDigits), rest.size());
    if (digits == 0 && kSeparators.find(rest.front()) == std::string_view::npos)
      return fmt::format("[{}]", text);
    if (digits > 0) numbers.push_back(rest.substr(0, digits));
    rest.remove_prefix(std::max<std::size_t>(digits, 1));
  }
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

// Returns a list or a scalar as a list in YAML; an empty text for another value.
std::string format_values(const yaml::Node& node) {
  if (node.kind == yaml::Kind::scalar) return format_as_list(node.text);
  return node.kind == yaml::Kind::sequence ? yaml::format_flow(node) : "";
}

// Reads an entry of `cases:` into a CaseTemplate.
class CaseReader {
 public:
  CaseReader(const Reader& reader, const yaml::Node& node, CaseTemplate& result)
      : reader_(reader), node_(node), case_(result) {}

  // Returns false after reporting an error in `op` or `network`. Then it does not read the other
  // keys.
  bool read() {
    if (!read_workload()) return false;
    for (const yaml::Entry& entry : node_.entries) read_entry(entry);
    read_varying("sweep", &CaseReader::read_sweep);
    read_varying("zip", &CaseReader::read_zip);
    return true;
  }

  // Returns whether a parameter had an invalid value. An expansion would report it as missing.
  bool is_incomplete() const { return is_incomplete_; }

 private:
  SettingsOwner owner() const {
    return case_.op != nullptr ? SettingsOwner::operator_case : SettingsOwner::network_case;
  }

  // Returns a hint on how to name the operator or network. The key of `{op:gemm}` is `op:gemm`.
  std::string make_workload_hint() const {
    for (const yaml::Entry& entry : node_.entries) {
      const bool names_workload = entry.key.starts_with("op:") || entry.key.starts_with("network:");
      if (const auto hint = missing_space_hint(entry.key); hint && names_workload) return *hint;
    }
    return "write `op: conv` or `network: resnet50_v1_5`";
  }

  bool read_workload() {
    const yaml::Entry* op = node_.find("op");
    const yaml::Entry* network = node_.find("network");
    if ((op == nullptr) == (network == nullptr)) {
      const std::string_view found = op == nullptr ? "neither" : "both";
      reader_.report_error(op == nullptr ? node_.location : network->location,
                           fmt::format("a case has `op` or `network`, found {}", found),
                           make_workload_hint());
      return false;
    }
    if (network != nullptr) {
      case_.network_location = reader_.locate(network->value->location);
      case_.network = reader_.text(*network->value, "network").value_or(std::string());
      return !case_.network.empty();
    }
    case_.op = read_operator(reader_, *op->value);
    if (case_.op == nullptr) return false;
    case_.parameters = ops::ParameterSet(case_.op->parameters);
    case_.parameter_locations.assign(case_.op->parameters.size(), FileLocation{});
    return true;
  }

  std::optional<std::size_t> find_parameter_index(std::string_view key) const {
    if (case_.op == nullptr) return std::nullopt;
    const ops::Parameter* parameter = ops::find_parameter(case_.op->parameters, key);
    if (parameter == nullptr) return std::nullopt;
    return static_cast<std::size_t>(parameter - case_.op->parameters.data());
  }

  std::vector<std::string_view> list_valid_keys() const {
    std::vector<std::string_view> names;
    if (case_.op != nullptr) {
      for (const ops::Parameter& parameter : case_.op->parameters) names.push_back(parameter.name);
      names.insert(names.end(), {"post_ops", "multiplicity"});
    }
    for (const std::string_view name : setting_names(owner())) names.push_back(name);
    names.insert(names.end(), {"sweep", "zip"});
    return names;
  }

  void report_unknown_key(const yaml::Entry& entry) const {
    const std::string kind = case_.op != nullptr ? std::string(case_.op->name) : "network";
    if (find_axis(entry.key) != nullptr) {
      const bool is_operator = case_.op != nullptr;
      const auto hint = ops::foreign_word_hint(entry.key, list_valid_keys());
      return reader_.report_error(
          entry.location,
          fmt::format("{} is for {}", quote(entry.key), is_operator ? "networks" : "operators"),
          hint          ? *hint
          : is_operator ? fmt::format("{} does not have it", with_article(kind))
                        : "a network's passes follow `mode`");
    }
    reader_.report_error(entry.location,
                         fmt::format("unknown key {} of {}", quote(entry.key), with_article(kind)),
                         expected_setting(entry.key, list_valid_keys()));
  }

  void read_entry(const yaml::Entry& entry) {
    // read() reads `sweep` and `zip` last, so that read_list() can detect keys with a value.
    if (entry.key == "sweep" || entry.key == "zip") return;
    if (entry.key == "op" || entry.key == "network") return;
    if (const auto index = find_parameter_index(entry.key)) {
      const ops::Parameter& parameter = case_.op->parameters[*index];
      written_.emplace(entry.key, entry.location);
      case_.parameter_locations[*index] = reader_.locate(entry.value->location);
      if (auto value = read_parameter(reader_, parameter, *entry.value)) {
        case_.parameters.set(parameter.name, *std::move(value));
      } else {
        is_incomplete_ = true;
      }
    } else if (entry.key == "post_ops" && case_.op != nullptr) {
      case_.post_ops = read_post_ops(reader_, *entry.value);
      case_.post_ops_location = reader_.locate(entry.value->location);
    } else if (entry.key == "multiplicity" && case_.op != nullptr) {
      read_into(reader_, *std::ranges::find(kCaseKeys, entry.key, &KeyInfo::name), *entry.value,
                case_.count);
    } else if (read_setting(reader_, entry.key, *entry.value, owner(), case_.settings)) {
      written_.emplace(entry.key, entry.location);
    } else {
      report_unknown_key(entry);
    }
  }

  // Whether the key may vary and the text is a list of values for it.
  bool is_list_for(std::string_view key, const std::string& text) const {
    const auto document = yaml::parse(text);
    if (!document.ok() || !document->has_root() || !document->problems().empty()) return false;
    const yaml::Node& list = document->root();
    if (list.kind != yaml::Kind::sequence || list.items.empty()) return false;
    const auto index = find_parameter_index(key);
    const AxisRow* axis = index ? nullptr : find_axis(key);
    Diagnostics ignored;
    const Reader reader(ignored, ignored.add_file(""), reader_.registry());
    return std::ranges::all_of(list.items, [&](const yaml::Node* item) {
      if (index) return read_parameter(reader, case_.op->parameters[*index], *item).has_value();
      return axis != nullptr && read_axis_value(reader, *axis, *item).has_value();
    });
  }

  // Returns the first key without a value that may vary over these values. Required parameters come
  // first.
  std::optional<std::string_view> find_varying_key(const std::string& values) const {
    // A word of an operator comes last: `[f32, bf16]` are rather values of `dtype`.
    std::vector<std::string_view> required, numbers, words;
    if (case_.op != nullptr) {
      for (const ops::Parameter& parameter : case_.op->parameters) {
        const bool is_word = parameter.kind == ops::ParameterKind::word;
        auto& group = parameter.fallback == ops::kRequired ? required : is_word ? words : numbers;
        group.push_back(parameter.name);
      }
    }
    std::vector<std::string_view> keys = std::move(required);
    keys.insert(keys.end(), numbers.begin(), numbers.end());
    for (const std::string_view name : setting_names(owner())) keys.push_back(name);
    keys.insert(keys.end(), words.begin(), words.end());
    const auto found = std::ranges::find_if(keys, [&](std::string_view key) {
      return !written_.contains(key) && is_list_for(key, values);
    });
    return found == keys.end() ? std::nullopt : std::optional(*found);
  }

  // Returns a hint for a value of `sweep` or `zip` that is not a mapping of keys to lists.
  std::string make_varying_hint(std::string_view group, const yaml::Node& node) const {
    constexpr std::string_view kAnyValues = "[1, 8]";
    const std::string values = format_values(node);
    if (const auto key = find_varying_key(values)) {
      return fmt::format("name the key of these values: `{}: {{ {}: {} }}`", group, *key, values);
    }
    // `threads` may always vary.
    const std::string_view key = find_varying_key(std::string(kAnyValues)).value_or("threads");
    const std::string example = fmt::format("`{}: {{ {}: {} }}`", group, key, kAnyValues);
    const bool is_list = node.kind == yaml::Kind::sequence;
    if (is_list && !node.items.empty() && node.items.front()->kind == yaml::Kind::mapping)
      return fmt::format("leave out the dashes below `{}:`, or write {}", group, example);
    return fmt::format("indent its keys below `{}:`, or write {}", group, example);
  }

  // Returns a hint for a value of a key of `sweep` or `zip` that is not a list.
  std::string make_list_hint(std::string_view key, const yaml::Node& node) const {
    const std::string values = format_values(node);
    return is_list_for(key, values) ? fmt::format("write `{}: {}`", key, values)
                                    : "write its values in brackets, with commas between them";
  }

  void read_varying(std::string_view key, void (CaseReader::*read_group)(const yaml::Node&)) {
    const yaml::Entry* entry = node_.find(key);
    if (entry == nullptr) return;
    if (entry->value->kind != yaml::Kind::mapping || entry->value->entries.empty()) {
      reader_.report_mismatch(*entry->value, key, "a mapping of keys to lists of values",
                              make_varying_hint(key, *entry->value));
      return;
    }
    (this->*read_group)(*entry->value);
  }

  // Returns the assignments of one key's list. Returns an empty list after reporting an error.
  std::vector<Assignment> read_list(const yaml::Entry& entry) {
    if (const auto [first, inserted] = written_.emplace(entry.key, entry.location); !inserted) {
      reader_.report_error(entry.location,
                           fmt::format("{} already has values at line {}, column {}",
                                       quote(entry.key), first->second.line, first->second.column),
                           "remove one of them");
      return {};
    }
    const auto index = find_parameter_index(entry.key);
    const AxisRow* axis = index ? nullptr : find_allowed_axis(entry);
    if (!index && axis == nullptr) return {};
    if (entry.value->kind != yaml::Kind::sequence || entry.value->items.empty()) {
      reader_.report_mismatch(*entry.value, entry.key, "a list of at least one value",
                              make_list_hint(entry.key, *entry.value));
      return {};
    }
    std::vector<Assignment> assignments;
    for (const yaml::Node* item : entry.value->items) {
      std::optional<Assignment> assignment =
          index ? read_parameter_assignment(*index, *item) : read_axis_assignment(*axis, *item);
      if (assignment) assignments.push_back(*std::move(assignment));
    }
    if (assignments.size() != entry.value->items.size()) assignments.clear();
    return assignments;
  }

  // Returns nullptr after reporting an error if the key cannot vary.
  const AxisRow* find_allowed_axis(const yaml::Entry& entry) const {
    const std::vector<std::string_view> names = setting_names(owner());
    const AxisRow* axis = find_axis(entry.key);
    const bool is_allowed = std::find(names.begin(), names.end(), entry.key) != names.end();
    if (is_allowed && axis != nullptr) return axis;
    const bool is_fixed =
        std::ranges::find(kCaseKeys, entry.key, &KeyInfo::name) != kCaseKeys.end();
    if (is_allowed || is_fixed) {
      reader_.report_error(entry.location, fmt::format("{} cannot vary", quote(entry.key)),
                           "parameters and axes can; write one case for each value");
    } else {
      report_unknown_key(entry);
    }
    return nullptr;
  }

  std::optional<Assignment> read_parameter_assignment(std::size_t index,
                                                      const yaml::Node& node) const {
    auto value = read_parameter(reader_, case_.op->parameters[index], node);
    if (!value) return std::nullopt;
    return Assignment{std::nullopt, index, *std::move(value), {}, reader_.locate(node.location)};
  }

  std::optional<Assignment> read_axis_assignment(const AxisRow& row, const yaml::Node& node) const {
    const auto value = read_axis_value(reader_, row, node);
    if (!value) return std::nullopt;
    return Assignment{row.axis, 0, {}, *value, value->location};
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
        reader_.report_error(entry.value->location,
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

  const Reader& reader_;
  const yaml::Node& node_;
  CaseTemplate& case_;
  std::map<std::string_view, yaml::SourceLocation> written_;  // keys read so far
  bool is_incomplete_ = false;
};

// Removes the assignments of `sweep` and `zip` to axes that --set overrides.
void drop_overridden(std::span<const Override> overrides, std::vector<Dimension>& dimensions) {
  for (const Override& setting : overrides) {
    const AxisRow* row = find_axis(setting.key);
    if (row == nullptr) continue;
    for (Dimension& dimension : dimensions) {
      for (Choice& choice : dimension) {
        std::erase_if(choice,
                      [&](const Assignment& assignment) { return assignment.axis == row->axis; });
      }
    }
  }
}

}  // namespace

void apply_overrides(std::span<const Override> overrides, const ops::OperatorRegistry& registry,
                     Diagnostics& diagnostics, Settings& settings) {
  for (const Override& setting : overrides) {
    const Reader reader(diagnostics, setting.file, registry);
    read_setting(reader, setting.key, *setting.value, SettingsOwner::defaults, settings);
  }
}

std::optional<CaseTemplate> read_case(const Reader& reader, const yaml::Node& node,
                                      const Settings& defaults, std::span<const Override> overrides,
                                      Diagnostics& diagnostics) {
  if (!reader.is_mapping(node, "cases")) return std::nullopt;
  const std::size_t count_before = diagnostics.count();
  CaseTemplate result;
  result.location = reader.locate(node.location);
  result.settings = defaults;
  CaseReader case_reader(reader, node, result);
  if (!case_reader.read()) return std::nullopt;
  apply_overrides(overrides, reader.registry(), diagnostics, result.settings);
  drop_overridden(overrides, result.dimensions);
  // Without the value, an expansion would only repeat the reported error.
  if (diagnostics.count() != count_before || case_reader.is_incomplete()) return std::nullopt;
  return result;
}

std::span<const KeyInfo> case_keys() { return kCaseKeys; }

}  // namespace bench
