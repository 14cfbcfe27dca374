// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/preload/spool.hpp"

#include "profiler/capture/preload/module.hpp"
#include "profiler/capture/spool_format.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace bench::capture {
namespace {

// Keeps clear of descriptors that the program numbers itself or expects to be consecutive.
constexpr int kFirstDescriptor = 900;

struct OwnedSettings {
  Settings settings;
  char spool[PATH_MAX];
  char verbose[256];
  char program[PATH_MAX];
};

// Copies the text, because the program may change its environment.
const char* copy(const char* text, char* buffer, std::size_t capacity) {
  if (text == nullptr || std::strlen(text) >= capacity) return nullptr;
  return std::strcpy(buffer, text);
}

bool is_one(const char* value) { return value != nullptr && std::strcmp(value, "1") == 0; }

// Writes "DIRECTORY/FILE.spool" to `path`. Returns false if it does not fit.
bool name_own_spool(char* path, std::size_t capacity) {
  Text text(path, capacity - 1);
  const char* file = std::getenv(kFileVariable);
  const bool is_named = file != nullptr && *file != '\0';
  if (!is_named || *file != '/') {
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) == nullptr || !text.add(folder) || !text.add("/"))
      return false;
  }
  const bool fits = is_named ? text.add(file)
                             : text.add("profile-") &&
                                   text.add_number(static_cast<unsigned long>(getpid())) &&
                                   text.add(".jsonl");
  if (!fits || !text.add(kAutostartSuffix)) return false;
  path[text.size()] = '\0';
  return true;
}

bool is_off(const char* value) {
  return value == nullptr || *value == '\0' || std::strcmp(value, "0") == 0 ||
         std::strcmp(value, "none") == 0;
}

// Lets oneDNN print its lines, unless the user has chosen what it prints.
void set_verbose_mode() {
  setenv(kVerboseVariable, kCaptureVerbose, 1);
  for (const char* name : kVerboseVariables) {
    if (!is_off(std::getenv(name))) return;
  }
  for (const char* name : kVerboseVariables) setenv(name, kCaptureVerbose, 1);
}

// Makes a spool if the environment asks for it, and sets the variables that `bench profile` sets.
void start_by_environment() {
  if (std::getenv(kSpoolVariable) != nullptr || !is_one(std::getenv(kAutostartVariable))) return;
  char path[PATH_MAX];
  const bool has_name = name_own_spool(path, sizeof path);
  const int file = has_name ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  if (file < 0) {
    constexpr char kMessage[] =
        "bench profile: cannot create the profile of BENCH_PROFILE_AUTOSTART=1 here; "
        "BENCH_PROFILE_FILE names another file\n";
    static_cast<void>(!write(STDERR_FILENO, kMessage, sizeof kMessage - 1));
    return;
  }
  close(file);
  setenv(kSpoolVariable, path, 1);
  set_verbose_mode();
  const link_map* own = find_module(reinterpret_cast<const void*>(&start_by_environment));
  char library[PATH_MAX];
  if (own != nullptr && realpath(own->l_name, library) != nullptr)
    setenv(kNvtxVariable, library, 0);
}

void read_settings(OwnedSettings& own) {
  start_by_environment();
  const ssize_t size = readlink("/proc/self/exe", own.program, sizeof own.program - 1);
  own.program[size > 0 ? size : 0] = '\0';
  own.settings.program = own.program;
  own.settings.verbose = copy(std::getenv(kVerboseVariable), own.verbose, sizeof own.verbose);
  own.settings.backtrace = is_one(std::getenv(kBacktraceVariable));
  own.settings.resident = is_one(std::getenv(kResidentVariable));
  if (const char* period = std::getenv(kSamplePeriodVariable); period != nullptr) {
    own.settings.sample_period = std::strtoul(period, nullptr, 10);
  }
  own.settings.spool = copy(std::getenv(kSpoolVariable), own.spool, sizeof own.spool);
}

struct OpenSpool {
  std::atomic<int> descriptor{-1};
  dev_t device;
  ino_t file;
};

OpenSpool& open_spool() {
  static constinit OpenSpool spool{};
  return spool;
}

// A program may close any descriptor and reuse its number. So before each write, this checks that
// the file is the spool.
bool is_spool(int descriptor) {
  struct stat now;
  return descriptor >= 0 && fstat(descriptor, &now) == 0 && now.st_dev == open_spool().device &&
         now.st_ino == open_spool().file;
}

