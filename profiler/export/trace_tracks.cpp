// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_tracks.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench {
namespace {

// Numbers that no process or thread has (Linux ends at 2^22) and that still fit into the 32 bits of
// trace viewers.
constexpr std::int64_t kFirstOwnNumber = 1'000'000'000;

bool is_usable(std::int64_t number) { return number >= 0 && number < kFirstOwnNumber; }

// Returns the number if the source contains it, else "n/a".
std::string known_number(std::int64_t number) {
  return number > 0 ? fmt::format("{}", number) : std::string(kUnknown);
}

// Returns "conv/a", or "conv/a and 2 others" for a process that ran three cases.
std::string format_cases(const std::string& first, std::size_t cases) {
  if (cases < 2) return first;
  return fmt::format("{} and {} other{}", first, cases - 1, cases == 2 ? "" : "s");
}

// Distance of the sort indices of two tracks. All lanes from this number on share one index.
constexpr std::int64_t kMaxLanesInOrder = 1000;

}  // namespace

TraceTracks::TraceTracks() : next_number_(kFirstOwnNumber) {}

std::uint32_t TraceTracks::index_of(const Activity& activity) {
  const Track& track = activity.track;
  if (last_ >= tracks_.size() || tracks_[last_].track != track) {
    const TrackKey key{{track.pid, track.tid}, {track.device, track.stream}};
    const auto known = indices_.find(key);
    last_ = known != indices_.end() ? known->second : add(track);
    indices_.emplace(key, last_);
  }
  learn(activity, last_);
  return last_;
}

std::uint32_t TraceTracks::add(const Track& track) {
  Row row;
  row.track = track;
  row.pid = process_id(track);
  const std::int64_t number = track.device ? track.stream.value_or(-1) : track.tid;
  // Several threads may launch into one stream, which stays one track.
  const auto index = static_cast<std::uint32_t>(tracks_.size());
  if (track.device) {
    const auto [known, is_new] = streams_.try_emplace({row.pid, track.stream}, index);
    if (!is_new) return known->second;
  }
  row.tids.push_back(is_usable(number) ? number : next_number_++);
  tracks_.push_back(std::move(row));
  ++lanes_;
  return index;
}

std::int64_t TraceTracks::process_id(const Track& track) {
  const std::pair key{track.pid, track.device};
  const auto known = pids_.find(key);
  if (known != pids_.end()) return known->second;
  const bool needs_own_number = track.device || !is_usable(track.pid);
  const std::int64_t pid = needs_own_number ? next_number_++ : track.pid;
  pids_.emplace(key, pid);
  Process process;
  process.activity_pid = track.pid;
  process.device = track.device;
  process.number = static_cast<std::int64_t>(processes_.size());
  processes_.emplace(pid, std::move(process));
  return pid;
}

void TraceTracks::learn_case(const std::string& case_id, Row& row) {
  if (case_id.empty() || case_id == row.case_id) return;
  row.case_id = case_id;
  Process& process = processes_[row.pid];
  if (process.first_case.empty()) process.first_case = case_id;
  process.cases.insert(case_id);
}

void TraceTracks::learn(const Activity& activity, std::uint32_t track) {
  Row& row = tracks_[track];
  learn_case(activity.case_id, row);
  for (const auto& [attribute, value] : activity.attributes) {
    if (attribute == Attribute::thread_name) row.name = std::get<std::string>(value);
    if (attribute == Attribute::process_name) {
      processes_[row.pid].name = std::get<std::string>(value);
    }
    if (attribute == Attribute::rank) processes_[row.pid].rank = std::get<std::int64_t>(value);
  }
}

std::int64_t TraceTracks::pid(std::uint32_t track) const { return tracks_[track].pid; }

std::int64_t TraceTracks::tid(std::uint32_t track, std::size_t lane) {
  std::vector<std::int64_t>& tids = tracks_[track].tids;
  while (tids.size() <= lane) {
    tids.push_back(next_number_++);
    ++lanes_;
  }
  return tids[lane];
}

const TraceTracks::Process& TraceTracks::host_of(const Process& process) const {
  const auto pid = pids_.find({process.activity_pid, std::nullopt});
  return pid == pids_.end() ? process : processes_.at(pid->second);
}

std::string TraceTracks::process_title(const Process& process) const {
  // Kernels of a device may lack the name and the case that their process has.
  const Process& host = host_of(process);
  const std::string& name = process.name.empty() ? host.name : process.name;
  const Process& with_case = process.first_case.empty() ? host : process;
  std::string title = name;
  if (const std::string cases = format_cases(with_case.first_case, with_case.cases.size());
      !cases.empty()) {
    title += (title.empty() ? "" : ", ") + cases;
  }
  const std::string number = "process " + known_number(process.activity_pid);
  if (title.empty()) {
    title = number;
  } else if (process.activity_pid > 0) {
    title += fmt::format(" ({})", number);
  }
  if (process.rank) title = fmt::format("rank {}, {}", *process.rank, title);
  if (process.device) title = fmt::format("device {} of {}", *process.device, title);
  return title;
}

