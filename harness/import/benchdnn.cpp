// SPDX-License-Identifier: Apache-2.0
// Reads benchdnn's input files: options that stay until they change, and the problems that they
// apply to.
#include "base/characters.hpp"
#include "base/checked.hpp"
#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "harness/import/benchdnn_driver.hpp"
#include "harness/import/benchdnn_text.hpp"
#include "harness/import/kind.hpp"
#include "harness/import/suite_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace bench {
namespace {

// Files include each other up to this depth; those of oneDNN up to 3.
constexpr std::size_t kMaxIncludeDepth = 16;
// Files of one import with their includes; all inputs of oneDNN are about 1100.
constexpr std::size_t kMaxIncludedFiles = 4096;
constexpr std::string_view kOption = "--";
constexpr std::string_view kVerbosity = "-v";
constexpr std::string_view kReset = "--reset";
constexpr std::string_view kBatch = "--batch=";

// The values of a driver's options, and those that cannot be expressed.
struct OptionState {
  std::map<std::string_view, std::vector<std::string>> values;
  std::map<std::string, std::string> unknown;  // why, by option
};

std::vector<BenchdnnOption> list_options(const BenchdnnDriver& driver) {
  std::vector<BenchdnnOption> options(driver.options.begin(), driver.options.end());
  const auto common = common_benchdnn_options();
  options.insert(options.end(), common.begin(), common.end());
  return options;
}

bool is_driver_name(std::string_view name) {
  const auto others = other_benchdnn_drivers();
  return find_benchdnn_driver(name) != nullptr || std::ranges::find(others, name) != others.end();
}

// Returns the driver that the folder of a file, or a word of its name, states: "inputs/conv/...",
// "harness_conv_f32". Empty if there is none.
std::string find_driver_in_path(const std::string& path) {
  const std::filesystem::path file(path);
  std::string driver;
  for (const auto& part : file.parent_path()) {
    if (is_driver_name(part.string())) driver = part.string();
  }
  const std::string name = file.filename().string();
  for (std::string_view rest = name; driver.empty() && !rest.empty();) {
    const auto end =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_letter_or_digit) - rest.begin());
    if (is_driver_name(rest.substr(0, end))) driver = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return driver;
}

// Whether a word can be a descriptor: "ic64ih56", "2x3:3x4".
bool looks_like_descriptor(std::string_view word) {
  const auto letters =
      static_cast<std::size_t>(std::ranges::find_if_not(word, is_lower) - word.begin());
  if (letters > 3 || letters == word.size() || !is_digit(word[letters])) return false;
  if (word.ends_with(':')) return false;  // a key of YAML
  if (letters > 0) return true;
  const std::size_t sign = word.find_first_not_of("0123456789");
  return sign != std::string_view::npos && (word[sign] == 'x' || word[sign] == ':');
}

class BenchdnnReader {
 public:
  explicit BenchdnnReader(const ImportRequest& request) : request_(request) {}

  Result<Imported> read() {
    for (const ImportFile& file : request_.files) {
      driver_ = request_.driver.empty() ? find_driver_in_path(file.path) : request_.driver;
      states_.clear();
      BENCH_RETURN_IF_ERROR(read_file(file.path, file.text));
    }
    return std::move(imported_);
  }

 private:
  struct Line {
    ImportPlace place;
    std::string text;
  };

  Status read_file(const std::string& path, std::string_view text) {
    if (imported_.files.size() >= kMaxIncludedFiles)
      return Error{fmt::format("more than {} files", kMaxIncludedFiles), path,
                   "import fewer files at once"};
    const std::size_t file = imported_.files.size();
    imported_.files.push_back(path);
    folders_.insert(std::filesystem::path(path).parent_path().string());
    stack_.push_back(std::filesystem::path(path).lexically_normal().string());
    for (const BenchdnnWord& word : split_benchdnn_words(text))
      BENCH_RETURN_IF_ERROR(read_word({{file, word.line}, word.text}));
    stack_.pop_back();
    return Done{};
  }

  Status read_word(const Line& line) {
    const std::string_view word = line.text;
    if (word.starts_with(kVerbosity)) return Done{};
    if (word.starts_with(kBatch)) return include(line, std::string(word.substr(kBatch.size())));
    if (!word.starts_with(kOption)) return read_problem(line);
    if (is_driver_name(word.substr(kOption.size()))) {
      driver_ = word.substr(kOption.size());
    } else if (word == kReset) {
      states_.erase(driver_);
    } else {
      read_option(word.substr(kOption.size()));
    }
    return Done{};
  }

  // Reads the file as named, else from the folders of the files so far.
  Status include(const Line& line, const std::string& name) {
    if (stack_.size() >= kMaxIncludeDepth)
      return refuse(line,
                    fmt::format("files include each other more than {} deep", kMaxIncludeDepth));
    std::vector<std::string> paths = {name};
    for (const std::string& folder : folders_)
      paths.push_back((std::filesystem::path(folder) / name).string());
    for (const std::string& path : paths) {
      if (std::ranges::find(stack_, std::filesystem::path(path).lexically_normal().string()) !=
          stack_.end())
        return refuse(line, "the file includes itself");
      const auto text = request_.read ? request_.read(path) : Error{"not found", path, {}};
      if (text.ok()) return read_file(path, *text);
    }
    return refuse(line, "the file cannot be read");
  }

