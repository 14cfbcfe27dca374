// SPDX-License-Identifier: Apache-2.0
// libbench_capture.so: preloaded into any program, it takes oneDNN's verbose lines where oneDNN
// prints them, before they reach standard output (docs/decisions/0004-...). The functions of stdio
// below stand before those of the C library; all text that is not oneDNN's goes on to these.
//
// Text is oneDNN's when it begins with the word that its verbose lines begin with, and the code
// that prints it lies in a module that is, or holds, oneDNN; and what that module prints on the
// same thread up to the end of this line. Everything else is untouched: the check of the first
// characters is all that a program's own output costs.
#include "profiler/capture/preload/backtrace.hpp"
#include "profiler/capture/preload/line.hpp"
#include "profiler/capture/preload/module.hpp"
#include "profiler/capture/preload/spool.hpp"
#include "profiler/capture/spool_format.hpp"

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <sys/mman.h>

#define BENCH_EXPORT __attribute__((visibility("default")))

// What the C library defines beyond its headers: printf and its kin under _FORTIFY_SOURCE.
// NOLINTBEGIN(readability-identifier-naming): the C library's names.
extern "C" {
int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments);
}
// NOLINTEND(readability-identifier-naming)

namespace bench::capture {
namespace {

// The next definition of a function after this library's.
template <class Function>
Function* next_function(std::atomic<Function*>& slot, const char* name) {
  Function* found = slot.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    slot.store(found, std::memory_order_relaxed);
  }
  return found;
}

#define BENCH_NEXT(name)                                    \
  ([]() -> decltype(&::name) {                              \
    static constinit std::atomic<decltype(&::name)> slot{}; \
    return next_function(slot, #name);                      \
  }())

enum class Owner {
  program,  // not oneDNN's
  bench,    // only captured: nobody else asked for it
  both,     // captured, and printed as the user of the program wants
};

bool begins_verbose_line(const char* text) {
  static constexpr std::string_view kWords[] = {"onednn_verbose", "dnnl_verbose", "mkldnn_verbose"};
  if (text == nullptr || (*text != 'o' && *text != 'd' && *text != 'm')) return false;
  for (const std::string_view word : kWords) {
    if (std::strncmp(text, word.data(), word.size()) == 0) return true;
  }
  return false;
}

// Whether the program's user asked for verbose lines: by another value of a variable than
// `bench profile` set, or by dnnl_set_verbose. Decided at the first line, as oneDNN does.
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

// The module to whose line a text that begins with `head` belongs; nullptr: the program's.
const link_map* line_owner(FILE* stream, const char* head, const void* caller) {
  if (settings().spool == nullptr || stream != stdout) return nullptr;
  const link_map* open = open_line();
  if (open == nullptr && !begins_verbose_line(head)) return nullptr;
  const link_map* module = module_of(caller);
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

// The beginning of what a format will print, as far as it is known without formatting.
const char* head_of(const char* format, va_list arguments) {
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
  const link_map* module = line_owner(stream, head_of(format, arguments), caller);
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

// fwrite's text has no end mark: its head is looked at in a copy.
bool captures_bytes(const void* data, std::size_t size, FILE* stream, const void* caller) {
  char head[16] = {};
  if (size != 0) std::memcpy(head, data, size < sizeof head - 1 ? size : sizeof head - 1);
  return capture(stream, {static_cast<const char*>(data), size}, head, caller) == Owner::bench;
}

bool captures_character(int character, FILE* stream, const void* caller) {
  const char text[] = {static_cast<char>(character), '\0'};
  return capture(stream, {text, 1}, text, caller) == Owner::bench;
}

// oneDNN flushes after each line. After one that went to the spool this would only move the
// program's own output, which must leave when it would have left without us.
bool is_flush_of_captured(FILE* stream, const void* caller) {
  if (settings().spool == nullptr || stream != stdout || wanted().get()) return false;
  const link_map* module = module_of(caller);
  return module != nullptr && take_just_added(module);
}

const char* onednn_file() {
  for (const char* name : {"dnnl_primitive_execute", "mkldnn_primitive_execute"}) {
    const void* function = find_function(name);
    const link_map* module = function == nullptr ? nullptr : module_of(function);
    if (module != nullptr) return file_of(module, settings().program);
  }
  return nullptr;
}

const char* cuda_driver_file() {
  const void* function = find_function("cuInit");
  const link_map* module = function == nullptr ? nullptr : module_of(function);
  return module == nullptr ? nullptr : file_of(module, settings().program);
}

// All of it or nothing.
void add_file(Text& text, std::string_view field, const char* file) {
  const std::size_t before = text.size();
  if (file == nullptr || !text.add(field) || !text.add_escaped(file) || !text.add("\"")) {
    text.cut(before);
  }
}

__attribute__((constructor)) void begin_process() {
  if (settings().spool == nullptr) return;
  prepare_backtrace();
  char buffer[8192];
  Text text(buffer, sizeof buffer);
  add_file(text, ",\"program\":\"", settings().program);
  write_record("process", text.view(), {});
}

__attribute__((destructor)) void end_process() {
  if (settings().spool == nullptr) return;
  finish_line();
  char buffer[16384];
  Text text(buffer, sizeof buffer);
  add_file(text, ",\"onednn\":\"", onednn_file());
  add_file(text, ",\"cuda\":\"", cuda_driver_file());
  write_record("process_end", text.view(), {});
}

}  // namespace
}  // namespace bench::capture

// table: the functions of stdio that oneDNN prints with, or that compilers make of them
using namespace bench::capture;  // NOLINT: this file defines functions of C only from here on

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
// goes on to print for the capture.
BENCH_EXPORT int dnnl_set_verbose(int level) {
  using Set = int(int);
  auto* set = reinterpret_cast<Set*>(find_function("dnnl_set_verbose"));
  constexpr int kUnimplemented = 6;  // dnnl_unimplemented: a library without the function
  if (set == nullptr) return kUnimplemented;
  constexpr int kCreationAndExecution = 2;
  const bool silent = settings().spool != nullptr && level == 0;
  const int status = set(silent ? kCreationAndExecution : level);
  if (status == 0) wanted().set(level > 0);
  return status;
}

}  // extern "C"
