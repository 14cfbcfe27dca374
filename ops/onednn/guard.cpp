// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/guard.hpp"

#include "ops/onednn/library.hpp"

#include <dnnl.hpp>
#include <dnnl_debug.h>
#include <fmt/format.h>

#include <exception>
#include <new>

namespace bench::ops {
namespace {

BackendError out_of_memory(std::string_view what) {
  return {BackendError::Kind::skipped, fmt::format("not enough memory for {}", what)};
}

BackendError to_backend_error(const dnnl::error& error, std::string_view what) {
  if (error.status == dnnl_out_of_memory) return out_of_memory(what);
  if (error.status == dnnl_unimplemented) {
    return {BackendError::Kind::unsupported,
            fmt::format("oneDNN {} has no kernel for {} on this CPU ({})", onednn_version(), what,
                        onednn_instruction_set())};
  }
  return {BackendError::Kind::failed,
          fmt::format("oneDNN {} failed at {}: {} ({})", onednn_version(), what, error.what(),
                      dnnl_status2str(error.status))};
}

}  // namespace

BackendError error_of_current_exception(std::string_view what) {
  try {
    throw;
  } catch (const dnnl::error& error) {
    return to_backend_error(error, what);
  } catch (const std::bad_alloc&) {
    return out_of_memory(what);
  } catch (const std::exception& error) {
    return {BackendError::Kind::failed, fmt::format("{}: {}", what, error.what())};
  }
}

}  // namespace bench::ops
