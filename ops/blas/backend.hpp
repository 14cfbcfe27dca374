// SPDX-License-Identifier: Apache-2.0
// The backends `openblas`, `blis` and `mkl`: matrix products on the CPU by a library that is loaded
// when a case first asks for it.
#pragma once

#include "base/dynamic_library.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/blas_library.hpp"

#include <memory>

namespace bench::ops {

// Loads the library. BackendError: as load_blas().
Result<std::unique_ptr<Backend>, BackendError> make_blas_backend(const BlasLibrary& library,
                                                                 const Variables& variables);

// A backend that has not loaded its library. It answers only what support_error() knows from a
// problem; create() fails.
std::unique_ptr<Backend> make_unloaded_blas_backend(const BlasLibrary& library);

}  // namespace bench::ops
