// SPDX-License-Identifier: Apache-2.0
#include "profiler/profile_set.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/rank.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>
#include <string_view>
#include <sys/stat.h>

namespace bench {
namespace {

// A movement of the clocks that is worth a sentence: what a timeline of several machines shows.
constexpr Nanoseconds kMaxDrift{1'000'000};

// Numbers that no process has: Linux ends at 2^22. Trace viewers accept 32 bits.
constexpr std::int64_t kFirstOwnProcess = 100'000'000;
// Readers number the processes of a log that states none from 0 or -1 downwards.
constexpr std::int64_t kFirstUnknownProcess = -100'000'000;

// Where the times in files of a kind begin, unless a file states more.
enum class TimeBase { machine_start, since_1970, unknown };

// What reads files of one kind, whose times and activities can be put together.
struct ProfileKind {
  std::string_view reader;
  std::string_view kind;
  ProcessNumbers processes;
  TimeBase times;
};
constexpr std::array<ProfileKind, 6> kProfileKinds = {{
    {"profile", "a profile of a program", ProcessNumbers::of_machine, TimeBase::machine_start},
    {"capture", "a profile of a program", ProcessNumbers::of_machine, TimeBase::machine_start},
    {"gpu_records", "a profile of a program", ProcessNumbers::of_machine, TimeBase::machine_start},
    {"result", "a result of `bench run`", ProcessNumbers::of_machine, TimeBase::machine_start},
    {"kineto", "a trace of torch.profiler", ProcessNumbers::of_file, TimeBase::since_1970},
    {"onednn", "a log of oneDNN", ProcessNumbers::of_file, TimeBase::since_1970},
}};

// Files of other readers are of a kind of their own, and state nothing that others could use.
ProfileKind find_kind(const ActivityReader& reader) {
  const auto* const found = std::ranges::find(kProfileKinds, reader.name, &ProfileKind::reader);
  if (found != kProfileKinds.end()) return *found;
  return {reader.name, reader.name, ProcessNumbers::of_file, TimeBase::unknown};
}

constexpr Nanoseconds kMaxSetTime{std::numeric_limits<std::int64_t>::max() / 4 - 1};

// Adds the offset of its file to each time, and gives processes of other machines numbers of their
// own.
class CommonClockSink final : public ActivitySink {
 public:
  using Renumber = std::function<std::int64_t(std::int64_t pid)>;
  CommonClockSink(Nanoseconds offset, Renumber renumber, ActivitySink& next)
      : offset_(offset), renumber_(std::move(renumber)), next_(next) {}

  Status consume(const Activity& activity) override {
    const std::int64_t recorded = activity.track.pid;
    if (!last_ || last_->first != recorded) last_ = {recorded, renumber_(recorded)};
    if (offset_ == Nanoseconds(0) && last_->second == recorded) return next_.consume(activity);
    copy_ = activity;
    // Within what a reader admits, so that a sum with a duration cannot overflow.
    copy_.start = std::clamp(saturating_sum(copy_.start, offset_), -kMaxSetTime, kMaxSetTime);
    copy_.track.pid = last_->second;
    // The main thread stays the main thread.
    if (copy_.track.tid == recorded && recorded > 0) copy_.track.tid = last_->second;
    return next_.consume(copy_);
  }

 private:
  Nanoseconds offset_;
  Renumber renumber_;
  ActivitySink& next_;
  std::optional<std::pair<std::int64_t, std::int64_t>> last_;
  Activity copy_;
};

class FirstStartSink final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    first_ = std::min(first_.value_or(activity.start), activity.start);
    return Done{};
  }
  std::optional<Nanoseconds> first() const { return first_; }

 private:
  std::optional<Nanoseconds> first_;
};

