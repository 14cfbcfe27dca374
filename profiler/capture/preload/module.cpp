// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/preload/module.hpp"

#include "profiler/capture/preload/spool.hpp"

#include <execinfo.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <string_view>

namespace bench::capture {
namespace {

// The parts of a dynamic section that a symbol lookup needs.
struct Symbols {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;  // DT_HASH, the older form
};

Symbols read_symbols(const link_map* module) {
  Symbols found;
  for (const ElfW(Dyn)* entry = module->l_ld; entry->d_tag != DT_NULL; ++entry) {
    // glibc relocates these pointers when it loads a module, except in the kernel's own module
    // (vDSO).
    auto address = entry->d_un.d_ptr;
    if (address < module->l_addr) address += module->l_addr;
    if (entry->d_tag == DT_SYMTAB) {
      found.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    } else if (entry->d_tag == DT_STRTAB) {
      found.names = reinterpret_cast<const char*>(address);
    } else if (entry->d_tag == DT_GNU_HASH) {
      found.gnu_hash = reinterpret_cast<const std::uint32_t*>(address);
    } else if (entry->d_tag == DT_HASH) {
      found.hash = reinterpret_cast<const std::uint32_t*>(address);
    }
  }
  return found;
}

bool defines(const Symbols& table, std::uint32_t index, const char* name) {
  const ElfW(Sym)& symbol = table.symbols[index];
  return symbol.st_shndx != SHN_UNDEF && std::strcmp(table.names + symbol.st_name, name) == 0;
}

const ElfW(Sym) * find_by_gnu_hash(const Symbols& table, const char* name) {
  const std::uint32_t buckets = table.gnu_hash[0];
  const std::uint32_t first = table.gnu_hash[1];
  const std::uint32_t bloom_words = table.gnu_hash[2];
  if (buckets == 0) return nullptr;
  const auto* heads = table.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const std::uint32_t* chains = heads + buckets;
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  std::uint32_t index = heads[hash % buckets];
  if (index < first) return nullptr;
  for (;; ++index) {
    const std::uint32_t entry = chains[index - first];
    if ((entry | 1) == (hash | 1) && defines(table, index, name)) return &table.symbols[index];
    if ((entry & 1) != 0) return nullptr;
  }
}

const ElfW(Sym) * find_symbol(const link_map* module, const char* name) {
  const Symbols table = read_symbols(module);
  if (table.symbols == nullptr || table.names == nullptr) return nullptr;
  if (table.gnu_hash != nullptr) return find_by_gnu_hash(table, name);
  if (table.hash == nullptr) return nullptr;
  for (std::uint32_t index = 0; index < table.hash[1]; ++index) {
    if (defines(table, index, name)) return &table.symbols[index];
  }
  return nullptr;
}

struct Search {
  ElfW(Addr) base;
  const ElfW(Dyn) * dynamic;
  bool found;
};

// Constants that every oneDNN for CPUs has contained since 1.0, including the terminating zero: an
// implementation name and an algorithm name. A program that prints lines like oneDNN's contains the
// beginning of such a line. It hardly contains these names as separate strings.
constexpr std::string_view kImplementation("simple:any", sizeof "simple:any");
constexpr std::string_view kAlgorithm("\0eltwise_relu", sizeof "\0eltwise_relu");

// Searches one module's constants for the beginning of a verbose line and for strings that only the
// library contains.
int search_constants(dl_phdr_info* module, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool same = false;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    same = same || (segment.p_type == PT_DYNAMIC &&
                    reinterpret_cast<const ElfW(Dyn)*>(module->dlpi_addr + segment.p_vaddr) ==
                        search.dynamic);
  }
  if (!same) return 0;
  const auto holds = [&](std::string_view text) {
    for (int i = 0; i < module->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = module->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
      const char* begin = reinterpret_cast<const char*>(module->dlpi_addr + segment.p_vaddr);
      if (memmem(begin, segment.p_filesz, text.data(), text.size()) != nullptr) return true;
    }
    return false;
  };
  search.found = (holds("onednn_verbose") || holds("dnnl_verbose")) && holds(kImplementation) &&
                 holds(kAlgorithm);
  return 1;
}

bool examine(const link_map* module) {
  for (const char* name :
       {"dnnl_primitive_execute", "mkldnn_primitive_execute", "mkldnn_version"}) {
    if (find_symbol(module, name) != nullptr) return true;
  }
  Search search{module->l_addr, module->l_ld, false};
  dl_iterate_phdr(search_constants, &search);
  return search.found;
}

// Cached verdicts. The address of a module's dynamic section identifies it; the lowest bit set
// means "no".
constexpr std::size_t kMaxModules = 32;

struct Verdicts {
  std::atomic<std::uintptr_t> entries[kMaxModules];
};

Verdicts& verdicts() {
  static constinit Verdicts known{};
  return known;
}

}  // namespace

