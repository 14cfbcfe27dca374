// SPDX-License-Identifier: Apache-2.0
#include "ops/blas/loaded_blas.hpp"

#include "base/file.hpp"
#include "base/processors.hpp"
#include "ops/blas/thread_pinning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace bench::ops {
namespace {

// The functions of a loaded library, whose names may have a prefix: OpenBLAS in Python packages
// exports scipy_cblas_sgemm. Remembers the names that are missing.
class BlasSymbols {
 public:
  explicit BlasSymbols(const DynamicLibrary& library) : library_(library) {}

  // Leaves `function` null if the library does not have the name.
  template <class Function>
  void find(const std::string& name, Function*& function) const {
    for (const char* prefix : {"", "scipy_"}) {
      function = reinterpret_cast<Function*>(library_.symbol((prefix + name).c_str()));
      if (function != nullptr) return;
    }
  }
  template <class Function>
  void require(const std::string& name, Function*& function) {
    find(name, function);
    if (function == nullptr) missing_.push_back(name);
  }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  const DynamicLibrary& library_;
  std::vector<std::string> missing_;
};

// Returns the first run of digits and dots in the text: "0.3.21".
std::string version_in(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t begin = std::min(text.find_first_of(kDigits), text.size());
  text.remove_prefix(begin);
  std::string_view version = text.substr(0, text.find_first_not_of("0123456789."));
  while (version.ends_with('.')) version.remove_suffix(1);
  return std::string(version);
}

void describe_openblas(BlasSymbols& symbols, LoadedBlas& loaded) {
  int (*get_parallel)() = nullptr;
  const char* (*get_config)() = nullptr;
  const char* (*get_core)() = nullptr;
  void (*set_threads)(int) = nullptr;
  symbols.require("openblas_get_parallel", get_parallel);
  symbols.require("openblas_get_config", get_config);
  symbols.require("openblas_get_corename", get_core);
  symbols.require("openblas_set_num_threads", set_threads);
  if (!symbols.missing().empty()) return;
  // The values of openblas_get_parallel().
  constexpr std::array kThreads = {BlasThreads::none, BlasThreads::own_pool, BlasThreads::openmp};
  const auto parallel = static_cast<std::size_t>(get_parallel());
  loaded.threads = kThreads[std::min(parallel, kThreads.size() - 1)];
  loaded.info.version = version_in(get_config());
  loaded.info.detail = get_config();
  loaded.kernel = get_core();
  loaded.set_threads = set_threads;
}

// The integers of BLIS's own interface have 64 bits, also if those of CBLAS have 32.
void describe_blis(BlasSymbols& symbols, LoadedBlas& loaded) {
  const char* (*get_version)() = nullptr;
  std::int64_t (*has_openmp)() = nullptr;
  std::int64_t (*has_pthreads)() = nullptr;
  int (*query_architecture)() = nullptr;
  const char* (*architecture_name)(int) = nullptr;
  void (*set_threads)(std::int64_t) = nullptr;
  symbols.require("bli_info_get_version_str", get_version);
  symbols.require("bli_info_get_enable_openmp", has_openmp);
  symbols.require("bli_info_get_enable_pthreads", has_pthreads);
  symbols.require("bli_arch_query_id", query_architecture);
  symbols.require("bli_arch_string", architecture_name);
  symbols.require("bli_thread_set_num_threads", set_threads);
  if (!symbols.missing().empty()) return;
  loaded.threads = has_openmp() != 0     ? BlasThreads::openmp
                   : has_pthreads() != 0 ? BlasThreads::per_call
                                         : BlasThreads::none;
  loaded.info.version = version_in(get_version());
  loaded.info.detail = fmt::format("BLIS {}", get_version());
  loaded.kernel = architecture_name(query_architecture());
  loaded.set_threads = [set_threads](int threads) { set_threads(threads); };
}

// MKLVersion of mkl_service.h.
struct MklVersion {
  int major, minor, update;
  const char *status, *build, *processor, *platform;
};

// Returns the instruction set in a text such as "Intel(R) Advanced Vector Extensions 2 (Intel(R)
// AVX2) enabled processors": "AVX2". Empty if it names none.
std::string mkl_instruction_set(std::string_view processor) {
  constexpr std::string_view kBegin = "(Intel(R) ";
  const std::size_t begin = processor.find(kBegin);
  if (begin == processor.npos) return "";
  processor.remove_prefix(begin + kBegin.size());
  return std::string(processor.substr(0, processor.find(')')));
}

// The threading layer is that of GNU OpenMP, whose threads this process has and pins already.
// $MKL_THREADING_LAYER chooses another.
void describe_mkl(BlasSymbols& symbols, LoadedBlas& loaded) {
  void (*get_version)(MklVersion*) = nullptr;
  void (*get_text)(char*, int) = nullptr;
  int (*set_layer)(int) = nullptr;
  int (*set_interface)(int) = nullptr;
  void (*set_dynamic)(int) = nullptr;
  void (*set_threads)(int) = nullptr;
  symbols.require("MKL_Get_Version", get_version);
  symbols.require("MKL_Get_Version_String", get_text);
  symbols.require("MKL_Set_Threading_Layer", set_layer);
  symbols.require("MKL_Set_Interface_Layer", set_interface);
  symbols.require("MKL_Set_Dynamic", set_dynamic);
  symbols.require("MKL_Set_Num_Threads", set_threads);
  if (!symbols.missing().empty()) return;
  constexpr int kGnuOpenmp = 3, kSizesOf32Bits = 0;  // of mkl_service.h
  if (std::getenv("MKL_THREADING_LAYER") == nullptr) set_layer(kGnuOpenmp);
  set_interface(kSizesOf32Bits);
  set_dynamic(0);  // otherwise MKL takes fewer threads than set_threads() asks for
  MklVersion version{};
  get_version(&version);
  std::array<char, 256> text{};
  get_text(text.data(), static_cast<int>(text.size() - 1));
  const std::string_view name = text.data();
  constexpr std::string_view kVersion = "Version ";
  loaded.threads = BlasThreads::openmp;
  loaded.info.version = version_in(name.substr(std::min(name.find(kVersion), name.size())));
  loaded.info.detail = fmt::format("{}, {}", version.processor, name);
  while (loaded.info.detail.ends_with(' ')) loaded.info.detail.pop_back();
  loaded.kernel = mkl_instruction_set(version.processor);
  loaded.set_threads = set_threads;
}

struct BlasInterface {
  std::string_view backend;
  void (*describe)(BlasSymbols& symbols, LoadedBlas& loaded);
};
constexpr BlasInterface kInterfaces[] = {
    {"openblas", describe_openblas}, {"blis", describe_blis}, {"mkl", describe_mkl}};

void find_products(BlasSymbols& symbols, LoadedBlas& loaded) {
  symbols.require("cblas_sgemm", loaded.f32.gemm);
  symbols.require("cblas_dgemm", loaded.f64.gemm);
  symbols.find("cblas_sgemm_batch_strided", loaded.f32.gemm_strided);
  symbols.find("cblas_dgemm_batch_strided", loaded.f64.gemm_strided);
}

// Adds the library folders of a Python environment or another prefix.
void add_prefix_steps(const BlasLibrary& library, const std::string& prefix,
                      const std::string& origin, std::vector<SearchStep>& steps) {
  add_search_step(steps, prefix + "/lib", origin);
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(prefix + "/lib", code)) {
    const std::string folder = entry.path().filename().string();
    if (!folder.starts_with("python")) continue;
    for (const std::string_view package : library.packages) {
      std::string path = fmt::format("{}/site-packages/{}", entry.path().string(), package);
      if (std::filesystem::exists(path, code)) add_search_step(steps, std::move(path), origin);
    }
  }
}

