// SPDX-License-Identifier: Apache-2.0
#include "ops/blas_library.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench::ops {
namespace {

constexpr std::string_view kOpenblasFiles[] = {"libopenblas.so.0", "libopenblas.so",
                                               "libscipy_openblas.so"};
constexpr std::string_view kOpenblasPackages[] = {"scipy_openblas32/lib"};
constexpr std::string_view kBlisFiles[] = {"libblis.so.4",    "libblis.so.5",    "libblis.so.3",
                                           "libblis-mt.so.5", "libblis-mt.so.4", "libblis.so"};
// The single dynamic library of MKL, which loads the others from its own folder.
constexpr std::string_view kMklFiles[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1",
                                          "libmkl_rt.so"};

constexpr BlasLibrary kLibraries[] = {
    {"openblas", "OpenBLAS", "BENCH_OPENBLAS", kOpenblasFiles, kOpenblasPackages,
     "install it by `sudo apt install libopenblas0-pthread` or `pip install scipy-openblas32`"},
    {"blis",
     "BLIS",
     "BENCH_BLIS",
     kBlisFiles,
     {},
     "install it by `sudo apt install libblis4-openmp`"},
    {"mkl", "MKL", "BENCH_MKL", kMklFiles, {}, "install it by `pip install mkl`"},
};

}  // namespace

std::span<const BlasLibrary> blas_libraries() { return kLibraries; }

const BlasLibrary* find_blas_library(std::string_view backend) {
  const auto* row = std::ranges::find(kLibraries, backend, &BlasLibrary::backend);
  return row == std::end(kLibraries) ? nullptr : row;
}

bool is_file_of(const BlasLibrary& library, std::string_view file) {
  return file.find(".so") != file.npos &&
         std::ranges::any_of(library.files, [&](std::string_view name) {
           return file.starts_with(name.substr(0, name.find(".so")));
         });
}

std::string blas_remedy(const BlasLibrary& library) {
  return fmt::format("{}, or set {} to its file or folder", library.remedy, library.variable);
}

}  // namespace bench::ops
