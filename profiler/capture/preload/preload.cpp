// SPDX-License-Identifier: Apache-2.0
// libbench_capture.so is preloaded into any program. It captures oneDNN's verbose lines where
// oneDNN prints them, before they reach standard output (docs/decisions/0004-...). The stdio
// functions below take precedence over those of the C library. They forward all text that is not
// oneDNN's.
//
// A text belongs to oneDNN under two conditions. It begins with the word that starts oneDNN's
// verbose lines, and the printing code is in a module that is or contains oneDNN. Text that this
// module then prints on the same thread belongs to oneDNN until the line ends. Everything else is
// untouched. For the program's own output, the only cost is a check of the first characters.
#include "profiler/capture/preload/line.hpp"
#include "profiler/capture/preload/module.hpp"
#include "profiler/capture/preload/sampler.hpp"
#include "profiler/capture/preload/spool.hpp"
#include "profiler/capture/spool_format.hpp"

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>

#define BENCH_EXPORT __attribute__((visibility("default")))

// Functions that the C library defines without declaring them: variants of printf for
// _FORTIFY_SOURCE.
// NOLINTBEGIN(readability-identifier-naming): the C library's names.
extern "C" {
int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments);
}
// NOLINTEND(readability-identifier-naming)

namespace bench::capture {
namespace {

#define BENCH_NEXT(name)                                    \
  ([]() -> decltype(&::name) {                              \
    static constinit std::atomic<decltype(&::name)> slot{}; \
    return next_function(slot, #name);                      \
  }())

enum class Owner {
  program,  // not oneDNN's
  bench,    // captured only: the user did not request it
  both,     // captured, and also printed as the program's user requested
};

bool begins_verbose_line(const char* text) {
  static constexpr std::string_view kWords[] = {"onednn_verbose", "dnnl_verbose", "mkldnn_verbose"};
  if (text == nullptr || (*text != 'o' && *text != 'd' && *text != 'm')) return false;
  for (const std::string_view word : kWords) {
    if (std::strncmp(text, word.data(), word.size()) == 0) return true;
  }
  return false;
}

// Whether the program's user requested verbose lines, with another variable value than the one that
// `bench profile` set, or with dnnl_set_verbose. Decided at the first line, as in oneDNN.
class Wanted {
 public:
  bool get() {
    int known = state_.load(std::memory_order_relaxed);
    if (known == kUnknown) {
      known = asked_by_variable() ? 1 : 0;
      state_.store(known, std::memory_order_relaxed);
    }
    return known == 1;
  }
  void set(bool wanted) { state_.store(wanted ? 1 : 0, std::memory_order_relaxed); }

 private:
  static constexpr int kUnknown = -1;

  static bool asked_by_variable() {
    for (const char* name : kVerboseVariables) {
      const char* value = std::getenv(name);
      if (value == nullptr || *value == '\0') continue;
      if (settings().verbose != nullptr && std::strcmp(value, settings().verbose) == 0) continue;
      return std::strcmp(value, "0") != 0 && std::strcmp(value, "none") != 0;
    }
    return false;
  }

  std::atomic<int> state_{kUnknown};
};

Wanted& wanted() {
  static constinit Wanted state;
  return state;
}

// Returns the module whose line a text with this beginning belongs to; nullptr if it is the
// program's.
const link_map* line_owner(FILE* stream, const char* head, const void* caller) {
  if (settings().spool == nullptr || stream != stdout) return nullptr;
  const link_map* open = open_line();
  if (open == nullptr && !begins_verbose_line(head)) return nullptr;
  const link_map* module = find_module(caller);
  if (module == nullptr) return nullptr;
  if (open != nullptr) return module == open ? module : nullptr;
  return holds_onednn(module) ? module : nullptr;
}

Owner capture(FILE* stream, std::string_view text, const char* head, const void* caller) {
  const link_map* module = line_owner(stream, head, caller);
  if (module == nullptr) return Owner::program;
  add_to_line(module, text);
  return wanted().get() ? Owner::both : Owner::bench;
}

// Returns the beginning of a format's output, as far as it is known without formatting.
const char* known_head(const char* format, va_list arguments) {
  if (format[0] != '%' || format[1] != 's') return format;
  va_list copy;
  va_copy(copy, arguments);
  const char* head = va_arg(copy, const char*);
  va_end(copy);
  return head;
}

void add_formatted(const link_map* module, const char* format, va_list arguments, int& size) {
  char usual[2048];
  va_list again;
  va_copy(again, arguments);
  size = vsnprintf(usual, sizeof usual, format, arguments);
  const auto count = static_cast<std::size_t>(size < 0 ? 0 : size);
  if (count < sizeof usual) {
    add_to_line(module, {usual, count});
  } else {
    void* pages =
        mmap(nullptr, count + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      vsnprintf(static_cast<char*>(pages), count + 1, format, again);
      add_to_line(module, {static_cast<const char*>(pages), count});
      munmap(pages, count + 1);
    }
  }
  va_end(again);
}

Owner capture_formatted(FILE* stream, const char* format, va_list arguments, const void* caller,
                        int& size) {
  const link_map* module = line_owner(stream, known_head(format, arguments), caller);
  if (module == nullptr) return Owner::program;
  va_list copy;
  va_copy(copy, arguments);
  add_formatted(module, format, copy, size);
  va_end(copy);
  return wanted().get() ? Owner::both : Owner::bench;
}

int print(FILE* stream, const char* format, va_list arguments, const void* caller) {
  int size = 0;
  if (capture_formatted(stream, format, arguments, caller, size) == Owner::bench) return size;
  return BENCH_NEXT(vfprintf)(stream, format, arguments);
}

int print_checked(FILE* stream, int flag, const char* format, va_list arguments,
                  const void* caller) {
  int size = 0;
  if (capture_formatted(stream, format, arguments, caller, size) == Owner::bench) return size;
  return BENCH_NEXT(__vfprintf_chk)(stream, flag, format, arguments);
}

bool captures_text(const char* text, FILE* stream, const void* caller) {
  return capture(stream, text == nullptr ? std::string_view() : std::string_view(text), text,
                 caller) == Owner::bench;
}

// fwrite's text has no terminating zero, so a copy of its beginning is checked.
bool captures_bytes(const void* data, std::size_t size, FILE* stream, const void* caller) {
  char head[16] = {};
  if (size != 0) std::memcpy(head, data, size < sizeof head - 1 ? size : sizeof head - 1);
  return capture(stream, {static_cast<const char*>(data), size}, head, caller) == Owner::bench;
}

bool captures_character(int character, FILE* stream, const void* caller) {
  const char text[] = {static_cast<char>(character), '\0'};
  return capture(stream, {text, 1}, text, caller) == Owner::bench;
}

// oneDNN flushes after each line. If that line went to the spool, the flush would only affect the
// program's own output. This output must appear exactly when it would without the capture.
bool is_flush_of_captured(FILE* stream, const void* caller) {
  if (settings().spool == nullptr || stream != stdout || wanted().get()) return false;
  const link_map* module = find_module(caller);
  return module != nullptr && take_just_added(module);
}

const char* onednn_file() {
  for (const char* name : {"dnnl_primitive_execute", "mkldnn_primitive_execute"}) {
    const void* function = find_function(name);
    const link_map* module = function == nullptr ? nullptr : find_module(function);
    if (module != nullptr) return module_path(module, settings().program);
  }
  return nullptr;
}

const char* cuda_driver_file() {
  const void* function = find_function("cuInit");
  const link_map* module = function == nullptr ? nullptr : find_module(function);
  return module == nullptr ? nullptr : module_path(module, settings().program);
}

// Adds the complete field or nothing.
void add_file(Text& text, std::string_view field, const char* file) {
  const std::size_t before = text.size();
  if (file == nullptr || !text.add(field) || !text.add_escaped(file) || !text.add("\"")) {
    text.cut(before);
  }
}

// The CPU time of the process, of which samples show a part.
void add_cpu_times(Text& text) {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  text.add(",\"cpu_ns\":");
  text.add_number(static_cast<unsigned long>(used.tv_sec) * 1'000'000'000 +
                  static_cast<unsigned long>(used.tv_nsec));
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return;
  text.add(",\"kernel_ns\":");
  text.add_number(static_cast<unsigned long>(usage.ru_stime.tv_sec) * 1'000'000'000 +
                  static_cast<unsigned long>(usage.ru_stime.tv_usec) * 1000);
}

// The rank of a process of a distributed job. `bench profile` reads the number.
void add_rank(Text& text) {
  for (const RankVariable& variable : kRankVariables) {
    if (variable.companion != nullptr && std::getenv(variable.companion) == nullptr) continue;
    const char* value = std::getenv(variable.name);
    if (value == nullptr || *value < '0' || *value > '9') continue;
    add_file(text, ",\"rank\":\"", value);
    return;
  }
}

__attribute__((constructor)) void begin_process() {
  if (settings().spool == nullptr) return;
  prepare_backtrace();
  char buffer[8192];
  Text text(buffer, sizeof buffer);
  add_file(text, ",\"program\":\"", settings().program);
  add_rank(text);
  write_record("process", text.view(), {});
  start_sampling();
}

__attribute__((destructor)) void end_process() {
  if (settings().spool == nullptr) return;
  finish_line();
  char buffer[16384];
  Text text(buffer, sizeof buffer);
  stop_sampling(text);
  add_cpu_times(text);
  add_file(text, ",\"onednn\":\"", onednn_file());
  add_file(text, ",\"cuda\":\"", cuda_driver_file());
  write_record("process_end", text.view(), {});
}

}  // namespace
}  // namespace bench::capture

// table: the stdio functions that oneDNN calls, or that compilers replace them with
using namespace bench::capture;  // NOLINT: from here on, this file defines only C functions

#define BENCH_CALLER __builtin_return_address(0)

extern "C" {

BENCH_EXPORT int vfprintf(FILE* stream, const char* format, va_list arguments) {
  return print(stream, format, arguments, BENCH_CALLER);
}

BENCH_EXPORT int vprintf(const char* format, va_list arguments) {
  return print(stdout, format, arguments, BENCH_CALLER);
}

BENCH_EXPORT int fprintf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int size = print(stream, format, arguments, BENCH_CALLER);
  va_end(arguments);
  return size;
}

BENCH_EXPORT int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int size = print(stdout, format, arguments, BENCH_CALLER);
  va_end(arguments);
  return size;
}

