// SPDX-License-Identifier: Apache-2.0
#include "harness/config/load.hpp"

#include "base/characters.hpp"
#include "base/checked.hpp"
#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/config_file.hpp"
#include "harness/config/expand.hpp"
#include "harness/config/known_words.hpp"
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

// Limits the depth of includes and the number of files whose defaults a file inherits.
constexpr std::size_t kMaxFiles = 256;
// Maximum number of cases for which memory is reserved in advance.
constexpr std::int64_t kMaxReserved = 20'000;
// Slashes in a case id without options: it has seven segments.
constexpr auto kMinIdSlashes = 6;

// Whether a file NAME.yaml or NAME.yml is a network and not a configuration: by the keys at the
// start of lines.
bool is_network_file(std::string_view path, std::string_view text) {
  bool has_network = false;
  bool has_layers = false;
  for (std::string_view line = cut_field(text, '\n'); !line.empty() || !text.empty();
       line = cut_field(text, '\n')) {
    if (line.starts_with("cases:")) return false;
    has_network = has_network || line.starts_with("network:");
    has_layers = has_layers || line.starts_with("layers:");
  }
  return has_network && has_layers && (path.ends_with(".yaml") || path.ends_with(".yml"));
}

// Creates a plan for load_plan(). load() may be called once.
class Loader {
 public:
  explicit Loader(const LoadRequest& request) : request_(request), builder_(diagnostics_) {}

  Result<Plan, std::vector<Diagnostic>> load() {
    std::vector<Source> sources;
    for (const std::string& argument : request_.arguments) {
      sources.push_back(read_source(argument));
    }
    if (!load_plugins()) return diagnostics_.list();
    networks_.emplace(request_, registry(), diagnostics_);
    read_overrides(request_.overrides, registry(), diagnostics_, overrides_);
    for (const Source& source : sources) read_argument(source);
    read_networks();
    check_overrides();
    if (!has_too_many_cases_ && check_count()) expand();
    plan_.cases = std::move(builder_).take();
    select_cases(request_.filters, request_.devices, diagnostics_, plan_.cases);
    if (diagnostics_.count() > 0) return diagnostics_.list();
    complete_plan();
    return std::move(plan_);
  }

 private:
  // An argument and the file that it names. Files are read before case ids, since they name plugins
  // whose operators ids may use.
  struct Source {
    std::string argument;
    std::optional<Error> read_error;  // why the argument cannot be read as a file
    ConfigFile* config = nullptr;     // nullptr if it is not a file or was read before
  };

  Source read_source(const std::string& argument) {
    const auto text = request_.read(argument);
    if (!text.ok()) return {argument, text.error(), nullptr};
    return {argument, std::nullopt, read_file(argument, *text)};
  }

  void read_argument(const Source& source) {
    const std::string& argument = source.argument;
    if (!source.read_error) {
      if (source.config != nullptr) read_root(*source.config);
    } else if (looks_like_id(argument, registry()) ||
               std::count(argument.begin(), argument.end(), '/') >= kMinIdSlashes) {
      read_id(argument);
    } else {
      report_word(argument, source.read_error->what);
    }
  }

  // Returns the names of the files NAME.yaml in the folders, without the suffix.
  std::vector<std::string> list_yaml_names(const std::vector<std::string>& folders) const {
    constexpr std::string_view kSuffix = ".yaml";
    std::set<std::string> names;
    for (const std::string& folder : folders) {
      if (!request_.list) break;
      for (const std::string& file : request_.list(folder)) {
        if (file.ends_with(kSuffix)) names.insert(file.substr(0, file.size() - kSuffix.size()));
      }
    }
    return {names.begin(), names.end()};
  }

  KnownWords known_words() const {
    KnownWords words{&registry(), list_yaml_names(request_.network_folders), {}};
    for (const std::string& folder : request_.config_folders) {
      if (words.suites.empty()) words.suites = list_yaml_names({folder});
    }
    return words;
  }

  void report_word(const std::string& argument, const std::string& read_error) {
    const KnownWords words = known_words();
    diagnostics_.add_word(diagnostics_.add_argument(argument),
                          answer_word(argument, read_error, words),
                          list_known_words(argument, words));
  }

  void report_id(const std::string& argument, int number, Error error) {
    diagnostics_.add_word(
        number,
        {std::move(error.what), std::move(error.next), example_for_id(argument, known_words())},
        {});
  }

