// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/sample_spool.hpp"

#include "profiler/capture/record_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace bench {
namespace {

// A chain of children, each of which has its modules from its parent. Longer ones are hostile.
constexpr int kMaxGenerations = 64;

// Executable memory without a file: what the kernel calls it. Code in it was generated, also if
// programs share it with themselves through a file in memory.
constexpr std::array<std::string_view, 6> kGenerated = {"//anon", "/memfd:", "/dev/zero",
                                                        "/SYSV",  "[heap]",  "[stack"};

bool is_generated(std::string_view file) {
  return std::ranges::any_of(
      kGenerated, [&](std::string_view beginning) { return file.starts_with(beginning); });
}

}  // namespace

Result<SampleSpool> SampleSpool::read(TextSource& source, const Threads& own_threads) {
  SampleSpool spool;
  TextSource::Line line;
  while (source.next(line)) {
    if (!spool.add(line.text, own_threads)) ++spool.malformed_;
  }
  BENCH_RETURN_IF_ERROR(source.status());
  spool.sort();
  return spool;
}

std::size_t SampleSpool::file_index(std::string_view file) {
  const auto known = file_indices_.find(file);
  if (known != file_indices_.end()) return known->second;
  files_.emplace_back(file);
  return file_indices_.emplace(file, files_.size() - 1).first->second;
}

bool SampleSpool::add(std::string_view line, const Threads& own_threads) {
  rapidjson::Document record;
  record.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
  if (record.HasParseError() || !record.IsObject()) return false;
  const auto pid = integer_field(record, "pid");
  const auto tid = integer_field(record, "tid");
  const auto at = integer_field(record, "ns");
  constexpr std::int64_t kMaxId = std::numeric_limits<std::int32_t>::max();
  if (!pid || !tid || !at || *at < 0 || *pid < 0 || *pid > kMaxId || *tid < 0 || *tid > kMaxId) {
    return false;
  }
  const std::string_view kind = text_field(record, "record");
  if (kind == "sample") {
    Cursor& cursor = own_threads.contains({*pid, *tid}) ? own_[{*pid, *tid}] : others_;
    cursor.samples.push_back({*at, number_field(record, "address"), static_cast<std::int32_t>(*pid),
                              static_cast<std::int32_t>(*tid),
                              number_field(record, "kernel") != 0});
  } else if (kind == "map") {
    processes_[*pid].mappings.push_back(
        {*at, number_field(record, "begin"), number_field(record, "size"),
         number_field(record, "offset"), file_index(text_field(record, "file"))});
  } else if (kind == "exec") {
    processes_[*pid].programs.emplace_back(*at, text_field(record, "name"));
  } else if (kind == "child") {
    // A number that is used again is another process.
    Process& process = processes_[*pid];
    process.parent = integer_field(record, "parent").value_or(0);
    process.forked_at = *at;
  } else if (kind == "lost") {
    lost_ += integer_field(record, "count").value_or(0);
  } else if (kind == "sampling") {
    period_ = Nanoseconds(
        std::clamp<std::int64_t>(integer_field(record, "period").value_or(0), 0, 1'000'000'000));
    has_kernel_ = number_field(record, "kernel") != 0;
  } else {
    return false;
  }
  return true;
}

// Records of several processors are not quite in order.
void SampleSpool::sort() {
  for (auto& [thread, cursor] : own_) std::ranges::stable_sort(cursor.samples, {}, &Sample::at);
  std::ranges::stable_sort(others_.samples, {}, &Sample::at);
  for (auto& [pid, process] : processes_) {
    std::ranges::stable_sort(process.mappings, {}, &Mapping::at);
    std::ranges::stable_sort(process.programs, {}, &std::pair<std::int64_t, std::string>::first);
  }
}

std::string_view SampleSpool::program(std::int64_t pid) const {
  std::int64_t process = pid;
  for (int generation = 0; generation < kMaxGenerations; ++generation) {
    const auto found = processes_.find(process);
    if (found == processes_.end()) return {};
    if (!found->second.programs.empty()) return found->second.programs.back().second;
    process = found->second.parent;
  }
  return {};
}

const SampleSpool::Mapping* SampleSpool::find_mapping(std::int64_t pid, std::uint64_t address,
                                                      std::int64_t at) const {
  for (int generation = 0; generation < kMaxGenerations; ++generation) {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) return nullptr;
    const Process& process = found->second;
    // The last program before the sample, whose exec removed what was mapped before.
    std::int64_t begin = process.forked_at;
    bool has_program = false;
    for (const auto& [since, name] : process.programs) {
      if (since > at) break;
      begin = since;
      has_program = true;
    }
    for (auto mapping = process.mappings.rbegin(); mapping != process.mappings.rend(); ++mapping) {
      if (mapping->at > at) continue;
      if (mapping->at < begin) break;
      if (address >= mapping->begin && address - mapping->begin < mapping->size) return &*mapping;
    }
    if (has_program || process.parent == 0) return nullptr;
    pid = process.parent;
    at = process.forked_at;
  }
  return nullptr;
}

LocatedSample SampleSpool::locate(const Sample& sample) const {
  LocatedSample result{sample.pid,        sample.tid, Nanoseconds(sample.at),
                       CodeKind::unknown, {},         sample.address};
  if (sample.is_kernel) {
    result.kind = CodeKind::kernel;
    return result;
  }
  const Mapping* mapping = find_mapping(sample.pid, sample.address, sample.at);
  if (mapping == nullptr) return result;
  const std::string& file = files_[mapping->file];
  if (is_generated(file)) {
    result.kind = CodeKind::generated;
    return result;
  }
  result.kind = CodeKind::module;
  result.file = file;
  result.address = mapping->offset + (sample.address - mapping->begin);
  return result;
}

}  // namespace bench