// NOLINTBEGIN(readability-identifier-naming)
BENCH_EXPORT int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments) {
  return print_checked(stream, flag, format, arguments, BENCH_CALLER);
}

BENCH_EXPORT int __vprintf_chk(int flag, const char* format, va_list arguments) {
  return print_checked(stdout, flag, format, arguments, BENCH_CALLER);
}

BENCH_EXPORT int __fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int size = print_checked(stream, flag, format, arguments, BENCH_CALLER);
  va_end(arguments);
  return size;
}

BENCH_EXPORT int __printf_chk(int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int size = print_checked(stdout, flag, format, arguments, BENCH_CALLER);
  va_end(arguments);
  return size;
}
// NOLINTEND(readability-identifier-naming)

BENCH_EXPORT int puts(const char* text) {
  const void* caller = BENCH_CALLER;
  const std::string_view whole = text == nullptr ? std::string_view() : std::string_view(text);
  const Owner owner = capture(stdout, whole, text, caller);
  if (owner != Owner::program) capture(stdout, "\n", "\n", caller);
  return owner == Owner::bench ? 1 : BENCH_NEXT(puts)(text);
}

BENCH_EXPORT int fputs(const char* text, FILE* stream) {
  return captures_text(text, stream, BENCH_CALLER) ? 1 : BENCH_NEXT(fputs)(text, stream);
}

