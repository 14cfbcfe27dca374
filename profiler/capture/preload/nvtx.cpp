// SPDX-License-Identifier: Apache-2.0
// Callbacks for NVTX, with which programs and frameworks are annotated. NVTX calls them if
// NVTX_INJECTION64_PATH names this library. Each range, mark and name becomes a record. This
// library stores no names: domains and registered strings are numbers, whose names the reader
// knows.
#include "profiler/capture/preload/spool.hpp"

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <pthread.h>
#include <string_view>
#include <sys/mman.h>

#define BENCH_EXPORT __attribute__((visibility("default")))

namespace bench::capture {
namespace {

// Maximum characters of one text; the rest is cut. A framework writes some thousands for a long
// list of tensors.
constexpr std::size_t kMaxCharacters = 150'000;
// Size of all fields except the text.
constexpr std::size_t kFieldsSize = 256;

// A text as the program passed it; at most one of the three is set.
struct Message {
  const char* text = nullptr;
  const wchar_t* wide = nullptr;
  std::uint64_t registered = 0;

  std::size_t length() const {
    if (text != nullptr) return strnlen(text, kMaxCharacters);
    return wide == nullptr ? 0 : wcsnlen(wide, kMaxCharacters);
  }
};

struct Payload {
  int type = NVTX_PAYLOAD_UNKNOWN;
  std::uint64_t bits = 0;
};

struct Event {
  Message message;
  std::uint64_t domain = 0;  // 0 for the default domain
  std::uint64_t category = 0;
  std::uint64_t id = 0;
  Payload payload;
};

using Handle = std::uint64_t;

Handle fresh_handle() {
  static constinit std::atomic<Handle> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

template <class Pointer>
Handle to_handle(Pointer pointer) {
  return reinterpret_cast<Handle>(pointer);
}

bool add_utf8(Text& fields, std::uint32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  char bytes[4];
  std::size_t size = 0;
  if (code < 0x80) {
    bytes[size++] = static_cast<char>(code);
  } else {
    const std::size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
    bytes[size++] = static_cast<char>(kLead[more] | (code >> (6 * more)));
    for (std::size_t i = more; i-- > 0;) {
      bytes[size++] = static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
    }
  }
  return fields.add_escaped({bytes, size});
}

void add_number(Text& fields, std::string_view name, std::uint64_t number) {
  if (number == 0) return;
  fields.add(name);
  fields.add_number(number);
}

void add_message(Text& fields, const Message& message, std::size_t length) {
  add_number(fields, ",\"string\":", message.registered);
  if (message.text == nullptr && message.wide == nullptr) return;
  fields.add(",\"text\":\"");
  if (message.text != nullptr) fields.add_escaped({message.text, length});
  for (std::size_t i = 0; message.text == nullptr && i < length; ++i) {
    add_utf8(fields, static_cast<std::uint32_t>(message.wide[i]));
  }
  fields.add("\"");
}

void write_fields(std::string_view record, const Event& event, char* buffer, std::size_t size,
                  std::size_t length) {
  Text fields(buffer, size);
  add_number(fields, ",\"domain\":", event.domain);
  add_number(fields, ",\"category\":", event.category);
  add_number(fields, ",\"id\":", event.id);
  if (event.payload.type != NVTX_PAYLOAD_UNKNOWN) {
    add_number(fields, ",\"payload_type\":", static_cast<std::uint64_t>(event.payload.type));
    fields.add(",\"payload\":");
    fields.add_number(event.payload.bits);
  }
  add_message(fields, event.message, length);
  write_record(record, fields.view(), {});
}

void write_event(std::string_view record, const Event& event) {
  const int kept = errno;
  note_fork();
  const std::size_t length = event.message.length();
  const std::size_t wanted = kFieldsSize + length * kMaxEscaped;
  char usual[4096];
  if (wanted <= sizeof usual) {
    write_fields(record, event, usual, sizeof usual, length);
  } else {
    void* pages = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      write_fields(record, event, static_cast<char*>(pages), wanted, length);
      munmap(pages, wanted);
    }
  }
  errno = kept;
}

Message ascii(const char* text) { return {.text = text == nullptr ? "" : text}; }
Message wide(const wchar_t* text) { return {.wide = text == nullptr ? L"" : text}; }

Message read_message(const nvtxEventAttributes_t& attributes) {
  switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return ascii(attributes.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return wide(attributes.message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return {.registered = to_handle(attributes.message.registered)};
    default:
      return ascii("");
  }
}

Payload read_payload(const nvtxEventAttributes_t& attributes) {
  Payload payload{attributes.payloadType, attributes.payload.ullValue};
  const bool is_short = payload.type == NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 ||
                        payload.type == NVTX_PAYLOAD_TYPE_INT32 ||
                        payload.type == NVTX_PAYLOAD_TYPE_FLOAT;
  if (is_short) payload.bits &= 0xFFFFFFFF;
  return payload;
}

Event event_of(const nvtxEventAttributes_t* attributes, nvtxDomainHandle_t domain = nullptr) {
  Event event;
  event.domain = to_handle(domain);
  if (attributes == nullptr) {
    event.message = ascii("");
    return event;
  }
  event.message = read_message(*attributes);
  event.category = attributes->category;
  event.payload = read_payload(*attributes);
  return event;
}

Event event_of(Message message) {
  Event event;
  event.message = message;
  return event;
}

// Nesting levels that the push and pop functions return, for the first domains only. NVTX allows
// returning NVTX_NO_PUSH_POP_TRACKING for others.
constexpr std::size_t kCountedDomains = 16;
__thread int levels[kCountedDomains] __attribute__((tls_model("initial-exec"))) = {};

// A thread's end also ends its open ranges. Another thread may soon reuse its id. If the program
// uses all keys, no callback marks the end of a thread; the key 0 would be one of the program's.
void watch_thread_end() {
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  static constinit pthread_key_t key{};
  static constinit bool has_key = false;
  pthread_once(&once, [] {
    has_key = pthread_key_create(&key, [](void*) { write_record("thread_end", {}, {}); }) == 0;
  });
  if (has_key && pthread_getspecific(key) == nullptr) pthread_setspecific(key, &key);
}

int push(const Event& event) {
  watch_thread_end();
  write_event("nvtx_push", event);
  if (event.domain >= kCountedDomains) return NVTX_NO_PUSH_POP_TRACKING;
  return levels[event.domain]++;
}

int pop(Handle domain) {
  Event event;
  event.domain = domain;
  write_event("nvtx_pop", event);
  if (domain >= kCountedDomains || levels[domain] == 0) return NVTX_NO_PUSH_POP_TRACKING;
  return --levels[domain];
}

nvtxRangeId_t start(Event event) {
  event.id = fresh_handle();
  write_event("nvtx_start", event);
  return event.id;
}

void end(nvtxRangeId_t id) {
  Event event;
  event.id = id;
  write_event("nvtx_end", event);
}

void mark(const Event& event) { write_event("nvtx_mark", event); }

void name(std::string_view record, Message message, std::uint64_t id, Handle domain = 0) {
  Event event;
  event.message = message;
  event.id = id;
  event.domain = domain;
  write_event(record, event);
}

template <class Result>
Result make_named(std::string_view record, Message message, Handle domain = 0) {
  const Handle handle = fresh_handle();
  name(record, message, handle, domain);
  return reinterpret_cast<Result>(handle);
}

// table: one function per callback, as NVTX declares them
int push_ascii(const char* text) { return push(event_of(ascii(text))); }
int push_wide(const wchar_t* text) { return push(event_of(wide(text))); }
int push_attributes(const nvtxEventAttributes_t* attributes) { return push(event_of(attributes)); }
int pop_default() { return pop(0); }
nvtxRangeId_t start_ascii(const char* text) { return start(event_of(ascii(text))); }
nvtxRangeId_t start_wide(const wchar_t* text) { return start(event_of(wide(text))); }
nvtxRangeId_t start_attributes(const nvtxEventAttributes_t* attributes) {
  return start(event_of(attributes));
}
void mark_ascii(const char* text) { mark(event_of(ascii(text))); }
void mark_wide(const wchar_t* text) { mark(event_of(wide(text))); }
void mark_attributes(const nvtxEventAttributes_t* attributes) { mark(event_of(attributes)); }
void name_category_ascii(std::uint32_t category, const char* text) {
  name("nvtx_category", ascii(text), category);
}
void name_category_wide(std::uint32_t category, const wchar_t* text) {
  name("nvtx_category", wide(text), category);
}
void name_thread_ascii(std::uint32_t thread, const char* text) {
  name("nvtx_thread", ascii(text), thread);
}
void name_thread_wide(std::uint32_t thread, const wchar_t* text) {
  name("nvtx_thread", wide(text), thread);
}

int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return push(event_of(attributes, domain));
}
int domain_pop(nvtxDomainHandle_t domain) { return pop(to_handle(domain)); }
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return start(event_of(attributes, domain));
}
void domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }
void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  mark(event_of(attributes, domain));
}
void domain_category_ascii(nvtxDomainHandle_t domain, std::uint32_t category, const char* text) {
  name("nvtx_category", ascii(text), category, to_handle(domain));
}
void domain_category_wide(nvtxDomainHandle_t domain, std::uint32_t category, const wchar_t* text) {
  name("nvtx_category", wide(text), category, to_handle(domain));
}
nvtxStringHandle_t register_ascii(nvtxDomainHandle_t domain, const char* text) {
  return make_named<nvtxStringHandle_t>("nvtx_string", ascii(text), to_handle(domain));
}
nvtxStringHandle_t register_wide(nvtxDomainHandle_t domain, const wchar_t* text) {
  return make_named<nvtxStringHandle_t>("nvtx_string", wide(text), to_handle(domain));
}
nvtxDomainHandle_t create_domain_ascii(const char* text) {
  return make_named<nvtxDomainHandle_t>("nvtx_domain", ascii(text));
}
nvtxDomainHandle_t create_domain_wide(const wchar_t* text) {
  return make_named<nvtxDomainHandle_t>("nvtx_domain", wide(text));
}
// Recorded ranges keep the domain's name.
void destroy_domain(nvtxDomainHandle_t) {}