BackendError missing_blas(const BlasLibrary& library, const Variables& variables,
                          const LoadFailure& failure) {
  std::string reason = failure.reason;
  if (const std::string named = variables(library.variable).value_or(""); !named.empty()) {
    std::error_code code;
    reason = std::filesystem::exists(named, code)
                 ? fmt::format("{} in `{}` ({})", reason, named, library.variable)
                 : fmt::format("`{}` ({}) does not exist", named, library.variable);
  }
  return {BackendError::Kind::skipped,
          fmt::format("no {}: {}; {}", library.title, reason, blas_remedy(library))};
}

}  // namespace

std::vector<SearchStep> blas_search_path(const BlasLibrary& library, const Variables& variables,
                                         std::vector<std::string>& files) {
  files.assign(library.files.begin(), library.files.end());
  std::vector<SearchStep> steps;
  const std::string named = variables(library.variable).value_or("");
  if (!named.empty()) {
    std::error_code code;
    const std::filesystem::path path(named);
    const bool is_folder = std::filesystem::is_directory(path, code);
    if (!is_folder) files = {path.filename().string()};
    const std::filesystem::path folder = is_folder ? path : path.parent_path();
    add_search_step(steps, folder.empty() ? "." : folder.string(),
                    fmt::format("${}", library.variable));
    return steps;
  }
  steps.push_back({"", "the loader's path"});
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = variables(variable).value_or("");
    if (!prefix.empty()) add_prefix_steps(library, prefix, fmt::format("${}", variable), steps);
  }
  const std::string home = variables("HOME").value_or("");
  if (!home.empty()) add_prefix_steps(library, home + "/.local", "~/.local", steps);
  const std::string mkl = variables("MKLROOT").value_or("");
  if (!mkl.empty()) add_search_step(steps, mkl + "/lib", "$MKLROOT");
  return steps;
}

Result<LoadedBlas, BackendError> load_blas(const BlasLibrary& library, const Variables& variables) {
  // Idle threads of OpenBLAS spin 2^n cycles: as long as those of OpenMP in workers, not 20 ms,
  // which would disturb the other side of a duet. The user's value counts.
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
  std::vector<std::string> names;
  const std::vector<SearchStep> search = blas_search_path(library, variables, names);
  const std::vector<std::string_view> files(names.begin(), names.end());
  const AllPlaces all_places;  // OpenBLAS counts processors, and its threads inherit the mask
  const std::vector<int> threads = own_threads();
  const auto opened = DynamicLibrary::open(files, search);
  if (!opened) return missing_blas(library, variables, opened.error());
  LoadedBlas loaded;
  loaded.info = {std::string(library.backend), "", opened->path(), ""};
  BlasSymbols symbols(*opened);
  find_products(symbols, loaded);
  const auto* interface = std::ranges::find(kInterfaces, library.backend, &BlasInterface::backend);
  if (symbols.missing().empty()) interface->describe(symbols, loaded);
  if (!symbols.missing().empty()) {
    return BackendError{
        BackendError::Kind::failed,
        fmt::format("{}: the library does not export {}; {} with 32-bit sizes is needed, see {}",
                    opened->path(), fmt::join(symbols.missing(), ", "), library.title,
                    library.variable)};
  }
  loaded.info.detail = fmt::format("{}, {}", to_string(loaded.threads), loaded.info.detail);
  if (loaded.threads != BlasThreads::none) loaded.set_threads(omp_get_max_threads());
  if (loaded.threads == BlasThreads::own_pool) pin_new_threads(threads);
  return loaded;
}

}  // namespace bench::ops