BENCH_EXPORT std::size_t fwrite(const void* data, std::size_t size, std::size_t count,
                                FILE* stream) {
  if (captures_bytes(data, size * count, stream, BENCH_CALLER)) return count;
  return BENCH_NEXT(fwrite)(data, size, count, stream);
}

BENCH_EXPORT int fputc(int character, FILE* stream) {
  const bool captured = captures_character(character, stream, BENCH_CALLER);
  return captured ? static_cast<unsigned char>(character) : BENCH_NEXT(fputc)(character, stream);
}

#undef putc
BENCH_EXPORT int putc(int character, FILE* stream) {
  const bool captured = captures_character(character, stream, BENCH_CALLER);
  return captured ? static_cast<unsigned char>(character) : BENCH_NEXT(fputc)(character, stream);
}

BENCH_EXPORT int putchar(int character) {
  const bool captured = captures_character(character, stdout, BENCH_CALLER);
  return captured ? static_cast<unsigned char>(character) : BENCH_NEXT(fputc)(character, stdout);
}

BENCH_EXPORT int fflush(FILE* stream) {
  return is_flush_of_captured(stream, BENCH_CALLER) ? 0 : BENCH_NEXT(fflush)(stream);
}

// A program that sets the level itself wants the lines, or none, on its standard output. oneDNN
// keeps printing for the capture.
BENCH_EXPORT int dnnl_set_verbose(int level) {
  using Set = int(int);
  auto* set = reinterpret_cast<Set*>(find_function("dnnl_set_verbose"));
  constexpr int kUnimplemented = 6;  // dnnl_unimplemented: the library does not have the function
  if (set == nullptr) return kUnimplemented;
  constexpr int kCreationAndExecution = 2;
  const bool silent = settings().spool != nullptr && level == 0;
  const int status = set(silent ? kCreationAndExecution : level);
  if (status == 0) wanted().set(level > 0);
  return status;
}

}  // extern "C"