  OptionState& state() {
    const auto [found, is_new] = states_.try_emplace(driver_);
    const BenchdnnDriver* driver = find_benchdnn_driver(driver_);
    if (!is_new || driver == nullptr) return found->second;
    for (const BenchdnnOption& option : list_options(*driver))
      found->second.values[option.name] = {std::string(option.fallback)};
    return found->second;
  }

  void read_option(std::string_view option) {
    std::string_view rest = option;
    const std::string name(cut_field(rest, '='));
    if (is_benchdnn_run_option(name)) return;
    const BenchdnnDriver* driver = find_benchdnn_driver(driver_);
    if (driver == nullptr) return;
    const std::vector<BenchdnnOption> options = list_options(*driver);
    // The older spelling of one option.
    const std::string_view spelled = name == "bia_dt" ? "bia-dt" : std::string_view(name);
    const auto row = std::ranges::find(options, spelled, &BenchdnnOption::name);
    if (row == options.end()) {
      state().unknown[name] = fmt::format("cases do not have --{}", name);
      return;
    }
    std::vector<std::string> values;
    do {
      values.emplace_back(cut_field(rest, ','));
      if (values.back().empty()) values.back() = row->fallback;
    } while (!rest.empty());
    state().values[row->name] = std::move(values);
  }

  Status refuse(const Line& line, std::string reason) {
    auto& refused = imported_.refused;
    const bool repeats = !refused.empty() && refused.back().place == line.place &&
                         refused.back().text == line.text && refused.back().reason == reason;
    if (repeats) {
      ++refused.back().count;
    } else {
      refused.push_back({line.place, line.text, std::move(reason)});
    }
    return count_problem(line);
  }

  Status count_problem(const Line& line) {
    if (++count_ <= kMaxImportedProblems) return Done{};
    return Error{fmt::format("there are more than {} problems up to here", kMaxImportedProblems),
                 imported_.place_text(line.place),
                 "import fewer files, or files with fewer combinations"};
  }

  Status read_problem(const Line& line) {
    const BenchdnnDriver* driver = find_benchdnn_driver(driver_);
    if (driver_.empty())
      return Error{fmt::format("the driver of {} is not known", quote(line.text)),
                   imported_.place_text(line.place),
                   "give --driver NAME, or keep the file in a folder `conv`, `matmul`, ..."};
    if (driver == nullptr)
      return refuse(line, fmt::format("there is no operator for the driver {}", driver_));
    const OptionState& options = state();
    if (!options.unknown.empty()) return refuse(line, options.unknown.begin()->second);
    Checked combinations = 1;
    for (const auto& [name, values] : options.values) combinations *= std::ssize(values);
    if (combinations.value().value_or(kMaxImportedProblems + 1) >
        std::int64_t{kMaxImportedProblems})
      return Error{"the options have too many combinations", imported_.place_text(line.place),
                   "give fewer values"};
    return read_combinations(line, *driver, options);
  }

  // Reads the problem with each combination of values; the option that the driver names last varies
  // fastest.
  Status read_combinations(const Line& line, const BenchdnnDriver& driver,
                           const OptionState& state) {
    const std::vector<BenchdnnOption> options = list_options(driver);
    std::vector<std::size_t> chosen(options.size(), 0);
    while (true) {
      BenchdnnValues values;
      for (std::size_t i = 0; i < options.size(); ++i)
        values.set(options[i].name, state.values.at(options[i].name)[chosen[i]]);
      BENCH_RETURN_IF_ERROR(read_case(line, driver, values));
      std::size_t i = options.size();
      while (i > 0 && ++chosen[i - 1] == state.values.at(options[i - 1].name).size())
        chosen[--i] = 0;
      if (i == 0) return Done{};
    }
  }

  Status read_case(const Line& line, const BenchdnnDriver& driver, const BenchdnnValues& values) {
    if (Status status = check_common_benchdnn_options(driver, values); !status)
      return refuse(line, status.error().what);
    auto request = driver.request(line.text, values);
    if (!request.ok()) return refuse(line, request.error().message());
    const auto problem = ops::make_problem(*std::move(request));
    if (!problem.ok()) return refuse(line, problem.error().message());
    imported_.cases.push_back({problem->op, suite_fields(*problem), line.place, line.text});
    return count_problem(line);
  }

  const ImportRequest& request_;
  Imported imported_;
  std::string driver_;
  std::map<std::string, OptionState> states_;  // by driver
  std::set<std::string> folders_;              // folders of the files so far
  std::vector<std::string> stack_;             // files whose includes are being read
  std::size_t count_ = 0;
};

}  // namespace

bool is_benchdnn_file(std::string_view path, std::string_view text) {
  if (path.ends_with(".json")) return false;
  const auto words = split_benchdnn_words(text);
  if (words.empty()) return false;
  const std::string& first = words.front().text;
  // "---" begins a YAML document, and "- op:" a list.
  const bool is_option = first.size() > kOption.size() && first.starts_with(kOption) &&
                         is_letter(first[kOption.size()]);
  return is_option || looks_like_descriptor(first);
}

Result<Imported> read_benchdnn(const ImportRequest& request) {
  if (!request.driver.empty() && !is_driver_name(request.driver)) {
    std::vector<std::string_view> names;
    for (const BenchdnnDriver& driver : benchdnn_drivers()) names.push_back(driver.name);
    return Error{fmt::format("benchdnn has no driver {}", quote(request.driver)), "--driver",
                 expectation(request.driver, names)};
  }
  return BenchdnnReader(request).read();
}

}  // namespace bench