  const ops::OperatorRegistry& registry() const {
    return plan_.registry ? *plan_.registry : ops::built_in_operators();
  }

  // Loads each plugin once. Returns false after reporting an error.
  bool load_plugins() {
    std::vector<FileLocation> locations;
    const auto add = [&](const std::string& path, FileLocation location) {
      const auto& plugins = plan_.plugins;
      if (std::find(plugins.begin(), plugins.end(), path) != plugins.end()) return;
      plan_.plugins.push_back(path);
      locations.push_back(location);
    };
    for (const std::string& path : request_.plugins) {
      add(resolve_path(".", path), {diagnostics_.add_argument("--plugin " + path), {}});
    }
    for (const ConfigFile& file : files_) {
      for (const ConfigFile::Plugin& plugin : file.plugins) add(plugin.path, plugin.location);
    }
    if (plan_.plugins.empty() || !request_.load_plugins) return true;
    auto loaded = request_.load_plugins(plan_.plugins);
    if (loaded.ok()) {
      plan_.registry = *std::move(loaded);
      return true;
    }
    const Error& error = loaded.error();
    const auto faulty = std::find(plan_.plugins.begin(), plan_.plugins.end(), error.where);
    const auto index = faulty == plan_.plugins.end() ? 0 : faulty - plan_.plugins.begin();
    const std::string name = error.where.empty() ? "" : fmt::format("plugin {}: ", error.where);
    diagnostics_.add(locations[static_cast<std::size_t>(index)], name + error.what, error.next);
    return false;
  }

  void read_id(const std::string& argument) {
    const FileLocation location{diagnostics_.add_argument(argument), {0, 0}};
    const auto key = parse_id(argument, registry());
    if (!key.ok()) return report_id(argument, location.file, key.error());
    if (plan_.name.empty()) plan_.name = key->op;
    auto entry = template_from_key(*key, location, registry());
    if (!entry.ok()) return diagnostics_.add(location, entry.error().what, entry.error().next);
    apply_overrides(overrides_.settings, registry(), diagnostics_, entry->settings);
    entries_.push_back(*std::move(entry));
  }

  // Reads a file and all its includes. Returns nullptr if the file was read before, or if earlier
  // files have exceeded the limit of check_value_count().
  ConfigFile* read_file(const std::string& path, std::string_view text) {
    const std::string normalised = std::filesystem::path(path).lexically_normal().string();
    if (by_path_.contains(normalised) || value_count_ > yaml::kMaxNodes) return nullptr;
    files_.push_back(parse_file(path, text));
    ConfigFile& config = files_.back();
    by_path_.emplace(normalised, &config);
    if (!check_value_count(config)) return &config;
    plan_.files.push_back(path);
    include_stack_.push_back(normalised);
    for (const yaml::Node* node : config.includes) read_include(config, *node);
    include_stack_.pop_back();
    return &config;
  }

  // Makes the configuration of a network file that is given in place of one: its only case is the
  // network. The store reads the file itself.
  ConfigFile make_network_config(const std::string& path) {
    const std::filesystem::path file(path);
    const std::string text = fmt::format("version: 1\ncases:\n  - network: {}\n",
                                         yaml::format_scalar(file.stem().string()));
    ConfigFile config = read_config(diagnostics_, path, text);
    config.network_folder = config.folder;
    return config;
  }

  // Parses a configuration, or a file of another format. After an error, the result has no content.
  ConfigFile parse_file(const std::string& path, std::string_view text) {
    auto converted = request_.convert ? request_.convert(path, text) : std::nullopt;
    if (!converted && is_network_file(path, text)) return make_network_config(path);
    if (!converted) return read_config(diagnostics_, path, text);
    if (!converted->ok()) {
      const Error& error = converted->error();
      ConfigFile failed;
      failed.path = path;
      failed.file = diagnostics_.add_file(error.where.empty() ? path : error.where);
      diagnostics_.add({failed.file, {}}, error.what, error.next);
      return failed;
    }
    ConfigFile config = read_config(diagnostics_, path, (*converted)->text);
    diagnostics_.set_origins(config.file, std::move((*converted)->origins));
    return config;
  }

