// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/preload/sampler.hpp"

#include "profiler/capture/preload/module.hpp"

#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <span>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#define BENCH_EXPORT __attribute__((visibility("default")))

namespace bench::capture {
namespace {

constexpr std::size_t kMaxThreads = 1024;
constexpr std::size_t kMaxSamples = 32;
constexpr std::size_t kMaxText = 8192;
constexpr int kNoObject = -1;

struct Sample {
  unsigned long time;
  std::uintptr_t address;
  unsigned long periods;
};

struct ThreadSlot {
  std::atomic<pid_t> thread{0};  // 0: free
  pid_t process;
  int timer;
  std::atomic<std::size_t> count;
  std::atomic<bool> is_writing;  // the handler must leave the samples alone
  Sample samples[kMaxSamples];
  char text[kMaxText];
};

struct Sampler {
  std::atomic<bool> is_active{false};
  int signal;
  std::atomic<unsigned long> lost{0};
  pthread_key_t key;                 // its destructor ends a thread's sampling
  std::atomic<std::size_t> used{0};  // no slot from here on was ever used
  ThreadSlot slots[kMaxThreads];
};

Sampler& sampler() {
  static constinit Sampler state{};
  return state;
}

__thread ThreadSlot* own_slot __attribute__((tls_model("initial-exec"))) = nullptr;

pid_t current_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

unsigned long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<unsigned long>(now.tv_sec) * 1'000'000'000 +
         static_cast<unsigned long>(now.tv_nsec);
}

// Finding the module of an address is safe in a signal handler only with this function of glibc
// 2.35.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
constexpr bool kFindsModules = true;
#else
constexpr bool kFindsModules = false;
#endif

// A module may be unloaded between a sample and its record, so nothing of it is kept.
int find_object(const link_map* module, const link_map** objects, int& count) {
  for (int i = 0; i < count; ++i) {
    if (objects[i] == module) return i;
  }
  objects[count] = module;
  return count++;
}

void add_objects(Text& text, const link_map* const* objects, int count) {
  text.add(",\"objects\":[");
  for (int i = 0; i < count; ++i) {
    text.add(i == 0 ? "\"" : ",\"");
    text.add_escaped(module_path(objects[i], settings().program));
    text.add("\"");
  }
  text.add("]");
}

void add_sample(Text& text, const Sample& sample, int object, unsigned long address) {
  const std::size_t before = text.size();
  bool fits = text.add("[") && text.add_number(sample.time) && text.add(",");
  fits = fits && (object >= 0 ? text.add_number(static_cast<unsigned long>(object))
                              : text.add(object == kNoObject ? "-1" : "-2"));
  fits = fits && text.add(",") && text.add_number(address) && text.add(",") &&
         text.add_number(sample.periods) && text.add("]");
  if (!fits) text.cut(before);
}

// Writes and removes the samples of a slot. Its handler does not run at the same time.
void write_slot(ThreadSlot& slot) {
  const std::size_t count = slot.count.load(std::memory_order_acquire);
  if (count == 0) return;
  const link_map* objects[kMaxSamples];
  int indices[kMaxSamples];
  int known = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* address = reinterpret_cast<const void*>(slot.samples[i].address);
    const link_map* module = find_module(address);
    indices[i] = module == nullptr ? kNoObject : find_object(module, objects, known);
  }
  Text text(slot.text, kMaxText - 1);  // with room for the last bracket
  text.add(",\"thread\":");
  text.add_number(static_cast<unsigned long>(slot.thread.load()));
  add_objects(text, objects, known);
  text.add(",\"samples\":[");
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned long base = indices[i] >= 0 ? objects[indices[i]]->l_addr : 0;
    if (i > 0) text.add(",");
    add_sample(text, slot.samples[i], indices[i], slot.samples[i].address - base);
  }
  slot.text[text.size()] = ']';
  write_record("samples", {slot.text, text.size() + 1}, {});
  slot.count.store(0, std::memory_order_release);
}

std::uintptr_t program_counter(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine.pc);
#else
#error "the program counter of this machine is unknown"
#endif
}

void take_sample(int, siginfo_t* info, void* context) {
  const int kept = errno;
  ThreadSlot* slot = own_slot;
  if (slot == nullptr || info->si_code != SI_TIMER || !sampler().is_active.load()) return;
  const auto periods = 1 + static_cast<unsigned long>(info->si_overrun > 0 ? info->si_overrun : 0);
  const std::size_t index = slot->count.load(std::memory_order_relaxed);
  if (slot->is_writing.load(std::memory_order_acquire) || index >= kMaxSamples) {
    sampler().lost.fetch_add(periods, std::memory_order_relaxed);
  } else {
    slot->samples[index] = {now_ns(), program_counter(context), periods};
    slot->count.store(index + 1, std::memory_order_release);
    if (index + 1 == kMaxSamples) {
      record_fork();
      write_slot(*slot);
    }
  }
  errno = kept;
}