// Refuses files that would count twice: one that is given twice, and a copy of a profile.
class Repetitions {
 public:
  Status add(const std::string& path, TextSource& source, const ProfileClocks& clocks) {
    struct stat status {};
    const bool is_known = path != "-" && ::stat(path.c_str(), &status) == 0;
    const std::string id =
        is_known ? fmt::format("{}:{}", status.st_dev, status.st_ino) : std::string(path);
    BENCH_RETURN_IF_ERROR(add_to(files_, id, path, "is the same file as {}"));
    const std::string_view head = source.head();
    const std::string_view header = head.substr(0, head.find('\n'));
    // Both clocks together never show the same nanoseconds twice.
    if (clocks.realtime_offset()) return add_to(headers_, std::string(header), path, kCopy);
    // Without them, a header alone may be that of two files, but its activities are not.
    const bool has_more = header.size() + 1 < head.size();
    if (!is_known || !S_ISREG(status.st_mode) || !has_more) return Done{};
    return add_to(beginnings_,
                  fmt::format("{}:{}", status.st_size, std::hash<std::string_view>()(head)), path,
                  kCopy);
  }

 private:
  static constexpr fmt::string_view kCopy = "is a copy of {}";
  using Paths = std::map<std::string, std::string>;
  static Status add_to(Paths& paths, const std::string& id, const std::string& path,
                       fmt::string_view what) {
    const auto [known, is_new] = paths.emplace(id, path);
    if (is_new) return Done{};
    return Error{fmt::format(fmt::runtime(what), quote(known->second)), path,
                 "name each profile once"};
  }
  Paths files_, headers_;
  Paths beginnings_;  // sizes and hashes of heads: a head has up to kHeadSize bytes
};

Status refuse_kinds(const ProfileSet::File& first, const ProfileSet::File& other) {
  const ProfileKind of_first = find_kind(*first.reader), of_other = find_kind(*other.reader);
  const std::string_view a = of_first.kind, b = of_other.kind;
  if (a == b) return Done{};
  return Error{fmt::format("is {}, but {} is {}", b, quote(first.path), a), other.path,
               "name profiles of one kind"};
}

bool is_pipe(const std::string& path) {
  struct stat status {};
  return path == "-" || (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode));
}

std::string format_offset(Nanoseconds offset) {
  const bool is_negative = offset < Nanoseconds(0);
  return fmt::format("{}{} ({:+} ns)", is_negative ? "-" : "+",
                     format_time(is_negative ? -offset : offset), offset.count());
}

std::string describe_drift(const ProfileClocks& clocks) {
  if (clocks.drift() < kMaxDrift) return "";
  return fmt::format(
      "; its clocks drifted {} apart while it was recorded, so its times may be wrong "
      "by as much",
      format_time(clocks.drift()));
}

// How the facts of two files that an audit uses become one. Other facts stay apart.
std::int64_t add_facts(std::int64_t a, std::int64_t b) { return saturating_sum(a, b); }
std::int64_t larger_fact(std::int64_t a, std::int64_t b) { return std::max(a, b); }
std::int64_t smaller_fact(std::int64_t a, std::int64_t b) { return std::min(a, b); }

struct JoinedFact {
  std::string_view name;
  std::int64_t (*join)(std::int64_t a, std::int64_t b);
};
constexpr std::array<JoinedFact, 9> kJoinedFacts = {{
    {kMalformedFact, add_facts},
    {kUnknownFact, add_facts},
    {kLostSamplesFact, add_facts},
    {kKilledFact, add_facts},
    {kRecordCountFact, add_facts},
    {kRecordedWallFact, add_facts},
    {"gpu.dropped", add_facts},
    // Tracing cost at least this much.
    {kRecordCostFact, smaller_fact},
    {kClockStepFact, larger_fact},
}};

// Joins two values of a fact. Returns nullopt if it belongs to one file.
std::optional<std::string> join_fact(std::string_view name, const std::string& a,
                                     const std::string& b) {
  if (name == "incomplete" || name == "gpu.faults") return fmt::format("{}; {}", a, b);
  const auto* const row = std::ranges::find(kJoinedFacts, name, &JoinedFact::name);
  if (row == kJoinedFacts.end()) return std::nullopt;
  const auto number_a = parse_number<std::int64_t>(a), number_b = parse_number<std::int64_t>(b);
  if (!number_a || !number_b) return std::nullopt;
  return fmt::format("{}", row->join(*number_a, *number_b));
}

