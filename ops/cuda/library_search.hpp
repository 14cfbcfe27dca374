// SPDX-License-Identifier: Apache-2.0
// Where NVIDIA's libraries are searched at run time (docs/cuda.md). Nothing here needs CUDA.
#pragma once

#include "base/dynamic_library.hpp"

#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

using bench::DynamicLibrary;
using bench::LoadFailure;
using bench::SearchStep;
using bench::Variables;

// Returns, in order: each folder of $BENCH_CUDA_LIBS (separated by colons), `plugin_folder`, the
// loader's path, /usr/local/cuda/lib64, $CUDA_HOME/lib64. Omits empty folders and repetitions.
std::vector<SearchStep> library_search_path(const Variables& variables,
                                            const std::string& plugin_folder);

// Loads the machine's driver or, failing that, the toolkit's stub of it from a folder `stubs` of
// the search path. The stub has the driver's name, so that libraries find it, but it knows no
// device: call this only in a process that uses none. Returns whether either was loaded.
bool load_driver_or_stub(std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