void delete_timer(ThreadSlot& slot) {
  if (slot.timer >= 0) syscall(SYS_timer_delete, slot.timer);
  slot.timer = -1;
}

bool start_timer(ThreadSlot& slot, pid_t thread) {
  sigevent event;
  std::memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = sampler().signal;
  event._sigev_un._tid = thread;
  slot.timer = -1;
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &slot.timer) != 0) {
    slot.timer = -1;
    return false;
  }
  const auto period = static_cast<long>(settings().sample_period);
  const timespec interval{period / 1'000'000'000, period % 1'000'000'000};
  const itimerspec setting{interval, interval};
  return syscall(SYS_timer_settime, slot.timer, 0, &setting, nullptr) == 0;
}

ThreadSlot* claim_slot(pid_t thread) {
  Sampler& state = sampler();
  for (std::size_t i = 0; i < kMaxThreads; ++i) {
    ThreadSlot& slot = state.slots[i];
    pid_t free = 0;
    if (slot.thread.load(std::memory_order_relaxed) != 0) continue;
    if (!slot.thread.compare_exchange_strong(free, thread)) continue;
    std::size_t used = state.used.load();
    while (used <= i && !state.used.compare_exchange_weak(used, i + 1)) {
    }
    return &slot;
  }
  return nullptr;
}

// The slots that were ever used; the others have never been in memory.
std::span<ThreadSlot> used_slots() { return {sampler().slots, sampler().used.load()}; }

// A thread above the limit is not sampled; the CPU time of the process shows it.
void begin_thread() {
  if (!sampler().is_active.load() || own_slot != nullptr) return;
  const pid_t thread = current_thread();
  ThreadSlot* slot = claim_slot(thread);
  if (slot == nullptr) return;
  slot->process = getpid();
  slot->count.store(0);
  slot->is_writing.store(false);
  own_slot = slot;
  pthread_setspecific(sampler().key, slot);
  // A thread inherits the blocked signals of its creator.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, sampler().signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  start_timer(*slot, thread);
}

void end_thread(void*) {
  ThreadSlot* slot = own_slot;
  if (slot == nullptr) return;
  delete_timer(*slot);
  own_slot = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (slot->process == getpid()) {
    record_fork();
    write_slot(*slot);
  }
  slot->thread.store(0, std::memory_order_release);
}

// A child after fork has one thread and no timers.
void begin_child() {
  if (!sampler().is_active.load()) return;
  for (ThreadSlot& slot : used_slots()) {
    if (slot.thread.load(std::memory_order_relaxed) == 0) continue;
    slot.timer = -1;
    slot.count.store(0);
    slot.thread.store(0);
  }
  sampler().lost.store(0);
  own_slot = nullptr;
  begin_thread();
}

// Returns the highest real-time signal that the program does not handle, or 0.
int find_free_signal() {
  for (int signal = SIGRTMAX - 2; signal >= SIGRTMIN; --signal) {
    struct sigaction present;
    if (sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) return signal;
  }
  return 0;
}

void refuse(std::string_view reason) {
  char buffer[256];
  Text text(buffer, sizeof buffer);
  text.add(",\"error\":\"");
  text.add(reason);
  text.add("\"");
  write_record("sampling", text.view(), {});
}

bool install_handler() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = take_sample;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  return sigaction(sampler().signal, &action, nullptr) == 0;
}

void delete_all_timers() {
  for (ThreadSlot& slot : used_slots()) {
    if (slot.thread.load(std::memory_order_acquire) != 0) delete_timer(slot);
  }
}

// Whether the samples of this process use the signal. A child after vfork runs in the memory of its
// parent, whose samples must go on.
bool uses_signal(int signal) {
  return sampler().is_active.load() && signal == sampler().signal &&
         (own_slot == nullptr || own_slot->process == getpid());
}

// The program needs the signal itself.
void give_up_signal() {
  sampler().is_active.store(false);
  delete_all_timers();
  refuse("the program handles the signal that the samples used");
}

void set_default(struct sigaction* action) {
  if (action == nullptr) return;
  std::memset(action, 0, sizeof *action);
  action->sa_handler = SIG_DFL;
}

// What a new thread needs until it has begun. Bounded; further threads start without a sample.
struct Launch {
  std::atomic<bool> is_used{false};
  void* (*routine)(void*);
  void* argument;
};
constexpr std::size_t kMaxLaunches = 256;

Launch* claim_launch() {
  static constinit Launch launches[kMaxLaunches]{};
  for (Launch& launch : launches) {
    bool used = false;
    if (launch.is_used.compare_exchange_strong(used, true)) return &launch;
  }
  return nullptr;
}

