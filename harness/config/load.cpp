// SPDX-License-Identifier: Apache-2.0
#include "harness/config/load.hpp"

#include "base/text.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/config_file.hpp"
#include "harness/config/expand.hpp"
#include "harness/config/network_store.hpp"
#include "harness/config/overrides.hpp"
#include "harness/config/plan_builder.hpp"
#include "harness/config/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <variant>

namespace bench {
namespace {

// What a terminal can show and a person will read.
constexpr std::size_t kMaxDiagnostics = 100;
// Reading is recursive along includes, and every file sees the defaults of all that it includes.
constexpr std::size_t kMaxFiles = 256;
// Cases for which room is made at once.
constexpr std::int64_t kMaxReserved = 20'000;
// Of a case id: op, direction, parameters, dtype, backend, device, cache.
constexpr auto kSlashesOfId = 6;

// A case that was given by its id.
struct IdCase {
  Spot spot;
  CaseKey key;
  std::string argument;
};
using Entry = std::variant<CaseTemplate, IdCase>;

class Loader {
 public:
  explicit Loader(const LoadRequest& request) : request_(request), builder_(findings_) {}

  Result<Plan, std::vector<Diagnostic>> load() {
    std::vector<Source> sources;
    for (const std::string& argument : request_.arguments) {
      sources.push_back(read_source(argument));
    }
    if (!load_plugins()) return findings_.list(kMaxDiagnostics);
    networks_.emplace(request_, catalogue(), findings_);
    read_overrides(request_.overrides, catalogue(), findings_, overrides_);
    for (const Source& source : sources) read_argument(source);
    read_networks();
    if (check_count()) expand();
    plan_.cases = std::move(builder_).take();
    select_cases(request_.filters, request_.devices, findings_, plan_.cases);
    if (findings_.count() > 0) return findings_.list(kMaxDiagnostics);
    finish();
    return std::move(plan_);
  }

 private:
  // An argument as a file, before anything is known of plugins' operators.
  struct Source {
    std::string argument;
    std::optional<Error> unread;   // why it is no file
    ConfigFile* config = nullptr;  // nullptr: was read before, or is no file
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
    } else if (looks_like_id(argument, catalogue()) ||
               std::count(argument.begin(), argument.end(), '/') >= kSlashesOfId) {
      read_id(argument);
    } else {
      const Error& error = *source.unread;
      findings_.add({findings_.add_argument(argument), {}}, error.what,
                    error.next.empty() ? "give a configuration file or a case id" : error.next);
    }
  }

  const ops::Catalogue& catalogue() const {
    return plan_.catalogue ? *plan_.catalogue : ops::built_in_catalogue();
  }

  // All plugins, each once, and what they add. False after a finding.
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
      plan_.catalogue = *std::move(loaded);
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
    const auto key = parse_id(argument, catalogue());
    if (!key.ok()) return findings_.add(spot, key.error().what, key.error().next);
    if (plan_.name.empty()) plan_.name = key->op;
    entries_.push_back(IdCase{spot, *key, argument});
  }

  // Reads a file and all that it includes. nullptr when it was read before.
  ConfigFile* read_file(const std::string& path, std::string_view text) {
    const std::string normal = std::filesystem::path(path).lexically_normal().string();
    if (by_path_.contains(normal)) return nullptr;
    files_.push_back(read_config(findings_, path, text));
    ConfigFile& config = files_.back();
    by_path_.emplace(normal, &config);
    plan_.files.push_back(path);
    open_.push_back(normal);
    for (const yaml::Node* node : config.includes) read_include(config, *node);
    open_.pop_back();
    return &config;
  }

  void read_include(ConfigFile& config, const yaml::Node& node) {
    const Reader reader(findings_, config.file);
    const auto name = reader.text(node, "include");
    if (!name) return;
    const std::string path = relative_to(config.folder, *name);
    if (const auto begin = std::find(open_.begin(), open_.end(), path); begin != open_.end()) {
      std::string cycle;
      for (auto step = begin; step != open_.end(); ++step) cycle += *step + " -> ";
      return reader.complain(node.mark, "`include` leads back to this file: " + cycle + path,
                             "remove one of the includes");
    }
    const auto known = by_path_.find(path);
    ConfigFile* included = known == by_path_.end() ? nullptr : known->second;
    if (included == nullptr) {
      if (files_.size() >= kMaxFiles) {
        return reader.complain(node.mark, fmt::format("more than {} files", kMaxFiles),
                               "include fewer files");
      }
      const auto text = request_.read(path);
      if (!text.ok()) {
        return reader.complain(node.mark,
                               fmt::format("cannot include {}: {}", quote(path), text.error().what),
                               "paths are relative to the including file");
      }
      included = read_file(path, *text);
    }
    if (included != nullptr) included_[&config].push_back(included);
  }

