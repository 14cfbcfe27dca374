// SPDX-License-Identifier: Apache-2.0
#include "harness/store/baseline_file.hpp"

#include "base/lines.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace bench {

namespace {

constexpr std::size_t kLongNamePrefix = 160;  // bytes that a cut name keeps

constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

bool is_underscore_or_slash(char c) { return c == '_' || c == '/'; }

// Returns whether store_name() keeps the character at `i` unchanged.
bool is_plain(std::string_view text, std::size_t i) {
  if (kPlain.find(text[i]) == std::string_view::npos) return false;
  if (text[i] == '.') return i > 0;
  if (text[i] != '_') return true;
  const bool follows_separator = i > 0 && is_underscore_or_slash(text[i - 1]);
  const bool precedes_separator = i + 1 < text.size() && is_underscore_or_slash(text[i + 1]);
  return !follows_separator && !precedes_separator;
}

}  // namespace

std::string store_name(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      name += "__";
    } else if (is_plain(text, i)) {
      name += text[i];
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(text[i]));
    }
  }
  if (name.size() <= kMaxPlainName) return name;
  return fmt::format("{}~{}", name.substr(0, kLongNamePrefix), content_hash(text));
}

std::string store_file_name(std::string_view id) {
  return store_name(id) + std::string(kStoreSuffix);
}

namespace {

// Maximum number of reported problems, for a binary file, in which every line is bad.
constexpr std::size_t kMaxProblems = 20;

// Collects the records of a file and the problems of its bad lines.
class LineCollector {
 public:
  LineCollector(const std::string& path, const std::optional<StoreFile>& location)
      : path_(path), location_(location) {
    if (location && location->id) id_ = location->id;
  }

  void add_line(std::string_view line, std::size_t number) {
    if (is_blank(line)) return;
    auto record = baseline_from_json_line(line);
    if (!record.ok()) return add_problem(number, record.error());
    if (const std::string reason = find_misplacement(*record); !reason.empty())
      return add_problem(number, {reason, "", "move it to the file that it belongs to"});
    add_record({std::move(*record), std::string(line), number});
  }

  StoredLines finish() {
    if (unreported_ > 0)
      result_.problems.push_back(fmt::format("{}: {} more lines refused", path_, unreported_));
    std::ranges::sort(result_.lines, {}, [](const StoredLine& line) {
      return std::pair(line.record.epoch, line.number);
    });
    return std::move(result_);
  }

 private:
  void add_problem(std::size_t number, const Error& error) {
    if (result_.problems.size() == kMaxProblems) {
      ++unreported_;
      return;
    }
    std::string text =
        Error{"record refused: " + error.what, fmt::format("{}:{}", path_, number), error.next}
            .message();
    // Text from an untrusted file may be printed on a terminal.
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    result_.problems.push_back(std::move(text));
  }

  // Returns why the record does not belong in this file; empty if it does.
  std::string find_misplacement(const BaselineRecord& record) {
    const std::string& machine_class = record.environment.machine_class;
    if (location_ && location_->folder_name != store_name(machine_class))
      return fmt::format("machine_class {} does not belong here", quote(machine_class));
    if (location_ && location_->file_name != store_file_name(record.measured.id))
      return fmt::format("case {} does not belong here", quote(record.measured.id));
    if (!id_) id_ = record.measured.id;
    if (!machine_class_) machine_class_ = machine_class;
    if (record.measured.id != *id_)
      return fmt::format("case {} does not belong here", quote(record.measured.id));
    if (machine_class != *machine_class_)
      return fmt::format("machine_class {} does not belong here", quote(machine_class));
    return "";
  }

  // Adds the line, unless another line of its run counts.
  void add_record(StoredLine line) {
    const auto [entry, is_new] = runs_.try_emplace(line.record.run_id, result_.lines.size());
    if (is_new) {
      result_.lines.push_back(std::move(line));
      return;
    }
    ++result_.repeated;
    StoredLine& stored = result_.lines[entry->second];
    if (line.record.epoch < stored.record.epoch) return;
    if (line.record.epoch == stored.record.epoch) {
      if (!line.record.anchor) return;
      line.number = stored.number;
    }
    stored = std::move(line);
  }

  const std::string& path_;
  const std::optional<StoreFile>& location_;
  std::optional<std::string> id_, machine_class_;
  StoredLines result_;
  std::unordered_map<std::string, std::size_t> runs_;  // run_id -> index into lines
  std::size_t unreported_ = 0;                         // number of bad lines beyond kMaxProblems
};

}  // namespace

StoredLines parse_baseline_lines(std::string_view text, const std::string& path,
                                 const std::optional<StoreFile>& location) {
  LineCollector collector(path, location);
  for (const NumberedLine& line : Lines(text)) collector.add_line(line.text, line.number);
  return collector.finish();
}

BaselineHistory parse_baseline_file(std::string_view text, const std::string& path,
                                    const std::optional<StoreFile>& location) {
  StoredLines parsed = parse_baseline_lines(text, path, location);
  BaselineHistory history{path, {}, std::move(parsed.problems)};
  for (StoredLine& line : parsed.lines) history.records.push_back(std::move(line.record));
  return history;
}

bool is_baseline_file(std::string_view text) {
  return text.find("\"bench.baseline/") != std::string_view::npos &&
         text.find("\"record\":\"run\"") == std::string_view::npos;
}

}  // namespace bench