// The function table of one NVTX module, as far as its version provides it.
class Table {
 public:
  Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &functions_, &size_) == 0) size_ = 0;
  }
  template <class Function>
  void install(unsigned id, Function* function) {
    if (id < size_) *functions_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable functions_ = nullptr;
  unsigned size_ = 0;
};

void install_core(Table table) {
  table.install(NVTX_CBID_CORE_MarkEx, mark_attributes);
  table.install(NVTX_CBID_CORE_MarkA, mark_ascii);
  table.install(NVTX_CBID_CORE_MarkW, mark_wide);
  table.install(NVTX_CBID_CORE_RangeStartEx, start_attributes);
  table.install(NVTX_CBID_CORE_RangeStartA, start_ascii);
  table.install(NVTX_CBID_CORE_RangeStartW, start_wide);
  table.install(NVTX_CBID_CORE_RangeEnd, end);
  table.install(NVTX_CBID_CORE_RangePushEx, push_attributes);
  table.install(NVTX_CBID_CORE_RangePushA, push_ascii);
  table.install(NVTX_CBID_CORE_RangePushW, push_wide);
  table.install(NVTX_CBID_CORE_RangePop, pop_default);
  table.install(NVTX_CBID_CORE_NameCategoryA, name_category_ascii);
  table.install(NVTX_CBID_CORE_NameCategoryW, name_category_wide);
  table.install(NVTX_CBID_CORE_NameOsThreadA, name_thread_ascii);
  table.install(NVTX_CBID_CORE_NameOsThreadW, name_thread_wide);
}

