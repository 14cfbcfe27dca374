// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/library.hpp"

#include <dnnl.h>
#include <dnnl_config.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <link.h>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

struct InstructionSet {
  int value;
  std::string_view name;
};

// The values are the library's ABI. Newer libraries have sets that these headers do not name.
constexpr std::array<InstructionSet, 13> kInstructionSets = {{
    {0x0, "DEFAULT"},
    {0x1, "SSE41"},
    {0x3, "AVX"},
    {0x7, "AVX2"},
    {0xf, "AVX2_VNNI"},
    {0x1f, "AVX2_VNNI_2"},
    {0x27, "AVX512_CORE"},
    {0x67, "AVX512_CORE_VNNI"},
    {0xe7, "AVX512_CORE_BF16"},
    {0x1ef, "AVX512_CORE_FP16"},
    {0xfef, "AVX512_CORE_AMX"},
    {0x1fef, "AVX512_CORE_AMX_FP16"},
    {0x201ff, "AVX10_2_512"},
}};

struct Runtime {
  unsigned value;
  std::string_view name;
};

constexpr std::array<Runtime, 5> kRuntimes = {{
    {DNNL_RUNTIME_SEQ, "sequential"},
    {DNNL_RUNTIME_OMP, "OpenMP"},
    {DNNL_RUNTIME_TBB, "TBB"},
    {DNNL_RUNTIME_THREADPOOL, "thread pool"},
    {DNNL_RUNTIME_SYCL, "SYCL"},
}};

std::string_view runtime_name(unsigned value) {
  const auto* row = std::ranges::find(kRuntimes, value, &Runtime::value);
  return row == kRuntimes.end() ? std::string_view("unknown runtime") : row->name;
}

std::string find_library_path(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

// Names the OpenMP runtime that serves oneDNN's calls: GNU's and Intel's differ in speed. The
// thread count is excluded because it differs between the workers of a run.
std::string openmp_detail() {
  const void* const symbol = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  if (symbol == nullptr) return {};
  const std::string path = find_library_path(symbol);
  return fmt::format(" ({})", path.substr(path.rfind('/') + 1));
}

// Returns the names of the functions that a loaded object calls in others and that the loader has
// not resolved when the program starts. `section` is the object's dynamic section, `base` its load
// address.
std::vector<std::string_view> called_functions(const ElfW(Dyn) * section, ElfW(Addr) base) {
  std::map<ElfW(Sxword), ElfW(Addr)> values;
  for (; section->d_tag != DT_NULL; ++section) values[section->d_tag] = section->d_un.d_ptr;
  for (const auto tag : {DT_JMPREL, DT_SYMTAB, DT_STRTAB}) {
    if (!values.contains(tag)) return {};
    // Not every loader has replaced the offsets in the file by addresses.
    if (values[tag] < base) values[tag] += base;
  }
  if (values[DT_PLTREL] != DT_RELA) return {};
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(values[DT_SYMTAB]);
  const auto* const texts = reinterpret_cast<const char*>(values[DT_STRTAB]);
  std::vector<std::string_view> names;
  for (const ElfW(Rela) & call :
       std::span(reinterpret_cast<const ElfW(Rela)*>(values[DT_JMPREL]),
                 static_cast<std::size_t>(values[DT_PLTRELSZ]) / sizeof(ElfW(Rela)))) {
    names.emplace_back(texts + symbols[ELF64_R_SYM(call.r_info)].st_name);
  }
  return names;
}

std::vector<std::string> find_missing_functions() {
  std::vector<std::string_view> called;
  // The program is the first object, and contains this code.
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* names) {
        for (const auto& part : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
          if (part.p_type != PT_DYNAMIC) continue;
          const ElfW(Addr) address = program->dlpi_addr + part.p_vaddr;
          *static_cast<std::vector<std::string_view>*>(names) =
              called_functions(reinterpret_cast<const ElfW(Dyn)*>(address), program->dlpi_addr);
        }
        return 1;
      },
      &called);
  std::vector<std::string> missing;
  for (const std::string_view name : called) {
    if (name.starts_with("dnnl_") && dlsym(RTLD_DEFAULT, std::string(name).c_str()) == nullptr)
      missing.emplace_back(name);
  }
  std::ranges::sort(missing);
  return missing;
}

}  // namespace

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

namespace {

// Returns the version of the library with which this program was compiled. An older library may
// lack functions that this program calls.
std::string headers_version() {
  return fmt::format("{}.{}.{}", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH);
}

}  // namespace

std::string onednn_instruction_set() {
  const auto value = static_cast<int>(dnnl_get_effective_cpu_isa());
  const auto* row = std::ranges::find(kInstructionSets, value, &InstructionSet::value);
  return row == kInstructionSets.end() ? fmt::format("{:#x}", value) : std::string(row->name);
}

LibraryInfo onednn_library() {
  const dnnl_version_t* version = dnnl_version();
  std::string detail(runtime_name(version->cpu_runtime));
  if (version->cpu_runtime == DNNL_RUNTIME_OMP) detail += openmp_detail();
  detail += ", " + onednn_instruction_set();
  if (version->hash != nullptr) detail += fmt::format(", build {}", version->hash);
  if (const std::string built = headers_version(); built != onednn_version())
    detail += fmt::format(", bench is built against {}", built);
  LibraryInfo library = onednn_library_file();
  library.detail = std::move(detail);
  return library;
}

LibraryInfo onednn_library_file() {
  return {.name = "onednn",
          .version = onednn_version(),
          .path = find_library_path(reinterpret_cast<const void*>(&dnnl_version)),
          .detail = ""};
}

const std::vector<std::string>& missing_onednn_functions() {
  static const std::vector<std::string> kMissing = find_missing_functions();
  return kMissing;
}

bool onednn_is_synchronous() {
  constexpr unsigned kAsynchronous = DNNL_RUNTIME_THREADPOOL | DNNL_RUNTIME_SYCL;
  return (dnnl_version()->cpu_runtime & kAsynchronous) == 0;
}

}  // namespace bench::ops