// A case of several results has a pass in each.
void add_passes(const ReadReport& report, const std::string& path, ReadReport& sum) {
  for (const auto& [id, pass] : report.passes) {
    const auto [known, is_new] = sum.passes.emplace(id, pass);
    if (is_new) continue;
    if (known->second.read > 0 && pass.read > 0) ++sum.repeated_passes;
    sum.passes.emplace(fmt::format("{} ({})", id, path), pass);
  }
}

// Adds what another file's report states to the sum.
void add_report(const ReadReport& report, const std::string& path, ReadReport& sum) {
  sum.starts = std::max(sum.starts, report.starts);
  for (const auto member :
       {&ReadReport::lines, &ReadReport::activities, &ReadReport::ignored, &ReadReport::malformed,
        &ReadReport::unknown, &ReadReport::library_errors})
    sum.*member += report.*member;
  // Keeps the numbers of the first file with errors: they do not name their file.
  if (sum.library_error_lines.empty()) sum.library_error_lines = report.library_error_lines;
  for (const std::string& note : report.notes) sum.note(note);
  add_passes(report, path, sum);
  // If one file does not state its records, nothing is known about all of them.
  sum.stated_activities =
      sum.stated_activities && report.stated_activities
          ? std::optional(saturating_sum(*sum.stated_activities, *report.stated_activities))
          : std::nullopt;
  for (const auto& [name, value] : report.facts) {
    const auto [known, is_new] = sum.facts.emplace(name, value);
    if (is_new) continue;
    if (auto joined = join_fact(name, known->second, value)) {
      known->second = *std::move(joined);
    } else if (known->second != value) {
      sum.facts[fmt::format("{} ({})", name, path)] = value;
    }
  }
}

}  // namespace

bool may_be_same_process(const ProfileOrigin& a, const ProfileOrigin& b) {
  const bool are_of_machine =
      a.processes == ProcessNumbers::of_machine && b.processes == ProcessNumbers::of_machine;
  if (!are_of_machine) return false;
  const bool is_other_machine = !a.boot.empty() && !b.boot.empty() && a.boot != b.boot;
  return !is_other_machine && a.rank == b.rank;
}

Result<ProfileSet> ProfileSet::open(std::span<const std::string> paths, Alignment alignment,
                                    TextSource::WorkFactory work) {
  ProfileSet set;
  set.work_ = std::move(work);
  set.passes_ = std::make_unique<PassSelection>();
  Repetitions repetitions;
  for (const std::string& path : paths) {
    BENCH_ASSIGN_OR_RETURN(auto source, open_text(path));
    File file;
    file.path = path;
    BENCH_ASSIGN_OR_RETURN(file.reader, find_reader(*source));
    const auto facts = head_facts(*source);
    file.clocks = parse_clocks(facts);
    const auto rank = facts.find(kRankDetail);
    file.origin = {find_kind(*file.reader).processes, file.clocks.boot,
                   rank == facts.end() ? std::nullopt : parse_rank(rank->second)};
    BENCH_RETURN_IF_ERROR(repetitions.add(path, *source, file.clocks));
    if (!set.files_.empty()) BENCH_RETURN_IF_ERROR(refuse_kinds(set.files_.front(), file));
    if (set.files_.empty() || is_pipe(path)) set.kept_[set.files_.size()] = std::move(source);
    set.files_.push_back(std::move(file));
  }
  if (set.files_.size() > 1 && alignment == Alignment::start)
    BENCH_RETURN_IF_ERROR(set.align_by_starts());
  if (set.files_.size() > 1 && alignment == Alignment::clock) set.align_by_clocks();
  return set;
}

// The common clock is that of the machine that was started first: no offset is negative, and so no
// time becomes negative, which trace viewers could not show.
void ProfileSet::align_by_clocks() {
  // Files of one boot have one clock: the first that states a pair decides for all of them.
  std::map<std::string, Nanoseconds> of_boot;
  for (const File& file : files_) {
    const auto own = file.clocks.realtime_offset();
    if (own && !file.clocks.boot.empty()) of_boot.emplace(file.clocks.boot, *own);
  }
  const auto realtime_offset = [&](const File& file) {
    const auto known = of_boot.find(file.clocks.boot);
    return known != of_boot.end() ? std::optional(known->second) : file.clocks.realtime_offset();
  };
  std::optional<Nanoseconds> earliest;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto own = realtime_offset(files_[i]);
    if (!own || (earliest && *own >= *earliest)) continue;
    earliest = own;
    reference_ = i;
  }
  if (!reference_) return;
  const std::string& boot = files_[*reference_].clocks.boot;
  for (File& file : files_) {
    const auto own = realtime_offset(file);
    if (&file == &files_[*reference_]) {
      file.aligned_by = AlignedBy::reference;
    } else if (!boot.empty() && file.clocks.boot == boot) {
      file.aligned_by = AlignedBy::boot;
    } else if (own) {
      file.aligned_by = AlignedBy::pairs;
      file.offset = *own - *earliest;
    }
  }
}