std::map<std::int64_t, std::int64_t> TraceTracks::process_order() const {
  // The number of the first process of each case, of processes with a single case.
  std::map<std::string_view, std::int64_t> first_of_case;
  for (const auto& [pid, process] : processes_) {
    if (process.cases.size() != 1) continue;
    const auto [entry, is_new] = first_of_case.emplace(process.first_case, process.number);
    if (!is_new) entry->second = std::min(entry->second, process.number);
  }
  struct Place {
    std::int64_t case_number, process_number, device, pid;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  for (const auto& [pid, process] : processes_) {
    const Process& host = host_of(process);
    const Process& with_case = host.cases.empty() ? process : host;
    const std::int64_t case_number =
        with_case.cases.size() == 1 ? first_of_case.at(with_case.first_case) : host.number;
    places.push_back({case_number, host.number, process.device.value_or(-1), pid});
  }
  std::sort(places.begin(), places.end());
  std::map<std::int64_t, std::int64_t> order;
  for (std::size_t i = 0; i < places.size(); ++i)
    order[places[i].pid] = static_cast<std::int64_t>(i);
  return order;
}

std::string TraceTracks::thread_title(const Row& row, std::size_t lane) {
  std::string title;
  if (row.track.device) {
    title = row.track.stream ? fmt::format("stream {}", *row.track.stream) : "no stream";
  } else {
    const bool is_main = row.track.tid > 0 && row.track.tid == row.track.pid;
    title = fmt::format("{}thread {}", is_main ? "main " : "", known_number(row.track.tid));
  }
  if (!row.name.empty()) title = fmt::format("{} ({})", row.name, title);
  if (lane > 0) title += fmt::format(", overlapping {}", lane);
  return title;
}

std::int64_t TraceTracks::thread_order(std::size_t track, std::size_t lane) {
  return static_cast<std::int64_t>(track) * kMaxLanesInOrder +
         std::min(static_cast<std::int64_t>(lane), kMaxLanesInOrder - 1);
}

std::size_t SortedLanes::place(std::uint32_t track, std::int64_t start, std::int64_t end) {
  if (track >= tracks_.size()) tracks_.resize(track + 1);
  std::vector<Lane>& lanes = tracks_[track];
  for (std::size_t i = 0;; ++i) {
    if (i == lanes.size()) lanes.emplace_back();
    Lane& open = lanes[i];
    while (!open.empty() && open.back() <= start) open.pop_back();
    if (!open.empty() && open.back() < end) continue;
    open.push_back(end);
    return i;
  }
}

namespace {

// Number of intervals remembered per lane; older ones are forgotten. An interval that begins before
// the end of the forgotten ones without spanning them goes to another lane.
constexpr std::size_t kMaxRemembered = 65536;

}  // namespace

std::size_t ArrivalLanes::place(std::uint32_t track, std::int64_t start, std::int64_t end) {
  if (track >= tracks_.size()) tracks_.resize(track + 1);
  std::vector<Lane>& lanes = tracks_[track];
  const Interval interval{start, end};
  const auto lane =
      std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.fits(interval); });
  const auto index = static_cast<std::size_t>(lane - lanes.begin());
  if (lane == lanes.end()) lanes.emplace_back();
  lanes[index].insert(interval);
  return index;
}

bool ArrivalLanes::Lane::fits(const Interval& interval) const {
  const bool spans_forgotten = interval.start <= first && interval.end >= forgotten;
  if (has_forgotten && interval.start < forgotten && !spans_forgotten) return false;
  // Searches from the end, because in order of arrival the last ones are relevant.
  for (auto other = outermost.rbegin(); other != outermost.rend(); ++other) {
    if (other->end <= interval.start) break;
    if (other->start >= interval.end) continue;
    if (other->start < interval.start || other->end > interval.end) return false;
  }
  return true;
}

void ArrivalLanes::Lane::insert(const Interval& interval) {
  first = outermost.empty() && !has_forgotten ? interval.start : std::min(first, interval.start);
  auto end = outermost.end();
  while (end != outermost.begin() && std::prev(end)->start >= interval.end) --end;
  auto begin = end;
  while (begin != outermost.begin() && std::prev(begin)->start >= interval.start) --begin;
  outermost.insert(outermost.erase(begin, end), interval);
  if (outermost.size() <= kMaxRemembered) return;
  forgotten = has_forgotten ? std::max(forgotten, outermost.front().end) : outermost.front().end;
  has_forgotten = true;
  outermost.pop_front();
}

}  // namespace bench