const link_map* find_module(const void* address) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE  // glibc 2.35
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return nullptr;
  return found.dlfo_link_map;
#else
  Dl_info info;
  void* module = nullptr;
  if (dladdr1(address, &info, &module, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<const link_map*>(module);
#endif
}

bool holds_onednn(const link_map* module) {
  const auto key = reinterpret_cast<std::uintptr_t>(module->l_ld);
  for (std::atomic<std::uintptr_t>& entry : verdicts().entries) {
    const std::uintptr_t known = entry.load(std::memory_order_acquire);
    if (known == key) return true;
    if (known == (key | 1)) return false;
    if (known != 0) continue;
    const bool verdict = examine(module);
    std::uintptr_t empty = 0;
    entry.compare_exchange_strong(empty, verdict ? key : key | 1);
    return verdict;
  }
  return examine(module);
}

const char* module_path(const link_map* module, const char* program) {
  return module->l_name == nullptr || module->l_name[0] == '\0' ? program : module->l_name;
}

void* find_function(const char* name) {
  const link_map* own = find_module(reinterpret_cast<const void*>(&find_function));
  const link_map* first = own;
  while (first != nullptr && first->l_prev != nullptr) first = first->l_prev;
  for (const link_map* module = first; module != nullptr; module = module->l_next) {
    if (module == own || module->l_ld == nullptr) continue;
    const ElfW(Sym)* symbol = find_symbol(module, name);
    if (symbol != nullptr) return reinterpret_cast<void*>(module->l_addr + symbol->st_value);
  }
  return nullptr;
}

namespace {

constexpr int kMaxFrames = 64;

bool add_frame(Text& text, const void* address, const char* program) {
  // This is a return address. The call is before it, and may be the last instruction of its
  // function.
  const char* call = static_cast<const char*>(address) - 1;
  const link_map* module = find_module(call);
  if (module == nullptr) return text.add("\"?\"");  // generated code
  return text.add("\"") && text.add_escaped(module_path(module, program)) && text.add("+0x") &&
         text.add_number(reinterpret_cast<unsigned long>(call) - module->l_addr, 16) &&
         text.add("\"");
}

}  // namespace

void prepare_backtrace() {
  void* frame = nullptr;
  if (settings().backtrace) backtrace(&frame, 1);
}

std::string_view backtrace_field(char* buffer, std::size_t capacity) {
  if (!settings().backtrace) return {};
  void* frames[kMaxFrames];
  const int count = backtrace(frames, kMaxFrames);
  const link_map* own = find_module(reinterpret_cast<const void*>(&backtrace_field));
  Text text(buffer, capacity - 1);
  text.add(",\"backtrace\":[");
  const char* separator = "";
  for (int i = 0; i < count; ++i) {
    if (find_module(static_cast<const char*>(frames[i]) - 1) == own) continue;
    const std::size_t before = text.size();
    if (!text.add(separator) || !add_frame(text, frames[i], settings().program)) {
      text.cut(before);
      break;
    }
    separator = ",";
  }
  buffer[text.size()] = ']';
  return {buffer, text.size() + 1};
}

}  // namespace bench::capture
