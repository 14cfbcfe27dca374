// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/perf_record.hpp"

#include "base/json_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <linux/perf_event.h>
#include <optional>
#include <string_view>

namespace bench {
namespace {

// What each record but a sample ends with (sample_id_all).
struct PerfTrailer {
  std::uint32_t pid, tid;
  std::uint64_t time;
};

class PerfFields {
 public:
  explicit PerfFields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Returns 0 beyond the end.
  template <class T>
  T take() {
    T value{};
    if (bytes_.size() < sizeof value) {
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  std::optional<PerfTrailer> take_trailer() {
    if (bytes_.size() < sizeof(PerfTrailer)) return std::nullopt;
    const std::size_t before = bytes_.size() - sizeof(PerfTrailer);
    PerfTrailer trailer;
    std::memcpy(&trailer, bytes_.data() + before, sizeof trailer);
    bytes_ = bytes_.first(before);
    return trailer;
  }
  std::string_view take_text() {
    const std::string_view all(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    bytes_ = {};
    return all.substr(0, all.find('\0'));
  }

 private:
  std::span<const std::byte> bytes_;
};

template <class Declare>
void append_line(std::string_view kind, std::uint32_t pid, std::uint32_t tid, std::uint64_t time,
                 Declare declare, std::string& lines) {
  lines += json_object([&](JsonWriter& writer) {
    writer.required("record", kind);
    writer.required("pid", pid);
    writer.required("tid", tid);
    writer.required("ns", time);
    declare(writer);
  });
  lines += '\n';
}

void append_sample(PerfFields fields, bool is_kernel, std::string& lines) {
  const auto address = fields.take<std::uint64_t>();
  const auto pid = fields.take<std::uint32_t>();
  const auto tid = fields.take<std::uint32_t>();
  const auto time = fields.take<std::uint64_t>();
  const auto declare = [&](JsonWriter& writer) {
    writer.required("address", address);
    if (is_kernel) writer.required("kernel", 1);
  };
  append_line("sample", pid, tid, time, declare, lines);
}

void append_map(PerfFields fields, std::string& lines) {
  const auto trailer = fields.take_trailer();
  if (!trailer) return;
  const auto pid = fields.take<std::uint32_t>();
  const auto tid = fields.take<std::uint32_t>();
  const auto begin = fields.take<std::uint64_t>();
  const auto size = fields.take<std::uint64_t>();
  const auto offset = fields.take<std::uint64_t>();
  // Device, inode and its generation, protection and flags.
  fields.take<std::uint64_t>();
  fields.take<std::uint64_t>();
  fields.take<std::uint64_t>();
  fields.take<std::uint64_t>();
  const std::string_view file = fields.take_text();
  const auto declare = [&](JsonWriter& writer) {
    writer.required("begin", begin);
    writer.required("size", size);
    writer.required("offset", offset);
    writer.required("file", file);
  };
  append_line("map", pid, tid, trailer->time, declare, lines);
}

void append_exec(PerfFields fields, std::string& lines) {
  const auto trailer = fields.take_trailer();
  if (!trailer) return;
  const auto pid = fields.take<std::uint32_t>();
  const auto tid = fields.take<std::uint32_t>();
  const std::string_view name = fields.take_text();
  append_line(
      "exec", pid, tid, trailer->time, [&](JsonWriter& writer) { writer.required("name", name); },
      lines);
}

void append_fork(PerfFields fields, std::string& lines) {
  const auto pid = fields.take<std::uint32_t>();
  const auto parent = fields.take<std::uint32_t>();
  const auto tid = fields.take<std::uint32_t>();
  fields.take<std::uint32_t>();
  const auto time = fields.take<std::uint64_t>();
  if (pid == parent) return;  // a new thread
  append_line(
      "child", pid, tid, time, [&](JsonWriter& writer) { writer.required("parent", parent); },
      lines);
}

void append_lost(PerfFields fields, std::string& lines) {
  const auto trailer = fields.take_trailer();
  if (!trailer) return;
  fields.take<std::uint64_t>();  // id
  const auto count = fields.take<std::uint64_t>();
  append_line(
      "lost", trailer->pid, trailer->tid, trailer->time,
      [&](JsonWriter& writer) { writer.required("count", count); }, lines);
}

}  // namespace

void request_perf_records(perf_event_attr& attributes) {
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
}

void append_perf_record(std::span<const std::byte> record, std::string& lines) {
  perf_event_header header;
  if (record.size() < sizeof header) return;
  std::memcpy(&header, record.data(), sizeof header);
  const PerfFields fields(record.subspan(sizeof header));
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      return append_sample(
          fields, (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL, lines);
    case PERF_RECORD_MMAP2:
      return append_map(fields, lines);
    case PERF_RECORD_COMM:
      if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0) append_exec(fields, lines);
      return;
    case PERF_RECORD_FORK:
      return append_fork(fields, lines);
    case PERF_RECORD_LOST:
      return append_lost(fields, lines);
    default:
      return;
  }
}

}  // namespace bench
