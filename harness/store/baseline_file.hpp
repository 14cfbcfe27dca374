// SPDX-License-Identifier: Apache-2.0
// A file of the store: its name, and its text with all accepted runs of one case on one machine
// class.
#pragma once

#include "base/result.hpp"
#include "harness/store/record.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Maximum length in bytes of a name that is not cut; file systems permit 255
inline constexpr std::size_t kMaxPlainName = 200;

// Converts a case id or a machine class to the name of a file or folder. The text may come from an
// untrusted file: no text gives a name outside its folder, and no two short texts give the same
// name. (For long texts, the parser compares the id itself.) The result is empty only for an empty
// text.
// - `/` becomes `__`.
// - %XX replaces characters other than letters, digits, `.`, `_`, `+` and `-`, a leading `.`, and
//   a `_` next to another `_` or a `/`.
// - A name longer than kMaxPlainName is cut and ends in `~` and a hash of the text.
std::string store_name(std::string_view text);

inline constexpr std::string_view kStoreSuffix = ".jsonl";
// Returns store_name() of a case id with kStoreSuffix.
std::string store_file_name(std::string_view id);

struct BaselineHistory {
  std::string path;
  std::vector<BaselineRecord> records;  // one per run, by epoch, then in the order of saving
  std::vector<std::string> problems;    // bad lines and why: "path:3: record refused: ..."

  // Returns the last run of the current epoch; nullptr if there are no runs.
  const BaselineRecord* last() const { return records.empty() ? nullptr : &records.back(); }
};

// The location of a file in a store. store_name() derives both names from fields of the records, so
// the parser detects a record in the wrong file.
struct StoreFile {
  std::string folder_name;        // store_name() of the machine class
  std::string file_name;          // store_file_name() of the case
  std::optional<std::string> id;  // case id, if the caller knows it
};

// A record and its original line, which may contain fields of later versions.
struct StoredLine {
  BaselineRecord record;
  std::string text;
  std::size_t number = 0;  // number of the first line of this run in this epoch
};
struct StoredLines {
  std::vector<StoredLine> lines;  // one per run, by epoch, then by number
  std::vector<std::string> problems;
  std::size_t repeated = 0;  // number of lines superseded by another line of the same run
};

// Parses the lines of a file; `path` is for messages. A bad line gives one problem and does not
// affect the others. A line is bad if it is malformed, has another schema, or belongs to another
// case or machine class than `location`. If `location` is nullopt, the first record sets case and
// machine class.
// A file has several lines of one run after a merge of two branches, or if the run was accepted
// again. Of these, only the line with the highest epoch counts. Within this epoch, the last line
// with an anchor counts, or else the first line.
// Runs of an epoch are in the order in which they were saved, which is the order of their lines.
// Their times do not order them, because the clock of a machine may be wrong.
StoredLines parse_baseline_lines(std::string_view text, const std::string& path,
                                 const std::optional<StoreFile>& location);
BaselineHistory parse_baseline_file(std::string_view text, const std::string& path,
                                    const std::optional<StoreFile>& location);

// Returns whether the text looks like a file of the store: it names the schema of baselines and
// contains no run record.
bool is_baseline_file(std::string_view text);

}  // namespace bench
