// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/preload/line.hpp"

#include "profiler/capture/preload/module.hpp"
#include "profiler/capture/preload/spool.hpp"

#include <cerrno>
#include <cstddef>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench::capture {
namespace {

// The line of one thread, in its own memory pages. malloc may be the function that called oneDNN. A
// large thread-local variable would take stack space from every thread.
struct ThreadLine {
  std::size_t mapped;
  std::size_t size;  // size of `text`: `,"text":"` and the escaped line so far
  const link_map* module;
  const link_map* just_added;
  pid_t pid;  // a child after fork has a copy of the parent's line
  char text[];
};

constexpr std::size_t kFirstSize = std::size_t{64} << 10;
// Maximum size of a line; more is cut. A oneDNN line has some hundred bytes, with many post-ops
// thousands.
constexpr std::size_t kMaxSize = std::size_t{1} << 20;
constexpr std::string_view kTextField = ",\"text\":\"";
constexpr std::string_view kResidentField = ",\"resident\":";
// Space for the closing quote and the resident memory.
constexpr std::size_t kReserved = sizeof(ThreadLine) + 2 + kResidentField.size() + 20;

__thread ThreadLine* thread_line __attribute__((tls_model("initial-exec"))) = nullptr;

void release_line(void*) {
  finish_line();
  if (thread_line != nullptr) munmap(thread_line, thread_line->mapped);
  thread_line = nullptr;
}

// Ensures that the line is released when the thread ends.
void watch_thread_end() {
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  static constinit pthread_key_t key{};
  pthread_once(&once, [] { pthread_key_create(&key, release_line); });
  pthread_setspecific(key, &key);  // any value except null
}

void clear(ThreadLine& line) {
  line.size = 0;
  line.module = nullptr;
  line.pid = getpid();
}

ThreadLine* own_line() {
  if (thread_line == nullptr) {
    void* pages =
        mmap(nullptr, kFirstSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    thread_line = static_cast<ThreadLine*>(pages);
    thread_line->mapped = kFirstSize;
    clear(*thread_line);
    watch_thread_end();
  }
  if (thread_line->pid != getpid()) clear(*thread_line);
  return thread_line;
}

// Makes space for `more` bytes of escaped text, if memory is available.
ThreadLine* reserve(ThreadLine* line, std::size_t more) {
  std::size_t wanted = line->mapped;
  while (wanted < kMaxSize && wanted - kReserved - line->size < more) wanted *= 2;
  if (wanted == line->mapped) return line;
  void* pages = mremap(line, line->mapped, wanted, MREMAP_MAYMOVE);
  if (pages == MAP_FAILED) return line;
  thread_line = static_cast<ThreadLine*>(pages);
  thread_line->mapped = wanted;
  return thread_line;
}

void add_resident(ThreadLine& line) {
  const std::size_t resident = resident_bytes();
  if (resident == 0) return;
  Text text(line.text, line.mapped - sizeof(ThreadLine), line.size);
  text.add(kResidentField);
  text.add_number(resident);
  line.size = text.size();
}

void write_line(ThreadLine& line) {
  note_fork();
  line.text[line.size++] = '"';
  if (settings().resident) add_resident(line);
  char stack[kMaxBacktrace];
  write_record("verbose", {line.text, line.size}, backtrace_field(stack, sizeof stack));
  clear(line);
}

// Omits what does not fit. The reader counts such a line as malformed.
void add_part(std::string_view part) {
  thread_line = reserve(thread_line, kTextField.size() + part.size() * kMaxEscaped);
  ThreadLine& line = *thread_line;
  Text text(line.text, line.mapped - kReserved, line.size);
  if (line.size == 0) text.add(kTextField);
  text.add_escaped(part);
  line.size = text.size();
}

}  // namespace

const link_map* open_line() {
  const ThreadLine* line = thread_line;
  return line == nullptr || line->pid != getpid() ? nullptr : line->module;
}

void add_to_line(const link_map* module, std::string_view text) {
  const int kept = errno;
  if (ThreadLine* line = own_line(); line != nullptr) {
    line->just_added = module;
    while (!text.empty()) {
      const std::size_t newline = text.find('\n');
      thread_line->module = module;
      add_part(text.substr(0, newline));
      if (newline == std::string_view::npos) break;
      write_line(*thread_line);
      text.remove_prefix(newline + 1);
    }
  }
  errno = kept;
}

bool take_just_added(const link_map* module) {
  if (thread_line == nullptr || thread_line->just_added != module) return false;
  thread_line->just_added = nullptr;
  return true;
}

void finish_line() {
  if (open_line() != nullptr) write_line(*thread_line);
}

}  // namespace bench::capture