void install_domains(Table table) {
  table.install(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  table.install(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  table.install(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  table.install(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  table.install(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  table.install(NVTX_CBID_CORE2_DomainNameCategoryA, domain_category_ascii);
  table.install(NVTX_CBID_CORE2_DomainNameCategoryW, domain_category_wide);
  table.install(NVTX_CBID_CORE2_DomainRegisterStringA, register_ascii);
  table.install(NVTX_CBID_CORE2_DomainRegisterStringW, register_wide);
  table.install(NVTX_CBID_CORE2_DomainCreateA, create_domain_ascii);
  table.install(NVTX_CBID_CORE2_DomainCreateW, create_domain_wide);
  table.install(NVTX_CBID_CORE2_DomainDestroy, destroy_domain);
}

}  // namespace
}  // namespace bench::capture

// NVTX calls this once for each copy of NVTX in the process, at that copy's first call. If it
// returns 0, NVTX never calls this library again.
extern "C" BENCH_EXPORT int InitializeInjectionNvtx2(  // NOLINT: NVTX's name
    NvtxGetExportTableFunc_t get_export_table) {
  using namespace bench::capture;
  if (settings().spool == nullptr) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  install_core(Table(*callbacks, NVTX_CB_MODULE_CORE));
  install_domains(Table(*callbacks, NVTX_CB_MODULE_CORE2));
  return 1;
}
