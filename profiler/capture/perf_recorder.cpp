// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/perf_recorder.hpp"

#include "base/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <optional>
#include <poll.h>
#include <span>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench {
namespace {

// Powers of two. The largest has room for some seconds of samples and for the modules that a large
// program loads at once; smaller ones are tried where the system limits locked memory.
constexpr std::array<std::size_t, 4> kRingPages = {64, 16, 4, 1};

// How often the samples are taken out if no ring becomes half full.
constexpr std::chrono::milliseconds kReadPeriod(200);

int open_event(perf_event_attr& attributes, int processor) {
  // Counts the calling thread and all that it starts.
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, 0, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr make_attributes(PerfExtent extent, Nanoseconds period) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  // The kernel's clock: it exists also where the processor's counters are hidden.
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(period.count());
  attributes.disabled = 1;
  attributes.enable_on_exec = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = extent == PerfExtent::user ? 1 : 0;
  attributes.exclude_hv = 1;
  request_perf_records(attributes);
  return attributes;
}

}  // namespace

// The records of one processor, which the kernel writes into shared memory.
class PerfRecorder::Ring {
 public:
  // Takes over the event. Check is_open() afterwards.
  explicit Ring(int event) : event_(event), page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    for (const std::size_t pages : kRingPages) {
      size_ = pages * page_;
      void* memory = mmap(nullptr, page_ + size_, PROT_READ | PROT_WRITE, MAP_SHARED, event_, 0);
      if (memory == MAP_FAILED) continue;
      memory_ = static_cast<std::byte*>(memory);
      return;
    }
  }
  ~Ring() {
    if (memory_ != nullptr) munmap(memory_, page_ + size_);
    close(event_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool is_open() const { return memory_ != nullptr; }
  int event() const { return event_; }

  void read(std::string& lines) {
    auto* page = reinterpret_cast<perf_event_mmap_page*>(memory_);
    const std::uint64_t end = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
    std::uint64_t at = page->data_tail;
    while (at + sizeof(perf_event_header) <= end) {
      perf_event_header header;
      copy(at, std::as_writable_bytes(std::span(&header, 1)));
      if (header.size < sizeof header || at + header.size > end) break;
      record_.resize(header.size);
      copy(at, record_);
      append_perf_record(record_, lines);
      at += header.size;
    }
    std::atomic_ref(page->data_tail).store(at, std::memory_order_release);
  }

 private:
  // Copies from the ring, whose end continues at its beginning.
  void copy(std::uint64_t at, std::span<std::byte> to) const {
    const std::byte* data = memory_ + page_;
    const auto begin = static_cast<std::size_t>(at % size_);
    const std::size_t first = std::min(to.size(), size_ - begin);
    std::memcpy(to.data(), data + begin, first);
    std::memcpy(to.data() + first, data, to.size() - first);
  }

  int event_;
  std::size_t page_;
  std::size_t size_ = 0;
  std::byte* memory_ = nullptr;
  std::vector<std::byte> record_;
};

Status PerfRecorder::open(PerfExtent extent, Nanoseconds period) {
  extent_ = extent;
  perf_event_attr attributes = make_attributes(extent, period);
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  for (int processor = 0; processor < processors; ++processor) {
    const int event = open_event(attributes, processor);
    if (event < 0 && errno == ENODEV) continue;  // the processor is offline
    if (event < 0) return Error{std::strerror(errno), "perf_event_open", ""};
    rings_.push_back(std::make_unique<Ring>(event));
    if (!rings_.back()->is_open()) {
      return Error{fmt::format("no locked memory: {}", std::strerror(errno)), "perf_event_open",
                   ""};
    }
  }
  if (rings_.empty()) return Error{"no processor is online", "perf_event_open", ""};
  return Done{};
}

Result<std::unique_ptr<PerfRecorder>> PerfRecorder::start(const std::string& spool,
                                                          Nanoseconds period) {
  std::unique_ptr<PerfRecorder> recorder(new PerfRecorder);
  if (!recorder->open(PerfExtent::user_and_kernel, period).ok()) {
    recorder->rings_.clear();
    BENCH_RETURN_IF_ERROR(recorder->open(PerfExtent::user, period));
  }
  recorder->file_ = ::open(spool.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (recorder->file_ < 0) return Error{std::strerror(errno), spool, ""};
  recorder->wake_ = eventfd(0, EFD_CLOEXEC);
  if (recorder->wake_ < 0) return Error{std::strerror(errno), "eventfd", ""};
  recorder->append(fmt::format(
      "{{\"record\":\"sampling\",\"pid\":0,\"tid\":0,\"ns\":0,\"period\":{},\"kernel\":{}}}\n",
      period.count(), recorder->extent_ == PerfExtent::user_and_kernel ? 1 : 0));
  // The thread blocks all signals, so that those for the program reach the thread that waits for
  // it.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  recorder->reader_ = std::thread([&reader = *recorder] { reader.read_until_stopped(); });
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return recorder;
}

PerfRecorder::~PerfRecorder() {
  static_cast<void>(stop());
  if (file_ >= 0) close(file_);
  if (wake_ >= 0) close(wake_);
}

void PerfRecorder::append(const std::string& lines) {
  std::string_view rest = lines;
  while (!rest.empty() && write_error_ == 0) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) write_error_ = errno;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void PerfRecorder::read_all() {
  lines_.clear();
  for (const auto& ring : rings_) ring->read(lines_);
  append(lines_);
}

void PerfRecorder::read_until_stopped() {
  std::vector<pollfd> descriptors = {{wake_, POLLIN, 0}};
  for (const auto& ring : rings_) descriptors.push_back({ring->event(), POLLIN, 0});
  while ((descriptors.front().revents & POLLIN) == 0) {
    poll(descriptors.data(), descriptors.size(), static_cast<int>(kReadPeriod.count()));
    read_all();
    // The event of a thread that has ended reports this for ever.
    for (pollfd& descriptor : descriptors) {
      if ((descriptor.revents & (POLLHUP | POLLERR)) != 0) descriptor.fd = -1;
    }
  }
}

Status PerfRecorder::stop() {
  if (!reader_.joinable()) return Done{};
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_, &one, sizeof one));
  reader_.join();
  read_all();
  if (write_error_ == 0) return Done{};
  return Error{std::strerror(write_error_), "the file of samples", ""};
}

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
