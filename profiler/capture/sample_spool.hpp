// SPDX-License-Identifier: Apache-2.0
// Reads the file of samples that the system took while a program ran (spool_format.hpp), and finds
// the module of each.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/text_source.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// Where a sample was taken.
enum class CodeKind { module, generated, kernel, unknown };

struct LocatedSample {
  std::int64_t pid = 0, tid = 0;
  Nanoseconds at{0};
  CodeKind kind = CodeKind::unknown;
  std::string_view file;      // path of a module; valid as long as the spool
  std::uint64_t address = 0;  // offset in the file of a module, otherwise the address in memory
};

// Keeps 32 bytes for each sample in memory.
class SampleSpool {
 public:
  // Samples of `own_threads` (pid, tid) are handed out thread by thread, others in order of time.
  using Threads = std::set<std::pair<std::int64_t, std::int64_t>>;
  static Result<SampleSpool> read(TextSource& source, const Threads& own_threads);

  Nanoseconds period() const { return period_; }
  bool has_kernel() const { return has_kernel_; }  // whether code of the kernel was sampled, too
  std::int64_t lost() const { return lost_; }
  std::int64_t malformed() const { return malformed_; }
  bool empty() const { return own_.empty() && others_.empty(); }
  // Returns the name of the program that the process executed last; empty if unknown.
  std::string_view program(std::int64_t pid) const;

  // Each calls `take` (returning Status) for samples from before `until` that were not handed out
  // yet: those of an own thread; those of all own threads of a process; those of other threads.
  template <class Take>
  Status take_thread(std::int64_t pid, std::int64_t tid, Nanoseconds until, Take take) {
    const auto cursor = own_.find({pid, tid});
    return cursor == own_.end() ? Status(Done{}) : take_until(cursor->second, until, take);
  }
  template <class Take>
  Status take_process(std::int64_t pid, Nanoseconds until, Take take) {
    for (auto cursor = own_.lower_bound({pid, INT64_MIN});
         cursor != own_.end() && cursor->first.first == pid; ++cursor) {
      BENCH_RETURN_IF_ERROR(take_until(cursor->second, until, take));
    }
    return Done{};
  }
  template <class Take>
  Status take_others(Nanoseconds until, Take take) {
    return take_until(others_, until, take);
  }
  template <class Take>
  Status take_rest(Take take) {
    for (auto& [thread, cursor] : own_) {
      BENCH_RETURN_IF_ERROR(take_until(cursor, Nanoseconds::max(), take));
    }
    return take_others(Nanoseconds::max(), take);
  }

 private:
  struct Sample {
    std::int64_t at;
    std::uint64_t address;
    std::int32_t pid, tid;
    bool is_kernel;
  };
  struct Cursor {
    std::vector<Sample> samples;  // sorted by time
    std::size_t next = 0;
    bool empty() const { return samples.empty(); }
  };
  struct Mapping {
    std::int64_t at;
    std::uint64_t begin, size, offset;
    std::size_t file;  // index in files_
  };
  // The modules of a process, in order of time. `begin`: of the process or of its last program;
  // what a child has from its parent was mapped before.
  struct Process {
    std::vector<Mapping> mappings;
    std::vector<std::pair<std::int64_t, std::string>> programs;  // from their exec on
    std::int64_t parent = 0;                                     // 0: unknown
    std::int64_t forked_at = 0;
  };

  template <class Take>
  Status take_until(Cursor& cursor, Nanoseconds until, Take take) {
    while (cursor.next < cursor.samples.size() && cursor.samples[cursor.next].at < until.count()) {
      BENCH_RETURN_IF_ERROR(take(locate(cursor.samples[cursor.next++])));
    }
    return Done{};
  }
  bool add(std::string_view line, const Threads& own_threads);
  void sort();
  std::size_t file_index(std::string_view file);
  LocatedSample locate(const Sample& sample) const;
  const Mapping* find_mapping(std::int64_t pid, std::uint64_t address, std::int64_t at) const;

  Nanoseconds period_{0};
  bool has_kernel_ = false;
  std::int64_t lost_ = 0;
  std::int64_t malformed_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, Cursor> own_;  // key: pid and tid
  Cursor others_;
  std::map<std::int64_t, Process> processes_;
  std::vector<std::string> files_;
  std::map<std::string, std::size_t, std::less<>> file_indices_;
};

}  // namespace bench
