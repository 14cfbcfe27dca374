// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/preload/sampler.hpp"
#include "profiler/capture/preload/spool.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench::capture {
namespace {

// The process and thread that wrote last on this thread. After fork, a child starts with its
// parent's value.
struct Writer {
  pid_t pid;
  pid_t tid;
};

__thread Writer last_writer __attribute__((tls_model("initial-exec"))) = {0, 0};

}  // namespace

void record_fork() {
  static constinit std::atomic<pid_t> known{0};
  const pid_t own = getpid();
  const Writer last = last_writer;
  if (last.pid != own) last_writer = {own, static_cast<pid_t>(syscall(SYS_gettid))};
  const pid_t before = known.exchange(own);
  if (before == 0 || before == own) return;
  char buffer[96];
  Text field(buffer, sizeof buffer);
  field.add(",\"parent\":");
  field.add_number(static_cast<unsigned long>(before));
  if (last.pid == before) {
    field.add(",\"parent_tid\":");
    field.add_number(static_cast<unsigned long>(last.tid));
  }
  write_record("fork", field.view(), {});
}

void note_fork() {
  record_fork();
  flush_samples();
}

// Opens the file each time: after fork, a cached descriptor would report on the parent.
std::size_t resident_bytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  // The format is "SIZE RESIDENT SHARED ...", in pages.
  const char* end = text + (size > 0 ? size : 0);
  const char* space = std::find(static_cast<const char*>(text), end, ' ');
  std::size_t pages = 0;
  if (space != end) std::from_chars(space + 1, end, pages);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace bench::capture
