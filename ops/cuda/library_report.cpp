// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/library_report.hpp"

#include "ops/cuda/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace bench::ops::cuda {
namespace {

Result<std::string> read_packed_version(const DynamicLibrary& library, const char* symbol) {
  BENCH_ASSIGN_OR_RETURN(auto* const function, library.require<std::size_t()>(symbol));
  return format_packed_version(function());
}

Result<std::string> read_cudnn_version(const DynamicLibrary& library, const LibraryExpectations&) {
  return read_packed_version(library, "cudnnGetVersion");
}

Result<std::string> read_cublaslt_version(const DynamicLibrary& library,
                                          const LibraryExpectations&) {
  return read_packed_version(library, "cublasLtGetVersion");
}

// Reads the version without a device. cublasGetVersion_v2 needs a handle, which needs a device.
Result<std::string> read_cublas_version(const DynamicLibrary& library, const LibraryExpectations&) {
  constexpr const char* kSymbol = "cublasGetProperty";
  BENCH_ASSIGN_OR_RETURN(auto* const property, library.require<int(int, int*)>(kSymbol));
  int parts[3] = {};  // libraryPropertyType: major, minor, patch
  for (int index = 0; index < 3; ++index) {
    if (const int code = property(index, &parts[index]); code != 0) {
      return Error{fmt::format("{} fails with status {}", kSymbol, code), library.path(), ""};
    }
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

Result<std::string> read_nvml_version(const DynamicLibrary& library, const LibraryExpectations&) {
  BENCH_ASSIGN_OR_RETURN(auto* const function,
                         library.require<int(char*, unsigned)>("nvmlSystemGetNVMLVersion"));
  char text[96] = {};
  // Some versions of NVML return their version only after nvmlInit, which needs a driver.
  return function(text, sizeof(text) - 1) == 0 ? std::string(text) : std::string("n/a");
}

// This build reads records in the layout of its toolkit's CUPTI. Another minor version may have
// another layout.
Result<std::string> read_cupti_version(const DynamicLibrary& library,
                                       const LibraryExpectations& expectations) {
  constexpr const char* kSymbol = "cuptiGetVersion";
  BENCH_ASSIGN_OR_RETURN(auto* const function, library.require<int(unsigned*)>(kSymbol));
  unsigned version = 0;
  if (const int code = function(&version); code != 0) {
    return Error{fmt::format("{} fails with {}", kSymbol, code), library.path(), ""};
  }
  const std::string text = format_packed_version(version);
  if (!expectations.cupti_version) {
    return Error{fmt::format("API version {}, but this build was made without CUPTI", text),
                 library.path(), "build with a CUDA toolkit that has cupti.h"};
  }
  if (version / 100 != *expectations.cupti_version / 100) {
    return Error{fmt::format("API version {}, but this build decodes the records of {}", text,
                             format_packed_version(*expectations.cupti_version)),
                 library.path(),
                 "put the libcupti.so of the build's toolkit into $BENCH_CUDA_LIBS"};
  }
  return text;
}

constexpr std::string_view kCudnnFiles[] = {"libcudnn.so.9"};
constexpr std::string_view kCudnnParts[] = {"libcudnn_graph.so.9"};
constexpr std::string_view kCublasLtFiles[] = {"libcublasLt.so.13"};
constexpr std::string_view kCublasFiles[] = {"libcublas.so.13"};
constexpr std::string_view kCuptiFiles[] = {"libcupti.so.13"};

constexpr LibrarySpec kSpecs[] = {
    {"cuDNN", kCudnnFiles, kCudnnParts,
     "conv and gradients of pool on cuda are unsupported, and networks with conv; forward pool, "
     "pointwise, batch_norm, softmax and reorder run with the plugin's native kernels",
     "install cuDNN 9 for CUDA 13 (`pip install nvidia-cudnn-cu13`) and put its lib folder into "
     "$BENCH_CUDA_LIBS",
     read_cudnn_version},
    {"cuBLASLt",
     kCublasLtFiles,
     {},
     "gemm on cuda with backend cublaslt, and networks with matrix products, are unsupported",
     "install the CUDA 13 toolkit or `pip install nvidia-cublas` and put its lib folder into "
     "$BENCH_CUDA_LIBS",
     read_cublaslt_version},
    {"cuBLAS",
     kCublasFiles,
     {},
     "gemm on cuda with backend cublas is unsupported",
     "install the CUDA 13 toolkit or `pip install nvidia-cublas` and put its lib folder into "
     "$BENCH_CUDA_LIBS",
     read_cublas_version},
    {"NVML",
     kNvmlFiles,
     {},
     "clocks, power and throttling are unknown: no sample is discarded because of them",
     "it comes with the NVIDIA driver (libnvidia-compute)",
     read_nvml_version},
    {"CUPTI",
     kCuptiFiles,
     {},
     "profiles have no device rows: kernels and copies are not traced",
     "install the CUDA 13 toolkit or `pip install nvidia-cuda-cupti` and put its lib folder into "
     "$BENCH_CUDA_LIBS",
     read_cupti_version},
};

std::string parent_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// Returns the failure of the first sub-library that is missing.
std::optional<LoadFailure> find_missing_sub_library(const LibrarySpec& spec,
                                                    const DynamicLibrary& library) {
  const SearchStep steps[] = {{parent_folder(library.path()), "beside it"},
                              {"", "the loader's path"}};
  for (const std::string_view part : spec.parts) {
    auto loaded = DynamicLibrary::open(std::span(&part, 1), steps);
    if (loaded) continue;
    LoadFailure failure = std::move(loaded).error();
    failure.reason =
        fmt::format("{} was found, but a part of it was not: {}", library.path(), failure.reason);
    return failure;
  }
  return std::nullopt;
}

}  // namespace

std::string format_packed_version(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::span<const LibrarySpec> library_specs() { return kSpecs; }

const LibrarySpec& library_spec(std::string_view name) {
  const auto* spec = std::find_if(std::begin(kSpecs), std::end(kSpecs),
                                  [&](const LibrarySpec& row) { return row.name == name; });
  assert(spec != std::end(kSpecs));
  return *spec;
}

Result<DynamicLibrary, LoadFailure> open_library(const LibrarySpec& spec,
                                                 std::span<const SearchStep> search) {
  auto library = DynamicLibrary::open(spec.files, search);
  if (!library) return std::move(library).error();
  if (auto failure = find_missing_sub_library(spec, *library)) return *std::move(failure);
  return library;
}

LibraryReport report_library(const LibrarySpec& spec, std::span<const SearchStep> search,
                             const LibraryExpectations& expectations) {
  LibraryReport report{std::string(spec.name), std::string(spec.consequence),
                       std::string(spec.remedy)};
  auto library = open_library(spec, search);
  if (!library) {
    report.reason = library.error().reason;
    report.tried = library.error().tried;
    return report;
  }
  report.path = library->path();
  report.origin = library->origin();
  auto version = spec.version(*library, expectations);
  if (version) {
    report.version = *version;
  } else {
    report.reason = version.error().what;
    if (!version.error().next.empty()) report.remedy = version.error().next;
  }
  return report;
}

std::vector<LibraryReport> report_libraries(std::span<const SearchStep> search,
                                            const LibraryExpectations& expectations) {
  std::vector<LibraryReport> reports;
  for (const LibrarySpec& spec : library_specs()) {
    reports.push_back(report_library(spec, search, expectations));
  }
  return reports;
}

}  // namespace bench::ops::cuda