  // The files whose defaults a file sees, each once, its own last.
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
    // The including file's word counts, then that of the last include.
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
      if (!plan_.budget) plan_.budget = (*file)->budget;
      if (!plan_.profile) plan_.profile = (*file)->profile;
      if (!plan_.gate) plan_.gate = (*file)->gate;
    }
  }

  void read_cases(const ConfigFile& file) {
    if (!cases_read_.insert(&file).second) return;
    Settings defaults;
    for (const ConfigFile* source : with_includes(file)) {
      apply_defaults(*source, catalogue(), findings_, defaults);
    }
    const Reader reader(findings_, file.file, catalogue());
    for (const yaml::Node* node : file.cases) {
      auto entry = read_case(reader, *node, defaults, overrides_.settings, findings_);
      if (!entry) continue;
      entry->folder = file.folder;
      entries_.push_back(*std::move(entry));
    }
  }

  static std::vector<std::string> network_folders(const CaseTemplate& entry) {
    return {relative_to(entry.folder, "networks")};
  }

  void read_networks() {
    for (const Entry& item : entries_) {
      const auto* entry = std::get_if<CaseTemplate>(&item);
      if (entry == nullptr || entry->op != nullptr) continue;
      network_of_[entry] =
          networks_->find(entry->network, network_folders(*entry), entry->network_spot);
    }
  }

  // Before anything is expanded, so that a slip of the pen costs no time.
  bool check_count() {
    std::int64_t total = 0;
    for (const Entry& item : entries_) {
      const auto* entry = std::get_if<CaseTemplate>(&item);
      if (entry == nullptr) continue;
      const NetworkFile* network = entry->op == nullptr ? network_of_[entry] : nullptr;
      if (entry->op == nullptr && network == nullptr) continue;
      const std::int64_t layers =
          network == nullptr ? 0 : static_cast<std::int64_t>(network->definition.layers.size());
      total += count_cases(*entry, layers);
      if (total <= kMaxCases) continue;
      findings_.add(entry->spot, fmt::format("up to here there are more than {} cases", kMaxCases),
                    "vary fewer keys, or use several files");
      return false;
    }
    // The total is an upper bound, so only what is cheap is set aside.
    builder_.reserve(static_cast<std::size_t>(std::min(total, kMaxReserved)));
    return true;
  }

  void expand() {
    for (const Entry& item : entries_) {
      if (const auto* id = std::get_if<IdCase>(&item)) {
        expand_id(*id);
      } else {
        const auto& entry = std::get<CaseTemplate>(item);
        const NetworkFile* network = entry.op == nullptr ? network_of_[&entry] : nullptr;
        if (entry.op != nullptr) expand_operator(entry, catalogue(), findings_, builder_);
        if (network != nullptr) {
          expand_network(entry, *network, *networks_, catalogue(), findings_, builder_);
        }
      }
    }
  }

  void expand_id(const IdCase& id) {
    Settings settings;
    apply_overrides(overrides_.settings, catalogue(), findings_, settings);
    Case result;
    result.key = id.key;
    result.warmup = settings.warmup;
    result.measure = settings.measure;
    result.place = findings_.place(id.spot);
    if (id.key.op != "network") {
      auto problem = problem_of(id.key, catalogue());
      if (!problem.ok()) return findings_.add(id.spot, problem.error().what, problem.error().next);
      result.work = *std::move(problem);
      return builder_.add(std::move(result), id.spot, {});
    }
    const auto segment = parse_network_segment(id.key.parameters);
    if (!segment.ok()) return findings_.add(id.spot, segment.error().what, segment.error().next);
    const NetworkFile* file = networks_->find(segment->name, {"configs/networks"}, id.spot);
    if (file == nullptr) return;
    const BoundNetwork* bound = networks_->bind(*file, *segment, id.key.dtype, id.spot);
    if (bound == nullptr) return;
    result.work = bound->network;
    result.network = bound->planned;
    builder_.add(std::move(result), id.spot, bound->content);
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
      text += sample_method_text(item.measure);
    }
    plan_.hash = content_hash(text);
  }

  const LoadRequest& request_;
  Findings findings_;
  Overrides overrides_;
  std::optional<NetworkStore> networks_;  // as soon as the catalogue is known
  PlanBuilder builder_;
  Plan plan_;
  std::deque<ConfigFile> files_;
  std::map<std::string, ConfigFile*> by_path_;
  std::map<const ConfigFile*, std::vector<const ConfigFile*>> included_;
  std::vector<std::string> open_;  // files whose includes are being read
  std::set<const ConfigFile*> cases_read_;
  std::deque<Entry> entries_;
  std::map<const CaseTemplate*, const NetworkFile*> network_of_;
};

}  // namespace

Result<Plan, std::vector<Diagnostic>> load_plan(const LoadRequest& request) {
  return Loader(request).load();
}

}  // namespace bench