  // Applies the limit of one file to the sum of all files, since all files stay in memory until the
  // last is read. Returns false after reporting an error.
  bool check_value_count(const ConfigFile& config) {
    if (config.document.has_root()) value_count_ += config.document.root().expanded_count;
    if (value_count_ <= yaml::kMaxNodes) return true;
    diagnostics_.add({config.file, {1, 1}},
                     fmt::format("the files up to here have more than {} values",
                                 format_with_commas(yaml::kMaxNodes)),
                     "give or include fewer files");
    return false;
  }

  void read_include(ConfigFile& config, const yaml::Node& node) {
    const Reader reader(diagnostics_, config.file);
    const auto name = reader.text(node, "include");
    if (!name) return;
    const std::string path = resolve_path(config.folder, *name);
    if (const auto begin = std::find(include_stack_.begin(), include_stack_.end(), path);
        begin != include_stack_.end()) {
      std::string cycle;
      for (auto step = begin; step != include_stack_.end(); ++step) cycle += *step + " -> ";
      return reader.report_error(node.location,
                                 "`include` leads back to this file: " + cycle + path,
                                 "remove one of the includes");
    }
    const auto earlier = by_path_.find(path);
    ConfigFile* included = earlier == by_path_.end() ? nullptr : earlier->second;
    if (included == nullptr) {
      if (files_.size() >= kMaxFiles) {
        return reader.report_error(node.location, fmt::format("more than {} files", kMaxFiles),
                                   "include fewer files");
      }
      const auto text = request_.read(path);
      if (!text.ok()) {
        return reader.report_error(
            node.location, fmt::format("cannot include {}: {}", quote(path), text.error().what),
            "paths are relative to the including file");
      }
      included = read_file(path, *text);
    }
    if (included != nullptr) includes_[&config].push_back(included);
  }

  // Appends all files that a file includes, directly or indirectly, each once. Then appends the
  // file.
  void append_with_includes(const ConfigFile& config, std::set<const ConfigFile*>& seen,
                            std::vector<const ConfigFile*>& order) const {
    if (!seen.insert(&config).second) return;
    if (const auto entry = includes_.find(&config); entry != includes_.end()) {
      for (const ConfigFile* included : entry->second) append_with_includes(*included, seen, order);
    }
    order.push_back(&config);
  }

  // Returns the files whose defaults a file inherits, in the order of inheritance, and the file
  // itself.
  std::vector<const ConfigFile*> list_with_includes(const ConfigFile& config) const {
    std::set<const ConfigFile*> seen;
    std::vector<const ConfigFile*> order;
    append_with_includes(config, seen, order);
    return order;
  }