Status ProfileSet::align_by_starts() {
  std::optional<Nanoseconds> common;
  for (File& file : files_) {
    if (is_pipe(file.path)) {
      return Error{"can be read only once, and --align start reads each file twice", file.path,
                   "write it to a file first"};
    }
    BENCH_ASSIGN_OR_RETURN(const auto source, open_profile(file.path));
    FirstStartSink sink;
    BENCH_ASSIGN_OR_RETURN(const ReadReport report, file.reader->read(*source, sink));
    if (!sink.first()) continue;  // without activities, it needs no offset
    file.aligned_by = common ? AlignedBy::first_activity : AlignedBy::reference;
    if (!common) {
      common = sink.first();
      reference_ = static_cast<std::size_t>(&file - files_.data());
    }
    file.offset = *common - *sink.first();
  }
  return Done{};
}

// Reads a file with its times and process numbers as recorded.
Result<ReadReport> ProfileSet::read_file(std::size_t index, ActivitySink& sink) {
  File& file = files_[index];
  if (!is_pipe(file.path)) {
    BENCH_ASSIGN_OR_RETURN(PassChoice choice, choose_passes({&file.path, 1}));
    passes_->choose(std::move(choice));
  }
  std::unique_ptr<TextSource>& kept = kept_[index];
  if (kept == nullptr) {
    BENCH_ASSIGN_OR_RETURN(kept, open_text(file.path));
  }
  kept->share(*passes_);
  kept->set_work_factory(work_);
  BENCH_ASSIGN_OR_RETURN(ReadReport report, file.reader->read(*kept, sink));
  if (index > 0) kept.reset();  // the first one stays valid for first()
  file.starts = report.starts;
  // The last record of a profile may state the clocks at its end.
  if (!file.clocks.end) file.clocks.end = parse_clocks(report.facts).end;
  return report;
}

// Returns the number of a process of a file, which no other process of another file has.
std::int64_t ProfileSet::number_process(std::int64_t pid, std::size_t index) {
  File& file = files_[index];
  const auto owner = owners_.find(pid);
  std::int64_t number = pid;
  if (owner != owners_.end() && owner->second != index &&
      !may_be_same_process(files_[owner->second].origin, file.origin)) {
    const auto count = static_cast<std::int64_t>(owners_.size());
    number = pid > 0 ? kFirstOwnProcess + count : kFirstUnknownProcess - count;
    if (pid > 0) file.renumbered.emplace_back(pid, number);
  }
  owners_.emplace(number, index);
  return number;
}

Result<ReadReport> ProfileSet::read_on_common_clock(std::size_t index, ActivitySink& sink) {
  std::map<std::int64_t, std::int64_t> numbers;
  const auto renumber = [&](std::int64_t pid) {
    const auto known = numbers.find(pid);
    if (known != numbers.end()) return known->second;
    return numbers[pid] = number_process(pid, index);
  };
  CommonClockSink aligned(files_[index].offset, renumber, sink);
  return read_file(index, aligned);
}

Result<ReadReport> ProfileSet::read(ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(ReadReport sum, read_on_common_clock(0, sink));
  for (std::size_t i = 1; i < files_.size(); ++i) {
    BENCH_ASSIGN_OR_RETURN(const ReadReport report, read_on_common_clock(i, sink));
    add_report(report, files_[i].path, sum);
  }
  return sum;
}

ActivityInput ProfileSet::input() {
  return {name(), [this](ActivitySink& sink) { return read(sink); },
          [this] { return statements(); }};
}

