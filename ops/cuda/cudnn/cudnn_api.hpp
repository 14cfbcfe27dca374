// SPDX-License-Identifier: Apache-2.0
// A table of the functions of cuDNN's backend (graph) API, filled at run time.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/library_search.hpp"

#include <cudnn_graph.h>

#include <memory>
#include <span>
#include <string>

namespace bench::ops::cuda {

struct CudnnApi {
  decltype(&::cudnnGetVersion) get_version = nullptr;
  decltype(&::cudnnGetErrorString) get_error_string = nullptr;
  decltype(&::cudnnGetLastErrorString) get_last_error_string = nullptr;
  decltype(&::cudnnCreate) create = nullptr;
  decltype(&::cudnnDestroy) destroy = nullptr;
  decltype(&::cudnnSetStream) set_stream = nullptr;
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&::cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&::cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&::cudnnBackendFinalize) finalize = nullptr;
  decltype(&::cudnnBackendExecute) execute = nullptr;
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