int spool_descriptor() {
  OpenSpool& spool = open_spool();
  const int known = spool.descriptor.load(std::memory_order_acquire);
  if (is_spool(known)) return known;
  const int fresh = open(settings().spool, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fresh < 0) return -1;
  int high = fcntl(fresh, F_DUPFD_CLOEXEC, kFirstDescriptor);
  // the limit does not allow such high descriptors
  if (high < 0) high = fcntl(fresh, F_DUPFD_CLOEXEC, 3);
  close(fresh);
  struct stat now;
  if (high < 0 || fstat(high, &now) != 0) return -1;
  spool.device = now.st_dev;
  spool.file = now.st_ino;
  spool.descriptor.store(high, std::memory_order_release);
  return high;
}

// Other processes may append at the same time.
constexpr rlim_t kRoomForOthers = 4096;

// A write beyond the file size limit would end the program with SIGXFSZ.
bool has_room(int descriptor, std::size_t size) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  struct stat now;
  return fstat(descriptor, &now) == 0 &&
         static_cast<rlim_t>(now.st_size) + size + kRoomForOthers <= limit.rlim_cur;
}

// Tells the reader of the spool that a record is missing. This works even if the disk has no free
// byte.
void mark_loss(int descriptor) {
  struct stat now;
  if (fstat(descriptor, &now) == 0) fchmod(descriptor, now.st_mode | kLossMode);
}

// Writes a record completely or not at all, except on a full disk. The reader counts an incomplete
// line; it must not corrupt the next one too.
void append(int descriptor, iovec (&parts)[5]) {
  static constinit std::atomic<bool> is_torn{false};
  std::size_t size = 0;
  parts[0] = {const_cast<char*>("\n"), is_torn.load() ? std::size_t{1} : std::size_t{0}};
  for (const iovec& part : parts) size += part.iov_len;
  if (!has_room(descriptor, size)) return mark_loss(descriptor);
  const ssize_t written = writev(descriptor, parts, 5);
  if (written == static_cast<ssize_t>(size)) {
    is_torn.store(false);
    return;
  }
  if (written > 0) is_torn.store(true);
  mark_loss(descriptor);
}

}  // namespace

const Settings& settings() {
  static constinit OwnedSettings own{};
  static constinit std::atomic<int> state{0};  // 0 unread, 1 being read, 2 read
  int unread = 0;
  // The loader runs this library's constructor before the program can start a second thread.
  if (state.compare_exchange_strong(unread, 1)) {
    read_settings(own);
    state.store(2, std::memory_order_release);
  }
  return own.settings;
}

bool Text::add(std::string_view raw) {
  if (capacity_ - size_ < raw.size()) return false;
  std::memcpy(buffer_ + size_, raw.data(), raw.size());
  size_ += raw.size();
  return true;
}

bool Text::add_escaped(std::string_view text) {
  const std::size_t before = size_;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    bool fits = true;
    if (c == '"' || c == '\\') {
      const char pair[] = {'\\', c};
      fits = add({pair, 2});
    } else if (code < 0x20) {
      const char escaped[] = {
          '\\', 'u', '0', '0', "0123456789abcdef"[code >> 4], "0123456789abcdef"[code & 15]};
      fits = add({escaped, sizeof escaped});
    } else {
      fits = add({&c, 1});
    }
    if (!fits) {
      size_ = before;
      return false;
    }
  }
  return true;
}

bool Text::add_number(unsigned long number, int base) {
  char digits[24];
  std::size_t count = 0;
  do {
    digits[sizeof digits - ++count] = "0123456789abcdef"[number % static_cast<unsigned>(base)];
    number /= static_cast<unsigned>(base);
  } while (number != 0);
  return add({digits + sizeof digits - count, count});
}

void write_record(std::string_view name, std::string_view fields, std::string_view more_fields) {
  if (settings().spool == nullptr) return;
  const int kept = errno;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char buffer[256];
  Text head(buffer, sizeof buffer);
  head.add("{\"record\":\"");
  head.add(name);
  head.add("\",\"pid\":");
  head.add_number(static_cast<unsigned long>(getpid()));
  head.add(",\"tid\":");
  head.add_number(static_cast<unsigned long>(syscall(SYS_gettid)));
  head.add(",\"ns\":");
  head.add_number(static_cast<unsigned long>(now.tv_sec) * 1'000'000'000 +
                  static_cast<unsigned long>(now.tv_nsec));
  iovec parts[] = {{},
                   {buffer, head.size()},
                   {const_cast<char*>(fields.data()), fields.size()},
                   {const_cast<char*>(more_fields.data()), more_fields.size()},
                   {const_cast<char*>("}\n"), 2}};
  const int descriptor = spool_descriptor();
  if (descriptor >= 0) append(descriptor, parts);
  errno = kept;
}

}  // namespace bench::capture