ActivityInput ProfileSet::input(std::size_t index) {
  const auto kept = kept_.find(index);
  return {kept != kept_.end() ? kept->second->name() : files_.at(index).path,
          [this, index](ActivitySink& sink) {
            *passes_ = {};  // a run that another file contains counts in this one, too
            return read_file(index, sink);
          },
          [] { return std::vector<std::string>(); }};
}

std::string ProfileSet::name() const {
  const std::string& first = kept_.at(0)->name();
  if (files_.size() == 1) return first;
  return fmt::format("{} and {}", first, pluralise(files_.size() - 1, "more file"));
}

namespace {

using SetFiles = std::vector<ProfileSet::File>;

std::string list_aligned(const SetFiles& files, AlignedBy how) {
  std::vector<std::string> paths;
  for (const ProfileSet::File& file : files) {
    if (file.aligned_by == how) paths.push_back(file.path);
  }
  return fmt::format("{}", fmt::join(paths, ", "));
}

void add_sentences_on_clocks(const SetFiles& files, const ProfileSet::File& common,
                             std::vector<std::string>& sentences) {
  const std::string& reference = common.path;
  const bool uses_pairs = std::ranges::any_of(
      files, [](const ProfileSet::File& file) { return file.aligned_by == AlignedBy::pairs; });
  sentences.push_back(fmt::format("Times are those of the clock of {}{}.", reference,
                                  uses_pairs ? describe_drift(common.clocks) : ""));
  if (const std::string same = list_aligned(files, AlignedBy::boot); !same.empty())
    sentences.push_back(fmt::format("{}: offset 0 ns, recorded on the same machine.", same));
  for (const ProfileSet::File& file : files) {
    const std::string offset = format_offset(file.offset);
    if (file.aligned_by == AlignedBy::pairs) {
      sentences.push_back(
          fmt::format("{}: offset {}, as exact as the realtime clocks of the "
                      "machines agree{}.",
                      file.path, offset, describe_drift(file.clocks)));
    } else if (file.aligned_by == AlignedBy::first_activity) {
      sentences.push_back(
          fmt::format("{}: offset {}, so that its first activity is at the time of "
                      "the first one of {}.",
                      file.path, offset, reference));
    }
  }
  if (const std::string unknown = list_aligned(files, AlignedBy::nothing); !unknown.empty())
    sentences.push_back(fmt::format(
        "{}: offset 0 ns, since no clocks are stated; right only if recorded on the "
        "machine of {} since it was started. --align start aligns the first activities.",
        unknown, reference));
}

std::string describe_unstated_clocks(TimeBase times) {
  constexpr std::array<std::string_view, 3> kSentences = {
      "No file states its clocks: offset 0 ns, right only if all were recorded on one machine "
      "since "
      "it was started.",
      "Times are as recorded, offset 0 ns: by the realtime clocks of the machines, as exact as "
      "these agree.",
      "The files do not state from when on they count time: offset 0 ns."};
  return fmt::format("{} --align start aligns the first activities.",
                     kSentences[static_cast<std::size_t>(times)]);
}

}  // namespace

std::vector<std::string> ProfileSet::statements() const {
  std::vector<std::string> sentences;
  if (files_.size() < 2) return sentences;
  const auto is_computed = [](const File& file) { return file.starts == StartTimes::computed; };
  if (reference_) {
    add_sentences_on_clocks(files_, files_[*reference_], sentences);
  } else if (!std::ranges::all_of(files_, is_computed)) {
    // All files are of one kind.
    sentences.emplace_back(describe_unstated_clocks(find_kind(*files_.front().reader).times));
  }
  for (const File& file : files_) {
    if (file.starts == StartTimes::computed)
      sentences.push_back(
          fmt::format("{} has durations only: its activities are placed one after "
                      "another.",
                      file.path));
    for (const auto& [recorded, shown] : file.renumbered)
      sentences.push_back(
          fmt::format("{}: process {} is shown as {}, since another one has its "
                      "number.",
                      file.path, recorded, shown));
  }
  // Names of files may contain anything.
  for (std::string& sentence : sentences) sentence = printable(sentence);
  return sentences;
}

}  // namespace bench
