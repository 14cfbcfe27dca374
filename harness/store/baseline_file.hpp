// SPDX-License-Identifier: Apache-2.0
// One file of the store as text: all accepted runs of one case on one class of machines.
#pragma once

#include "base/result.hpp"
#include "harness/store/record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct BaselineHistory {
  std::string path;
  std::vector<BaselineRecord> records;  // one a run, by epoch, then time
  std::vector<std::string> problems;    // "path:3: damaged record: ...": what was not read, and why

  // The last run of the present epoch; nullptr without any.
  const BaselineRecord* last() const { return records.empty() ? nullptr : &records.back(); }
};

// Where a file lies in a store. Names as store_name() makes them, so that a record that belongs
// elsewhere is told from its own words.
struct StoreFile {
  std::string folder_name;        // of the machine class
  std::string file_name;          // of the case
  std::optional<std::string> id;  // where it is known
};

// A record with its line, which may hold fields of later versions.
struct StoredLine {
  BaselineRecord record;
  std::string text;
};
struct StoredLines {
  std::vector<StoredLine> lines;  // one a run, by epoch, then time
  std::vector<std::string> problems;
  std::size_t repeated = 0;  // lines of runs that another line speaks for
};

// `path` is for messages. A line costs itself alone: one that is damaged, has another schema, or
// another case or machine class than `place` (absent: than the first record's) is a problem. Of
// several lines of one run (a merge of two branches, a run accepted later) the one with the
// highest epoch counts, of these the last one with an anchor, or else the first.
StoredLines parse_baseline_lines(std::string_view text, const std::string& path,
                                 const std::optional<StoreFile>& place);
BaselineHistory parse_baseline_file(std::string_view text, const std::string& path,
                                    const std::optional<StoreFile>& place);

// Whether a text is a file of the store.
bool is_baseline_file(std::string_view text);

}  // namespace bench
