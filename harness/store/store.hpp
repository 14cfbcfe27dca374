// SPDX-License-Identifier: Apache-2.0
// The store: a folder with one file of accepted runs per machine class and case,
// FOLDER/MACHINE_CLASS/ID.jsonl. Each run appends one line, so that git can merge files
// (merge=union) and two concurrent writers are safe. See docs/baselines.md.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "harness/result/speed.hpp"
#include "harness/store/baseline_file.hpp"
#include "harness/store/peak_file.hpp"
#include "harness/store/proof_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

enum class LockKind { shared, exclusive };

// An advisory lock of a folder of the store, so that it has only one writer at a time. The
// destructor releases the lock. The lock is on the folder itself, because prune() replaces the data
// file, and a lock file would appear in every checkout.
class FolderLock {
 public:
  // Waits for the lock. On file systems that do not support locks, succeeds without one.
  static Result<FolderLock> acquire(const std::string& folder, LockKind kind);

 private:
  explicit FolderLock(Descriptor folder) : folder_(std::move(folder)) {}
  Descriptor folder_;
};

// Appends `line` and a newline to a file in a locked folder with one write(2). Before that, ends an
// incomplete last line with a newline. Undoes a short write (disk full).
Status append_line(const std::string& path, std::string_view line);

// Number of runs of each epoch that prune() keeps
inline constexpr std::size_t kRunsPerEpoch = 30;
inline constexpr std::string_view kDefaultStore = "baselines";
// Returns the folder of the store: the one that was named, or kDefaultStore.
inline std::string store_folder(const std::optional<std::string>& named) {
  return named.value_or(std::string(kDefaultStore));
}

enum class EpochPolicy {
  current,    // the run belongs to the current epoch
  new_epoch,  // the run starts an epoch: the mean restarts, sigma still uses earlier epochs
};

struct Appended {
  // duplicate: the store contains the run already. refused: the current epoch has another
  // case_hash.
  enum class Result { appended, duplicate, refused };
  Result result = Result::appended;
  std::string reason;  // if refused
  std::string path;
  std::int64_t epoch = 0;
  std::vector<std::string> problems;  // bad lines that the file had before
};

struct Pruned {
  std::string path;
  std::size_t kept = 0, dropped = 0;  // numbers of runs
};
struct Adopted {
  enum class Result { adopted, present };  // present: the class has runs of the case already
  Result result = Result::adopted;
  std::size_t runs = 0;
};
// What to do with malformed lines.
enum class Malformed { refuse, drop };

// Reads and writes a store. Each call reads the files; there is no cache. Errors name the file.
// Symbolic links are errors, because a store may come with a checkout and must not lead outside it.
class BaselineStore {
 public:
  explicit BaselineStore(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  // Returns whether it has a baseline of this machine class; a file of ceilings does not count.
  bool holds(std::string_view machine_class) const;
  std::string file_path(const StoreFile& file) const;

  static StoreFile case_file(std::string_view machine_class, std::string_view id);
  // Returns no records if the file does not exist.
  Result<BaselineHistory> read(const StoreFile& file) const;
  // Returns the levels of speed at which the times of this machine class are stated: those of the
  // first run of most cases. Ignores unreadable files and a missing store.
  SpeedLevels speed_levels(std::string_view machine_class) const;
  // Returns all files by folder and name, or an error if the folder does not exist.
  Result<std::vector<StoreFile>> list() const;
  // Returns whether one of the files contains baselines (malformed or not) or cannot be read.
  bool has_baselines(const std::vector<StoreFile>& files) const;
  // Returns an error if the folder is not a store: it has other content and no baseline. Returns
  // nullopt for a store, a missing folder, or a folder that is empty except for hidden files and a
  // README.
  std::optional<Error> foreign_content() const;
  // Returns an error if the folder is that of one machine class, with baselines directly in it.
  std::optional<Error> class_folder() const;

  // Sets the record's epoch, creates folders and appends one line. Ignores a run that the store
  // already contains, unless the record opens an epoch or changes the anchor. Without an anchor,
  // the record keeps that of the stored run. An epoch opens only if the current epoch has other
  // runs.
  Result<Appended> append(BaselineRecord record, EpochPolicy policy) const;
  // Returns an error if the ceilings of this machine class could not be stored, also because the
  // file is a link or has a bad line. Call this before they are measured. Leaves no new folder.
  Status check_peaks(std::string_view machine_class) const;
  // Returns the ceilings of a machine class; no records if none are stored.
  Result<PeakHistory> peaks(std::string_view machine_class) const;
  // Returns the problems of the files of ceilings of all machine classes.
  std::vector<std::string> peak_problems() const;
  // Adds the ceilings of one run, all of one machine class, and keeps the last kMaxPeakValues
  // values of each ceiling. Returns the path of the file. A bad line in the file is an error.
  Result<std::string> add_peaks(const std::vector<PeakRecord>& records) const;
  // Returns the last self-test of a machine class; nullopt if none is stored. A bad line in its
  // file is an error.
  Result<std::optional<ProofOfLife>> proof(std::string_view machine_class) const;
  // Returns the problems of the files of self-tests of all machine classes.
  std::vector<std::string> proof_problems() const;
  // Replaces the self-test of its machine class. Returns the path of the file.
  Result<std::string> set_proof(const ProofOfLife& proof) const;
  // Removes all runs except the last kRunsPerEpoch runs of each epoch and those with an anchor.
  // Malformed lines are an error or are dropped, as `malformed` states.
  Result<Pruned> prune(const StoreFile& file, Malformed malformed) const;
  // Removes all lines of a run from a file, and the file if no line remains. Keeps all others
  // unchanged, also malformed ones. Returns the number of removed lines.
  Result<std::size_t> remove_run(const StoreFile& file, std::string_view run_id) const;
  // Copies the runs of a case on another machine class to `machine_class`, which then has the same
  // epochs. Does nothing if it has runs of the case.
  Result<Adopted> adopt(const StoreFile& file, const std::string& machine_class) const;

 private:
  std::string folder_;
};

// Ceilings, and the folder of the store that contains them.
struct FoundPeaks {
  PeakHistory history;
  std::string store;
};
// Returns the ceilings of a machine class in the store of --baseline, or, if it has none, those in
// the default store: `bench peak` without --baseline stores them there. No records if neither has
// any; `store` is then the first.
Result<FoundPeaks> find_peaks(const std::string& store, std::string_view machine_class);

// Returns the self-test of a machine class in the store of --baseline, or, if it has none, the one
// in the default store.
Result<std::optional<ProofOfLife>> find_proof(const std::string& store,
                                              std::string_view machine_class);

// A store and some of its files.
struct StoreSelection {
  BaselineStore store;
  std::vector<StoreFile> files;
};
// Opens a store with all its files, or, if `path` is the folder of one machine class, the store
// that contains the folder, with the files of this class.
Result<StoreSelection> open_store(const std::string& path);
// The same, but returns an error if the folder is not a store: it has other content and no
// baseline.
Result<StoreSelection> open_baselines(const std::string& path);

}  // namespace bench
