// SPDX-License-Identifier: Apache-2.0
// The backends cudnn, cublaslt and cublas of the fake GPU. They compute correct results with the
// plain references; the script states the times.
#pragma once

#include "ops/backend/kernel.hpp"
#include "tests/fakes/fake_gpu/device.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::fake_gpu {

struct BackendRow {
  std::string_view name;
  std::string_view library;  // name in reports
  std::string_view file;
};
std::span<const BackendRow> backend_rows();
// The operators that the row's backend supports, including networks.
std::vector<std::string> list_operators(const BackendRow& row);
// Returns why the backend cannot run; nullopt if it can.
std::optional<std::string> unavailable_reason(const Script& script, const BackendRow& row);

std::unique_ptr<ops::Backend> make_backend(const BackendRow& row, std::shared_ptr<FakeGpu> gpu);

}  // namespace bench::fake_gpu
