// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/library.hpp"

#include "base/dynamic_library.hpp"

#include <dnnl.h>
#include <dnnl_config.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <dlfcn.h>
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
  const void* const symbol = DynamicLibrary::whole_process().symbol("omp_get_max_threads");
  if (symbol == nullptr) return {};
  const std::string path = find_library_path(symbol);
  return fmt::format(" ({})", path.substr(path.rfind('/') + 1));
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

bool onednn_is_synchronous() {
  constexpr unsigned kAsynchronous = DNNL_RUNTIME_THREADPOOL | DNNL_RUNTIME_SYCL;
  return (dnnl_version()->cpu_runtime & kAsynchronous) == 0;
}

}  // namespace bench::ops
