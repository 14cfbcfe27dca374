// SPDX-License-Identifier: Apache-2.0
// The store: a folder with one file of accepted runs per machine class and case,
// FOLDER/MACHINE_CLASS/ID.jsonl. Each run appends one line, so that git can merge files
// (merge=union) and two concurrent writers are safe. docs/baselines.md.
#pragma once

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "harness/result/quiet.hpp"
#include "harness/store/baseline_file.hpp"
#include "harness/store/peak_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// Allows one writer at a time in a folder of the store and appends complete lines. The lock is on
// the folder itself. A separate lock file would appear in every checkout, and pruning replaces the
// data file.

enum class LockKind { shared, exclusive };

// Waits for the advisory lock and holds it until destruction. On file systems without locks,
// proceeds without one.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::string& folder, LockKind kind);

 private:
  explicit FolderLock(Descriptor folder) : folder_(std::move(folder)) {}
  Descriptor folder_;
};

// Appends `line` and a newline to a file in a locked folder with one write(2). First adds a newline
// if the last line lacks one. Undoes a short write (disk full).
Status append_line(const std::string& path, std::string_view line);

// Kept by prune; section 3.5 of the design needs this many
inline constexpr std::size_t kRunsPerEpoch = 30;
inline constexpr std::string_view kDefaultStore = "baselines";

enum class EpochPolicy {
  current,    // the run joins the previous ones
  new_epoch,  // an accepted change of level: the mean restarts, the sigma is carried over
};

struct Appended {
  // duplicate: the store already had the run. refused: the current epoch has another case_hash.
  enum class Result { appended, duplicate, refused };
  Result result = Result::appended;
  std::string reason;  // if refused
  std::string path;
  std::int64_t epoch = 0;
  std::vector<std::string> problems;  // of lines that were there before
};

struct Pruned {
  std::string path;
  std::size_t kept = 0, dropped = 0;  // runs
};
enum class Malformed { refuse, drop };

// Does not cache: each call reads the files. Errors name the file. Links are refused, because a
// store comes with a checkout and must not lead outside it.
class BaselineStore {
 public:
  explicit BaselineStore(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  // Whether it has a baseline of this machine class; ceilings alone do not count.
  bool holds(std::string_view machine_class) const;
  std::string file_path(const StoreFile& file) const;

  static StoreFile case_file(std::string_view machine_class, std::string_view id);
  // Returns no records if the file does not exist.
  Result<BaselineHistory> read(const StoreFile& file) const;
  // Returns the quiet levels recorded by runs of this machine class. Unreadable files and a missing
  // store contribute nothing.
  QuietLevels quiet_levels(std::string_view machine_class) const;
  // Returns all files by folder and name, or an error if the folder does not exist.
  Result<std::vector<StoreFile>> list() const;
  // Whether one of the files contains baselines, malformed or not, or cannot be read.
  bool has_baselines(const std::vector<StoreFile>& files) const;
  // Returns why the folder is not a store: it has other content and no baseline. Returns nullopt
  // for a store, an empty folder (hidden files and a README do not count) or a missing folder.
  std::optional<Error> foreign_content() const;
  // The same if the folder is that of one machine class, with baselines directly in it.
  std::optional<Error> class_folder() const;

  // Sets the record's epoch, creates folders and writes one line. Ignores a run that the store
  // already has, unless this opens an epoch or adds an anchor. A run keeps its anchor. An epoch
  // opens only if the present one has other runs.
  Result<Appended> append(BaselineRecord record, EpochPolicy policy) const;
  // The ceilings of a machine class. No records if none are stored.
  Result<PeakHistory> peaks(std::string_view machine_class) const;
  // What cannot be read in the ceilings of all machine classes.
  std::vector<std::string> peak_problems() const;
  // Adds the ceilings of one run, all of one machine class, and keeps the last kPeakValues values
  // of each. Returns the path of the file. Lines that cannot be read are an error.
  Result<std::string> add_peaks(const std::vector<PeakRecord>& records) const;
  // Keeps the last kRunsPerEpoch runs of each epoch and every anchor. Unreadable lines are an
  // error, or are dropped.
  Result<Pruned> prune(const StoreFile& file, Malformed malformed) const;

 private:
  std::string folder_;
};

// The files selected by `path`: a store, or the folder of one machine class in a store.
struct StoreSelection {
  BaselineStore store;
  std::vector<StoreFile> files;
};
Result<StoreSelection> open_store(const std::string& path);

}  // namespace bench
