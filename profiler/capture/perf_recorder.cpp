// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/perf_recorder.hpp"

#include "profiler/capture/perf_record.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <span>
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

}  // namespace bench