  void read_root(const ConfigFile& root) {
    const std::vector<const ConfigFile*> files = list_with_includes(root);
    const bool has_cases = std::any_of(files.begin(), files.end(),
                                       [](const ConfigFile* file) { return file->has_cases; });
    if (!has_cases && root.document.has_root() &&
        root.document.root().kind == yaml::Kind::mapping) {
      diagnostics_.add({root.file, {1, 1}}, "there are no cases",
                       "add `cases: [{ op: gemm, m: 64, n: 64, k: 64 }]`, for example");
    }
    for (const ConfigFile* file : files) read_cases(*file);
    if (plan_.name.empty()) {
      const std::string stem = std::filesystem::path(root.path).stem().string();
      plan_.name = root.name.value_or(stem == "-" ? "stdin" : stem);
    }
    // The including file takes precedence over its includes, and later includes over earlier ones.
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
      if (!plan_.budget) plan_.budget = (*file)->budget;
      if (!plan_.profile) plan_.profile = (*file)->profile;
      if (!plan_.gate) plan_.gate = (*file)->gate;
    }
  }

  void read_cases(const ConfigFile& file) {
    if (!cases_read_.insert(&file).second || has_too_many_cases_) return;
    Settings defaults;
    for (const ConfigFile* source : list_with_includes(file)) {
      apply_defaults(*source, registry(), diagnostics_, defaults);
    }
    const Reader reader(diagnostics_, file.file, registry());
    for (const yaml::Node* node : file.cases) {
      auto entry = read_case(reader, *node, defaults, overrides_.settings, diagnostics_);
      if (!entry) continue;
      entry->folder = file.folder;
      entry->network_folder = file.network_folder;
      // Entries with long lists use much memory, so reading stops at the limit.
      min_case_count_ += count_cases(*entry, 1);
      entries_.push_back(*std::move(entry));
      has_too_many_cases_ = !check_case_limit(entries_.back(), min_case_count_);
      if (has_too_many_cases_) return;
    }
  }

  static std::vector<std::string> network_folders(const CaseTemplate& entry) {
    return {entry.network_folder.value_or(resolve_path(entry.folder, "networks"))};
  }

  void read_networks() {
    for (const CaseTemplate& entry : entries_) {
      if (entry.op != nullptr) continue;
      networks_by_entry_[&entry] =
          networks_->find(entry.network, network_folders(entry), entry.network_location);
    }
  }

  // Reports values of --set that apply to no entry.
  void check_overrides() {
    if (diagnostics_.count() > 0) return;
    for (const Override& setting : overrides_.settings) {
      const bool is_used = std::ranges::any_of(
          entries_, [&](const CaseTemplate& entry) { return accepts_override(entry, setting); });
      if (is_used) continue;
      Error error = make_unused_override_error(setting);
      diagnostics_.add({setting.file, {}}, std::move(error.what), std::move(error.next));
    }
  }

  // Checks the number of cases before any expansion, so that a typing error costs neither time nor
  // memory. Returns false after reporting an error.
  bool check_count() {
    Checked total = 0;
    for (const CaseTemplate& entry : entries_) {
      const NetworkFile* network = entry.op == nullptr ? networks_by_entry_[&entry] : nullptr;
      if (entry.op == nullptr && network == nullptr) continue;
      total += count_cases(entry, network == nullptr ? 0 : std::ssize(network->definition.layers));
      if (!check_case_limit(entry, total)) return false;
    }
    // The total is an upper bound that may be far too large, so kMaxReserved limits the
    // reservation.
    builder_.reserve(static_cast<std::size_t>(std::min(*total.value(), kMaxReserved)));
    return true;
  }

  bool check_case_limit(const CaseTemplate& entry, Checked total) {
    if (total.value() && *total.value() <= kMaxCases) return true;
    diagnostics_.add(
        entry.location,
        fmt::format("there are {} cases up to here, the limit is {}",
                    total.value() ? format_with_commas(*total.value()) : "more than 10^18",
                    format_with_commas(kMaxCases)),
        "vary fewer keys, or split the configuration");
    return false;
  }

  void expand() {
    // Each entry is removed after its expansion, which frees memory for the cases.
    for (; !entries_.empty(); entries_.pop_front()) {
      const CaseTemplate& entry = entries_.front();
      if (entry.op != nullptr) {
        expand_operator(entry, registry(), diagnostics_, builder_);
      } else if (const NetworkFile* network = networks_by_entry_[&entry]) {
        expand_network(entry, *network, *networks_, registry(), diagnostics_, builder_);
      }
    }
  }

  void complete_plan() {
    if (overrides_.budget) plan_.budget = overrides_.budget;
    std::string text;
    for (const Case& item : plan_.cases) {
      text += fmt::format("{} {}{} {}\n", item.id, item.hash,
                          format_for_plan_hash(item, PlanHash::always), item.memberships.size());
      text += format_for_plan_hash(item, PlanHash::unless_default);
    }
    plan_.hash = content_hash(text);
  }

  const LoadRequest& request_;
  Diagnostics diagnostics_;
  Overrides overrides_;
  std::optional<NetworkStore> networks_;  // created after the plugins are loaded
  PlanBuilder builder_;
  Plan plan_;
  std::deque<ConfigFile> files_;
  std::map<std::string, ConfigFile*> by_path_;
  std::map<const ConfigFile*, std::vector<const ConfigFile*>> includes_;
  std::int64_t value_count_ = 0;            // number of YAML values in all files
  std::vector<std::string> include_stack_;  // files whose includes are being read, outermost first
  std::set<const ConfigFile*> cases_read_;
  std::deque<CaseTemplate> entries_;
  // Sum of count_cases() over all entries read, with one layer per network. check_count() later
  // counts all layers.
  Checked min_case_count_ = 0;
  bool has_too_many_cases_ = false;  // if true, the loader reads no further entries
  std::map<const CaseTemplate*, const NetworkFile*> networks_by_entry_;
};

}  // namespace

Result<Plan, std::vector<Diagnostic>> load_plan(const LoadRequest& request) {
  return Loader(request).load();
}

}  // namespace bench