void* run_thread(void* data) {
  auto* launch = static_cast<Launch*>(data);
  auto* const routine = launch->routine;
  void* const argument = launch->argument;
  launch->is_used.store(false);
  begin_thread();
  return routine(argument);
}

using CreateThread = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                  void* argument) {
  static constinit std::atomic<CreateThread*> known{nullptr};
  CreateThread* next = next_function(known, "pthread_create");
  if (next == nullptr) return EAGAIN;
  Launch* launch = sampler().is_active.load() ? claim_launch() : nullptr;
  if (launch == nullptr) return next(thread, attributes, routine, argument);
  launch->routine = routine;
  launch->argument = argument;
  const int failure = next(thread, attributes, run_thread, launch);
  if (failure != 0) launch->is_used.store(false);
  return failure;
}

// The C library's functions. A signal handler may call sigaction() and signal(), but not dlsym(),
// so they are looked up in advance.
struct NextFunctions {
  std::atomic<int (*)(int, const struct sigaction*, struct sigaction*)> sigaction{nullptr};
  std::atomic<sighandler_t (*)(int, sighandler_t)> signal{nullptr};
};

NextFunctions& next_functions() {
  static constinit NextFunctions functions{};
  return functions;
}

__attribute__((constructor)) void find_functions() {
  next_function(next_functions().sigaction, "sigaction");
  next_function(next_functions().signal, "signal");
}

}  // namespace

void start_sampling() {
  if (settings().spool == nullptr || settings().sample_period == 0) return;
  if (!kFindsModules) return refuse("it needs a C library with _dl_find_object: glibc 2.35");
  Sampler& state = sampler();
  state.signal = find_free_signal();
  if (state.signal == 0) return refuse("the program handles every real-time signal");
  if (pthread_key_create(&state.key, end_thread) != 0 ||
      pthread_atfork(nullptr, nullptr, begin_child) != 0 || !install_handler()) {
    return refuse("the system has no memory for it");
  }
  state.is_active.store(true);
  begin_thread();
  if (own_slot == nullptr || own_slot->timer < 0) {
    state.is_active.store(false);
    return refuse("the system permits no timer of a thread's CPU time");
  }
  char buffer[96];
  Text text(buffer, sizeof buffer);
  text.add(",\"period\":");
  text.add_number(settings().sample_period);
  text.add(",\"signal\":");
  text.add_number(static_cast<unsigned long>(state.signal));
  write_record("sampling", text.view(), {});
}

void flush_samples() {
  ThreadSlot* slot = own_slot;
  if (slot == nullptr || slot->count.load(std::memory_order_relaxed) == 0) return;
  if (slot->process != getpid()) return;  // a copy in a child that the library does not know
  slot->is_writing.store(true);
  write_slot(*slot);
  slot->is_writing.store(false);
}

void stop_sampling(Text& fields) {
  Sampler& state = sampler();
  if (settings().sample_period == 0) return;
  const bool was_active = state.is_active.exchange(false);
  if (was_active) {
    delete_all_timers();
    for (ThreadSlot& slot : used_slots()) {
      if (slot.thread.load(std::memory_order_acquire) == 0) continue;
      slot.is_writing.store(true);
      write_slot(slot);
    }
  }
  fields.add(",\"lost\":");
  fields.add_number(state.lost.load());
}

}  // namespace bench::capture

extern "C" {

BENCH_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                void* (*routine)(void*), void* argument) {
  return bench::capture::create_thread(thread, attributes, routine, argument);
}

// To the program, the signal of the samples has its default action, until the program handles it.
BENCH_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* previous) {
  namespace capture = bench::capture;
  const bool is_taken = capture::uses_signal(signal);
  if (is_taken && (action == nullptr || action->sa_handler == SIG_DFL)) {
    capture::set_default(previous);
    return 0;
  }
  if (is_taken) capture::give_up_signal();
  auto* next = capture::next_function(capture::next_functions().sigaction, "sigaction");
  if (next == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const int status = next(signal, action, previous);
  if (is_taken) capture::set_default(previous);
  return status;
}

BENCH_EXPORT sighandler_t signal(int number, sighandler_t handler) {
  namespace capture = bench::capture;
  const bool is_taken = capture::uses_signal(number);
  if (is_taken && handler == SIG_DFL) return SIG_DFL;
  if (is_taken) capture::give_up_signal();
  auto* next = capture::next_function(capture::next_functions().signal, "signal");
  const sighandler_t previous = next == nullptr ? SIG_ERR : next(number, handler);
  return is_taken && previous != SIG_ERR ? SIG_DFL : previous;
}

}  // extern "C"
