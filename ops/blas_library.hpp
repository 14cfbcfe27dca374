// SPDX-License-Identifier: Apache-2.0
// The libraries of matrix products on the CPU that workers load at run time through CBLAS: their
// names and where they are found. ops/blas/ loads and calls them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

struct BlasLibrary {
  std::string_view backend;  // "openblas"
  std::string_view title;    // "OpenBLAS"
  // The environment variable that names the library's file, or a folder that contains it.
  const char* variable;
  // File names by which it is searched, in order of preference.
  std::span<const std::string_view> files;
  // Folders below the site-packages of a Python environment.
  std::span<const std::string_view> packages;
  std::string_view remedy;  // how to get it
};

std::span<const BlasLibrary> blas_libraries();
// Returns nullptr if no such library has the name.
const BlasLibrary* find_blas_library(std::string_view backend);

// Whether the loader, or a person, would call a library so: "libopenblas.so.0" and
// "libopenblasp-r0.3.21.so" for "libopenblas.so.0".
bool is_file_of(const BlasLibrary& library, std::string_view file);

// Returns the sentence on how to get a missing library.
std::string blas_remedy(const BlasLibrary& library);

}  // namespace bench::ops
