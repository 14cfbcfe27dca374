// SPDX-License-Identifier: Apache-2.0
// The backends cudnn, cublaslt and cublas of the fake GPU: right results, computed with the plain
// references, in scripted time.
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
  std::string_view library;  // as reports call it
  std::string_view file;
};
std::span<const BackendRow> backend_rows();
// What the row's backend serves, networks included.
std::vector<std::string> operators_of(const BackendRow& row);
// Why the backend cannot run; absent: it can.
std::optional<std::string> missing(const Script& script, const BackendRow& row);

std::unique_ptr<ops::Backend> make_backend(const BackendRow& row, std::shared_ptr<FakeGpu> gpu);

}  // namespace bench::fake_gpu
