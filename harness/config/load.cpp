// SPDX-License-Identifier: Apache-2.0
#include "harness/config/load.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/config_file.hpp"
#include "harness/config/expand.hpp"
#include "harness/config/network_file.hpp"
#include "harness/config/overrides.hpp"
#include "harness/config/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

namespace bench {
namespace {

// Limits the recursion along includes and the defaults that each file inherits.
constexpr std::size_t kMaxFiles = 256;
// Maximum number of cases for which memory is reserved in advance.
constexpr std::int64_t kMaxReserved = 20'000;
// A case id has op, direction, parameters, dtype, backend, device and cache.
constexpr auto kSlashesOfId = 6;

// Returns "1,000,000".
std::string group_digits(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

class Loader {
 public:
  explicit Loader(const LoadRequest& request) : request_(request), builder_(findings_) {}

  Result<Plan, std::vector<Diagnostic>> load() {
    std::vector<Source> sources;
    for (const std::string& argument : request_.arguments) {
      sources.push_back(read_source(argument));
    }
    if (!load_plugins()) return findings_.list();
    networks_.emplace(request_, registry(), findings_);
    read_overrides(request_.overrides, registry(), findings_, overrides_);
    for (const Source& source : sources) read_argument(source);
    read_networks();
    check_overrides();
    if (!too_many_ && check_count()) expand();
    plan_.cases = std::move(builder_).take();
    select_cases(request_.filters, request_.devices, findings_, plan_.cases);
    if (findings_.count() > 0) return findings_.list();
    finish();
    return std::move(plan_);
  }

 private:
  // An argument read as a file, before the operators of plugins are known.
  struct Source {
    std::string argument;
    std::optional<Error> unread;   // why it is not a file
    ConfigFile* config = nullptr;  // nullptr if it was read before or is not a file
  };

  Source read_source(const std::string& argument) {
    const auto text = request_.read(argument);
    if (!text.ok()) return {argument, text.error(), nullptr};
    return {argument, std::nullopt, read_file(argument, *text)};
  }

  void read_argument(const Source& source) {
    const std::string& argument = source.argument;
    if (!source.unread) {
      if (source.config != nullptr) read_root(*source.config);
    } else if (looks_like_id(argument, registry()) ||
               std::count(argument.begin(), argument.end(), '/') >= kSlashesOfId) {
      read_id(argument);
    } else {
      const Error& error = *source.unread;
      findings_.add({findings_.add_argument(argument), {}}, error.what,
                    error.next.empty() ? "give a configuration file or a case id" : error.next);
    }
  }

  const ops::OperatorRegistry& registry() const {
    return plan_.registry ? *plan_.registry : ops::built_in_operators();
  }

  // Loads all plugins, each once. Returns false after reporting an error.
  bool load_plugins() {
    std::vector<Spot> spots;
    const auto add = [&](const std::string& path, Spot spot) {
      const auto& known = plan_.plugins;
      if (std::find(known.begin(), known.end(), path) != known.end()) return;
      plan_.plugins.push_back(path);
      spots.push_back(spot);
    };
    for (const std::string& path : request_.plugins) {
      add(relative_to(".", path), {findings_.add_argument("--plugin " + path), {}});
    }
    for (const ConfigFile& file : files_) {
      for (const ConfigFile::Plugin& plugin : file.plugins) add(plugin.path, plugin.spot);
    }
    if (plan_.plugins.empty() || !request_.load_plugins) return true;
    auto loaded = request_.load_plugins(plan_.plugins);
    if (loaded.ok()) {
      plan_.registry = *std::move(loaded);
      return true;
    }
    const Error& error = loaded.error();
    const auto guilty = std::find(plan_.plugins.begin(), plan_.plugins.end(), error.where);
    const auto place = guilty == plan_.plugins.end() ? 0 : guilty - plan_.plugins.begin();
    const std::string name = error.where.empty() ? "" : fmt::format("plugin {}: ", error.where);
    findings_.add(spots[static_cast<std::size_t>(place)], name + error.what, error.next);
    return false;
  }

  void read_id(const std::string& argument) {
    const Spot spot{findings_.add_argument(argument), {0, 0}};
    const auto key = parse_id(argument, registry());
    if (!key.ok()) return findings_.add(spot, key.error().what, key.error().next);
    if (plan_.name.empty()) plan_.name = key->op;
    auto entry = id_case(*key, spot, registry());
    if (!entry.ok()) return findings_.add(spot, entry.error().what, entry.error().next);
    apply_overrides(overrides_.settings, registry(), findings_, entry->settings);
    entries_.push_back(*std::move(entry));
  }

  // Reads a file and all its includes. Returns nullptr if it was read before.
  ConfigFile* read_file(const std::string& path, std::string_view text) {
    const std::string normal = std::filesystem::path(path).lexically_normal().string();
    if (by_path_.contains(normal) || values_ > yaml::kMaxNodes) return nullptr;
    files_.push_back(read_config(findings_, path, text));
    ConfigFile& config = files_.back();
    by_path_.emplace(normal, &config);
    if (!check_values(config)) return &config;
    plan_.files.push_back(path);
    open_.push_back(normal);
    for (const yaml::Node* node : config.includes) read_include(config, *node);
    open_.pop_back();
    return &config;
  }

  // The limit of one file applies to the sum of all files, since all stay in memory until the last
  // one is read.
  bool check_values(const ConfigFile& config) {
    if (config.document.has_root()) values_ += config.document.root().expanded_count;
    if (values_ <= yaml::kMaxNodes) return true;
    findings_.add(
        {config.file, {1, 1}},
        fmt::format("the files up to here have more than {} values", group_digits(yaml::kMaxNodes)),
        "give or include fewer files");
    return false;
  }

  void read_include(ConfigFile& config, const yaml::Node& node) {
    const Reader reader(findings_, config.file);
    const auto name = reader.text(node, "include");
    if (!name) return;
    const std::string path = relative_to(config.folder, *name);
    if (const auto begin = std::find(open_.begin(), open_.end(), path); begin != open_.end()) {
      std::string cycle;
      for (auto step = begin; step != open_.end(); ++step) cycle += *step + " -> ";
      return reader.complain(node.location, "`include` leads back to this file: " + cycle + path,
                             "remove one of the includes");
    }
    const auto known = by_path_.find(path);
    ConfigFile* included = known == by_path_.end() ? nullptr : known->second;
    if (included == nullptr) {
      if (files_.size() >= kMaxFiles) {
        return reader.complain(node.location, fmt::format("more than {} files", kMaxFiles),
                               "include fewer files");
      }
      const auto text = request_.read(path);
      if (!text.ok()) {
        return reader.complain(node.location,
                               fmt::format("cannot include {}: {}", quote(path), text.error().what),
                               "paths are relative to the including file");
      }
      included = read_file(path, *text);
    }
    if (included != nullptr) included_[&config].push_back(included);
  }

  // Collects the files whose defaults a file inherits, each once, and finally the file itself.
  void collect(const ConfigFile& config, std::set<const ConfigFile*>& seen,
               std::vector<const ConfigFile*>& order) const {
    if (!seen.insert(&config).second) return;
    if (const auto found = included_.find(&config); found != included_.end()) {
      for (const ConfigFile* included : found->second) collect(*included, seen, order);
    }
    order.push_back(&config);
  }

  std::vector<const ConfigFile*> with_includes(const ConfigFile& config) const {
    std::set<const ConfigFile*> seen;
    std::vector<const ConfigFile*> order;
    collect(config, seen, order);
    return order;
  }

  void read_root(const ConfigFile& root) {
    const std::vector<const ConfigFile*> files = with_includes(root);
    const bool any_cases = std::any_of(files.begin(), files.end(),
                                       [](const ConfigFile* file) { return file->has_cases; });
    if (!any_cases && root.document.has_root() &&
        root.document.root().kind == yaml::Kind::mapping) {
      findings_.add({root.file, {1, 1}}, "there are no cases", "add `cases:`");
    }
    for (const ConfigFile* file : files) read_cases(*file);
    if (plan_.name.empty()) {
      plan_.name = root.name.value_or(std::filesystem::path(root.path).stem().string());
    }
    // The including file's value takes precedence, then that of the last include.
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
      if (!plan_.budget) plan_.budget = (*file)->budget;
      if (!plan_.profile) plan_.profile = (*file)->profile;
      if (!plan_.gate) plan_.gate = (*file)->gate;
    }
  }

  void read_cases(const ConfigFile& file) {
    if (!cases_read_.insert(&file).second || too_many_) return;
    Settings defaults;
    for (const ConfigFile* source : with_includes(file)) {
      apply_defaults(*source, registry(), findings_, defaults);
    }
    const Reader reader(findings_, file.file, registry());
    for (const yaml::Node* node : file.cases) {
      auto entry = read_case(reader, *node, defaults, overrides_.settings, findings_);
      if (!entry) continue;
      entry->folder = file.folder;
      // Entries with long lists are large, too, so reading stops at the limit.
      least_cases_ += count_cases(*entry, 1);
      entries_.push_back(*std::move(entry));
      too_many_ = !check_limit(entries_.back(), least_cases_);
      if (too_many_) return;
    }
  }

  static std::vector<std::string> network_folders(const CaseTemplate& entry) {
    return {relative_to(entry.folder, "networks")};
  }

  void read_networks() {
    for (const CaseTemplate& entry : entries_) {
      if (entry.op != nullptr) continue;
      network_of_[&entry] =
          networks_->find(entry.network, network_folders(entry), entry.network_spot);
    }
  }

  // A value of --set that changes nothing must not look effective.
  void check_overrides() {
    if (findings_.count() > 0) return;
    for (const Override& fixed : overrides_.settings) {
      const bool taken = std::ranges::any_of(
          entries_, [&](const CaseTemplate& entry) { return takes(entry, fixed); });
      if (taken) continue;
      Error error = untaken(fixed);
      findings_.add({fixed.file, {}}, std::move(error.what), std::move(error.next));
    }
  }

  // Runs before any expansion, so that a typing error costs neither time nor memory.
  bool check_count() {
    Checked total = 0;
    for (const CaseTemplate& entry : entries_) {
      const NetworkFile* network = entry.op == nullptr ? network_of_[&entry] : nullptr;
      if (entry.op == nullptr && network == nullptr) continue;
      total += count_cases(entry, network == nullptr ? 0 : std::ssize(network->definition.layers));
      if (!check_limit(entry, total)) return false;
    }
    // The total is an upper bound, so only a limited amount is reserved.
    builder_.reserve(static_cast<std::size_t>(std::min(*total.value(), kMaxReserved)));
    return true;
  }

  bool check_limit(const CaseTemplate& entry, Checked total) {
    if (total.value() && *total.value() <= kMaxCases) return true;
    findings_.add(entry.spot,
                  fmt::format("there are {} cases up to here, the limit is {}",
                              total.value() ? group_digits(*total.value()) : "more than 10^18",
                              group_digits(kMaxCases)),
                  "vary fewer keys, or split the configuration");
    return false;
  }

  void expand() {
    // Entries are removed after expansion to free memory for the cases.
    for (; !entries_.empty(); entries_.pop_front()) {
      const CaseTemplate& entry = entries_.front();
      if (entry.op != nullptr) {
        expand_operator(entry, registry(), findings_, builder_);
      } else if (const NetworkFile* network = network_of_[&entry]) {
        expand_network(entry, *network, *networks_, registry(), findings_, builder_);
      }
    }
  }

  void finish() {
    if (overrides_.budget) plan_.budget = overrides_.budget;
    std::string text;
    for (const Case& item : plan_.cases) {
      text += fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", item.id, item.hash,
                          item.warmup.iterations, item.warmup.time.count(), item.measure.processes,
                          item.measure.min_iterations, item.measure.precision,
                          item.measure.max_time.count(), item.measure.timeout.count(),
                          item.measure.tune, item.memberships.size());
      text += format_sample_method(item.measure);
    }
    plan_.hash = content_hash(text);
  }

  const LoadRequest& request_;
  Findings findings_;
  Overrides overrides_;
  std::optional<NetworkStore> networks_;  // set once the registry is known
  PlanBuilder builder_;
  Plan plan_;
  std::deque<ConfigFile> files_;
  std::map<std::string, ConfigFile*> by_path_;
  std::map<const ConfigFile*, std::vector<const ConfigFile*>> included_;
  std::int64_t values_ = 0;        // number of values in all files
  std::vector<std::string> open_;  // files whose includes are being read
  std::set<const ConfigFile*> cases_read_;
  std::deque<CaseTemplate> entries_;
  Checked least_cases_ = 0;  // lower bound of the number of cases: a network counts as one layer
  bool too_many_ = false;    // if true, no further entries are read
  std::map<const CaseTemplate*, const NetworkFile*> network_of_;
};

}  // namespace

Result<Plan, std::vector<Diagnostic>> load_plan(const LoadRequest& request) {
  return Loader(request).load();
}

}  // namespace bench
