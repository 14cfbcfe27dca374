// SPDX-License-Identifier: Apache-2.0
// A table of the functions of cuDNN's backend (graph) API, filled at run time.
#pragma once

#include "base/function_table.hpp"
#include "ops/cuda/library_search.hpp"

#include <cudnn_graph.h>

#include <memory>
#include <span>
#include <string>

namespace bench::ops::cuda {

struct CudnnApi {
  BENCH_FUNCTIONS(CudnnApi, (get_version, cudnnGetVersion), (get_error_string, cudnnGetErrorString),
                  (get_last_error_string, cudnnGetLastErrorString), (create, cudnnCreate),
                  (destroy, cudnnDestroy), (set_stream, cudnnSetStream),
                  (create_descriptor, cudnnBackendCreateDescriptor),
                  (destroy_descriptor, cudnnBackendDestroyDescriptor),
                  (set_attribute, cudnnBackendSetAttribute),
                  (get_attribute, cudnnBackendGetAttribute), (finalize, cudnnBackendFinalize),
                  (execute, cudnnBackendExecute));
  std::string path;  // path of the library

  // Formats a status: "CUDNN_STATUS_NOT_SUPPORTED (3000): <cuDNN's last message, one line>".
  std::string text(cudnnStatus_t status) const;
};

// Loads cuDNN and its sub-libraries. Error: cuDNN was not found, is incomplete, or lacks a
// function.
Result<std::shared_ptr<const CudnnApi>, LoadFailure> load_cudnn(std::span<const SearchStep> search);

// Returns the loaded version: "9.19.0".
std::string format_version(const CudnnApi& api);

}  // namespace bench::ops::cuda
