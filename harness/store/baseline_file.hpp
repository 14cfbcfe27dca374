// SPDX-License-Identifier: Apache-2.0
// One file of the store as text: all accepted runs of one case on one machine class.
#pragma once

#include "base/result.hpp"
#include "harness/store/record.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Converts case ids and machine classes to names of files and folders. Both may come from untrusted
// files. No text gives a name outside its folder, and no two short texts give the same name. (For
// long texts, a reader compares the id itself.)

inline constexpr std::size_t kMaxPlainName = 200;  // bytes; file systems allow 255

// Returns the name. `/` becomes `__`. These characters become %XX: all except letters, digits, `.`,
// `_`, `+` and `-`; a leading `.`; and a `_` next to another `_` or a `/`. A name longer than
// kMaxPlainName is cut and ends in `~` and a hash of the text. Empty only for an empty text.
std::string store_name(std::string_view text);

inline constexpr std::string_view kStoreSuffix = ".jsonl";
// Returns store_name() of a case id plus kStoreSuffix.
std::string store_file_name(std::string_view id);

struct BaselineHistory {
  std::string path;
  std::vector<BaselineRecord> records;  // one per run, by epoch, then time
  std::vector<std::string> problems;    // "path:3: record refused: ...": what was not read, and why

  // Returns the last run of the present epoch; nullptr if there are no runs.
  const BaselineRecord* last() const { return records.empty() ? nullptr : &records.back(); }
};

// The location of a file in a store. store_name() creates the names. So the fields of a record show
// whether it is in the wrong file.
struct StoreFile {
  std::string folder_name;        // name of the machine class
  std::string file_name;          // name of the case
  std::optional<std::string> id;  // if known
};

// A record with its line, which may contain fields of later versions.
struct StoredLine {
  BaselineRecord record;
  std::string text;
};
struct StoredLines {
  std::vector<StoredLine> lines;  // one per run, by epoch, then time
  std::vector<std::string> problems;
  std::size_t repeated = 0;  // lines superseded by another line of the same run
};

// Parses the lines of a file; `path` is for messages. A bad line gives one problem and does not
// affect others. A line is bad if it is malformed, has another schema, or belongs to another case
// or machine class than `place`. Without `place`, the first record sets case and machine class.
// Several lines of one run come from a merge of two branches or a later acceptance. Of these, the
// line with the highest epoch counts. Within that epoch, the last one with an anchor counts, or
// else the first one.
StoredLines parse_baseline_lines(std::string_view text, const std::string& path,
                                 const std::optional<StoreFile>& place);
BaselineHistory parse_baseline_file(std::string_view text, const std::string& path,
                                    const std::optional<StoreFile>& place);

// Whether the text looks like a file of the store.
bool is_baseline_file(std::string_view text);

}  // namespace bench
