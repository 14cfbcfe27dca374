// SPDX-License-Identifier: Apache-2.0
#include "ops/blas/loaded_blas.hpp"

#include "base/file.hpp"
#include "base/function_table.hpp"
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

using Names = std::vector<const char*>;  // of functions that a library lacks

template <class Real>
constexpr auto product_rows(const char* gemm, const char* gemm_strided) {
  using Functions = CblasFunctions<Real>;
  return std::array{
      function_row<Functions, &Functions::gemm>(gemm, Presence::required),
      function_row<Functions, &Functions::gemm_strided>(gemm_strided, Presence::optional)};
}

Names find_products(const DynamicLibrary& library, LoadedBlas& loaded) {
  constexpr auto kF32 = product_rows<float>("cblas_sgemm", "cblas_sgemm_batch_strided");
  constexpr auto kF64 = product_rows<double>("cblas_dgemm", "cblas_dgemm_batch_strided");
  Names missing = find_functions(library, &loaded.f32, kF32);
  const Names more = find_functions(library, &loaded.f64, kF64);
  missing.insert(missing.end(), more.begin(), more.end());
  return missing;
}

// Returns the first run of digits and dots in the text: "0.3.21".
std::string version_in(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t begin = std::min(text.find_first_of(kDigits), text.size());
  text.remove_prefix(begin);
  std::string_view version = text.substr(0, text.find_first_not_of("0123456789."));
  while (version.ends_with('.')) version.remove_suffix(1);
  return std::string(version);
}

struct OpenblasFunctions {
  BENCH_FUNCTIONS(OpenblasFunctions, (get_parallel, openblas_get_parallel, int (*)()),
                  (get_config, openblas_get_config, const char* (*)()),
                  (get_core, openblas_get_corename, const char* (*)()),
                  (set_threads, openblas_set_num_threads, void (*)(int)));
};

Names describe_openblas(const DynamicLibrary& library, LoadedBlas& loaded) {
  OpenblasFunctions blas;
  if (Names missing = find_functions(library, blas); !missing.empty()) return missing;
  // The values of openblas_get_parallel().
  constexpr std::array kThreads = {BlasThreads::none, BlasThreads::own_pool, BlasThreads::openmp};
  const auto parallel = static_cast<std::size_t>(blas.get_parallel());
  loaded.threads = kThreads[std::min(parallel, kThreads.size() - 1)];
  loaded.info.version = version_in(blas.get_config());
  loaded.info.detail = blas.get_config();
  loaded.kernel = blas.get_core();
  loaded.set_threads = blas.set_threads;
  return {};
}

// The integers of BLIS's own interface have 64 bits, also if those of CBLAS have 32.
struct BlisFunctions {
  BENCH_FUNCTIONS(BlisFunctions, (get_version, bli_info_get_version_str, const char* (*)()),
                  (has_openmp, bli_info_get_enable_openmp, std::int64_t (*)()),
                  (has_pthreads, bli_info_get_enable_pthreads, std::int64_t (*)()),
                  (query_architecture, bli_arch_query_id, int (*)()),
                  (architecture_name, bli_arch_string, const char* (*)(int)),
                  (set_threads, bli_thread_set_num_threads, void (*)(std::int64_t)));
};

Names describe_blis(const DynamicLibrary& library, LoadedBlas& loaded) {
  BlisFunctions blas;
  if (Names missing = find_functions(library, blas); !missing.empty()) return missing;
  loaded.threads = blas.has_openmp() != 0     ? BlasThreads::openmp
                   : blas.has_pthreads() != 0 ? BlasThreads::per_call
                                              : BlasThreads::none;
  loaded.info.version = version_in(blas.get_version());
  loaded.info.detail = fmt::format("BLIS {}", blas.get_version());
  loaded.kernel = blas.architecture_name(blas.query_architecture());
  loaded.set_threads = [set_threads = blas.set_threads](int threads) { set_threads(threads); };
  return {};
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
struct MklFunctions {
  BENCH_FUNCTIONS(MklFunctions, (get_version, MKL_Get_Version, void (*)(MklVersion*)),
                  (get_text, MKL_Get_Version_String, void (*)(char*, int)),
                  (set_layer, MKL_Set_Threading_Layer, int (*)(int)),
                  (set_interface, MKL_Set_Interface_Layer, int (*)(int)),
                  (set_dynamic, MKL_Set_Dynamic, void (*)(int)),
                  (set_threads, MKL_Set_Num_Threads, void (*)(int)));
};

Names describe_mkl(const DynamicLibrary& library, LoadedBlas& loaded) {
  MklFunctions blas;
  if (Names missing = find_functions(library, blas); !missing.empty()) return missing;
  constexpr int kGnuOpenmp = 3, kSizesOf32Bits = 0;  // of mkl_service.h
  if (std::getenv("MKL_THREADING_LAYER") == nullptr) blas.set_layer(kGnuOpenmp);
  blas.set_interface(kSizesOf32Bits);
  blas.set_dynamic(0);  // otherwise MKL takes fewer threads than blas.set_threads() asks for
  MklVersion version{};
  blas.get_version(&version);
  std::array<char, 256> text{};
  blas.get_text(text.data(), static_cast<int>(text.size() - 1));
  const std::string_view name = text.data();
  constexpr std::string_view kVersion = "Version ";
  loaded.threads = BlasThreads::openmp;
  loaded.info.version = version_in(name.substr(std::min(name.find(kVersion), name.size())));
  loaded.info.detail = fmt::format("{}, {}", version.processor, name);
  while (loaded.info.detail.ends_with(' ')) loaded.info.detail.pop_back();
  loaded.kernel = mkl_instruction_set(version.processor);
  loaded.set_threads = blas.set_threads;
  return {};
}

struct BlasInterface {
  std::string_view backend;
  Names (*describe)(const DynamicLibrary& library, LoadedBlas& loaded);
};
constexpr BlasInterface kInterfaces[] = {
    {"openblas", describe_openblas}, {"blis", describe_blis}, {"mkl", describe_mkl}};

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
  auto opened = DynamicLibrary::open(files, search);
  if (!opened) return missing_blas(library, variables, opened.error());
  opened->accept_prefix("scipy_");  // of OpenBLAS in Python packages
  LoadedBlas loaded;
  loaded.info = {std::string(library.backend), "", opened->path(), ""};
  const auto* interface = std::ranges::find(kInterfaces, library.backend, &BlasInterface::backend);
  Names missing = find_products(*opened, loaded);
  if (missing.empty()) missing = interface->describe(*opened, loaded);
  if (!missing.empty()) {
    return BackendError{
        BackendError::Kind::failed,
        fmt::format("{}: the library does not export {}; {} with 32-bit sizes is needed, see {}",
                    opened->path(), fmt::join(missing, ", "), library.title, library.variable)};
  }
  loaded.info.detail = fmt::format("{}, {}", to_string(loaded.threads), loaded.info.detail);
  if (loaded.threads != BlasThreads::none) loaded.set_threads(omp_get_max_threads());
  if (loaded.threads == BlasThreads::own_pool) pin_new_threads(threads);
  return loaded;
}

}  // namespace bench::ops
