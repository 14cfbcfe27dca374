// SPDX-License-Identifier: Apache-2.0
// The store: a folder with one file of accepted runs for each machine class and case,
// FOLDER/MACHINE_CLASS/ID.jsonl. Files are only appended to, a line a run, so that git merges them
// (merge=union) and two writers at the same time are safe. docs/baselines.md
#pragma once

#include "base/result.hpp"
#include "harness/result/quiet.hpp"
#include "harness/store/baseline_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::size_t kRunsAnEpoch = 30;  // that prune keeps: what 3.5 of the design needs
inline constexpr std::string_view kDefaultStore = "baselines";

enum class EpochWish {
  present,  // the run joins those before it
  next,     // the level changed, and that is right: the centre restarts, the spread is carried over
};

struct Appended {
  // known: the store had that already; refused: the present epoch holds something else.
  enum class Result { appended, known, refused };
  Result result = Result::appended;
  std::string reason;  // when refused
  std::string path;
  std::int64_t epoch = 0;
  std::vector<std::string> problems;  // of lines that stood there before
};

struct Pruned {
  std::string path;
  std::size_t kept = 0, dropped = 0;  // runs
};
enum class Damaged { refuse, drop };

// Nothing is cached: each call reads what is there. Errors name the file. Links are refused: a
// store comes with a checkout, and must not lead out of it.
class BaselineStore {
 public:
  explicit BaselineStore(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  bool holds(std::string_view machine_class) const;
  std::string path_of(const StoreFile& file) const;

  static StoreFile file_of(std::string_view machine_class, std::string_view id);
  // No file: no records.
  Result<BaselineHistory> read(const StoreFile& file) const;
  // What the runs of this machine class know of its quiet level. Files that cannot be read know
  // nothing, and no store does.
  QuietLevels quiet_levels(std::string_view machine_class) const;
  // All files, by folder and name. Error: there is no such folder.
  Result<std::vector<StoreFile>> list() const;
  // Why the folder is no store: it exists and holds something else and no baseline. Absent for a
  // store, an empty folder (hidden files and a README do not count) and a folder that does not
  // exist.
  std::optional<Error> foreign_content() const;
  // The same if the folder is that of one machine class: baselines stand in the folder itself.
  std::optional<Error> class_folder() const;

  // Sets the record's epoch, makes folders, writes one line. A run that is there already is written
  // again only to open an epoch that others are in, or to get an anchor; it keeps an anchor it has.
  Result<Appended> append(BaselineRecord record, EpochWish wish) const;
  // Keeps the last kRunsAnEpoch runs of each epoch and every anchor. Lines that cannot be read are
  // an error or go too.
  Result<Pruned> prune(const StoreFile& file, Damaged damaged) const;

 private:
  std::string folder_;
};

// The files of `path`: a store, or the folder of one machine class in a store.
struct StoreSelection {
  BaselineStore store;
  std::vector<StoreFile> files;
};
Result<StoreSelection> open_store(const std::string& path);

}  // namespace bench
