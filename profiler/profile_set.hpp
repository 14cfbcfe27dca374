// SPDX-License-Identifier: Apache-2.0
// Profiles of several processes, ranks or machines, read as one stream on one clock. The files are
// read one after another, so memory does not grow with their number.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "profiler/clock_pair.hpp"
#include "profiler/reader.hpp"
#include "profiler/text_source.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// How times of several files are put onto one clock. clock: by what the files state about their
// clocks; the times of a file that states nothing stay as they are. start: the first activity of
// each file is at the time of the first one of the first file.
BENCH_ENUM(Alignment, clock, start);

// How the times of a file became those of the common clock.
enum class AlignedBy {
  reference,  // the common clock is that of this file
  boot,       // recorded on the same machine, without a restart between: the clock is the same
  pairs,      // by CLOCK_REALTIME of both machines
  first_activity,
  nothing  // the times are as recorded
};

// Where the process numbers of a file are valid: on its machine, or only in the file. A log
// contains none, and a trace of torch.profiler contains one process.
enum class ProcessNumbers { of_machine, of_file };

// What distinguishes processes of several files: equal process numbers of different machines, logs
// or ranks are different processes.
struct ProfileOrigin {
  ProcessNumbers processes = ProcessNumbers::of_machine;
  std::string boot;  // empty if unknown
  std::optional<std::int64_t> rank;
};
bool may_be_same_process(const ProfileOrigin& a, const ProfileOrigin& b);

class ProfileSet {
 public:
  // Opens the files and chooses their offsets. Reads them once if they are aligned by their starts.
  // Returns an error if a file cannot be opened, is given twice, is a copy of another one, or is
  // not of the kind of the others.
  // `work` is the work factory of each of their sources; it may be empty.
  static Result<ProfileSet> open(std::span<const std::string> paths, Alignment alignment,
                                 TextSource::WorkFactory work = {});

  // The files as one input, which refers to this set.
  ActivityInput input();
  // One of the files, with its times and process numbers as recorded. Refers to this set, too.
  ActivityInput input(std::size_t index);

  // Reads all files. An activity has the time of the common clock, and a process number of its own.
  // Call this once. The facts of the report that are not the same in all files have the name of
  // their file behind theirs: "pid (b.jsonl)".
  Result<ReadReport> read(ActivitySink& sink);

  // The first file, from which nothing was read before read().
  TextSource& first() { return *kept_.at(0); }
  // "a.jsonl", or "a.jsonl and 3 more files".
  std::string name() const;
  std::size_t size() const { return files_.size(); }
  // Sentences on what was done to the times and process numbers of which file. Call this after
  // read(). Empty for one file.
  std::vector<std::string> statements() const;

  struct File {
    std::string path;
    const ActivityReader* reader = nullptr;
    ProfileClocks clocks;
    ProfileOrigin origin;
    AlignedBy aligned_by = AlignedBy::nothing;
    Nanoseconds offset{0};  // added to the times of the file
    StartTimes starts = StartTimes::recorded;
    // Processes whose number another one has: the recorded and the shown number.
    std::vector<std::pair<std::int64_t, std::int64_t>> renumbered = {};
  };
  const std::vector<File>& files() const { return files_; }

 private:
  ProfileSet() = default;
  void align_by_clocks();
  Status align_by_starts();
  Result<ReadReport> read_file(std::size_t index, ActivitySink& sink);
  Result<ReadReport> read_on_common_clock(std::size_t index, ActivitySink& sink);
  std::int64_t number_process(std::int64_t pid, std::size_t index);

  std::vector<File> files_;
  std::unique_ptr<PassSelection> passes_;
  TextSource::WorkFactory work_;
  // The first file, and those that can be opened only once. The others are opened when they are
  // read: a job may have more ranks than a process may have open files.
  std::map<std::size_t, std::unique_ptr<TextSource>> kept_;
  std::optional<std::size_t> reference_;  // the file whose clock is the common one; nullopt: none
  // Key: the shown number of a process. Value: the file that has it first.
  std::map<std::int64_t, std::size_t> owners_;
};

}  // namespace bench
