// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/preload/process.hpp"

#include "profiler/capture/preload/spool.hpp"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench::capture {
namespace {

// Who wrote last on this thread. A child has its parent's answer at first.
struct Writer {
  pid_t pid;
  pid_t tid;
};

__thread Writer last_writer __attribute__((tls_model("initial-exec"))) = {0, 0};

}  // namespace

void note_fork() {
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

}  // namespace bench::capture
