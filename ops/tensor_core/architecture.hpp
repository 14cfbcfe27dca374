// SPDX-License-Identifier: Apache-2.0
// NVIDIA's architectures and the generations of its libraries, as relevant for tensor cores. This
// code needs neither a GPU nor a library.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace bench::ops {

// The generations of the libraries: the CUDA toolkit for which they were built, oldest first.
enum class LibraryGeneration : std::uint8_t { cuda10, cuda11, cuda12, cuda13 };

struct LibraryGenerationInfo {
  LibraryGeneration generation;
  std::string_view name;       // "cuda13"
  std::string_view libraries;  // "cuBLAS 13, cuDNN 9"
};
std::span<const LibraryGenerationInfo> library_generations();  // in the order of the enumerators
const LibraryGenerationInfo& info(LibraryGeneration generation);

// In the order of architectures().
enum class Sm : std::uint8_t {
  sm_70,
  sm_72,
  sm_75,
  sm_80,
  sm_86,
  sm_87,
  sm_88,
  sm_89,
  sm_90,
  sm_100,
  sm_103,
  sm_110,
  sm_120,
  sm_121
};

struct Architecture {
  Sm id;
  std::string_view name;     // "sm_90"
  std::string_view family;   // "Hopper"
  std::string_view devices;  // "H100, H200"
  LibraryGeneration first;   // the first generation of libraries that supports it
  LibraryGeneration last;    // the last one
};
std::span<const Architecture> architectures();  // by compute capability
// Parses "sm_90", "sm90", "sm_90a", "90" and "9.0". The error states the nearest name, if any, and
// all names.
Result<const Architecture*> find_architecture(std::string_view text);

// The architecture and the libraries for which a verdict is valid.
struct Platform {
  const Architecture* architecture;
  LibraryGeneration libraries;
};
// Parses "sm_90" (with the newest libraries that support it) and "sm_75:cuda10" (with these
// libraries). Errors: those of find_architecture, an unknown generation.
Result<Platform> parse_platform(std::string_view text);

}  // namespace bench::ops
