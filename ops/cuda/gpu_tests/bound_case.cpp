// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/bound_case.hpp"

#include <cstdint>
#include <utility>

namespace bench::ops::cuda {

Result<BoundCase> bind_case(std::shared_ptr<Backend> backend, const Problem& problem) {
  constexpr std::uint8_t kPattern = 0x2c;  // 0x2c2c is 0.065 in f16
  BoundCase bound_case;
  bound_case.backend = std::move(backend);
  auto kernel = bound_case.backend->create(problem);
  if (!kernel) return Error{kernel.error().reason, "", ""};
  bound_case.kernel = *std::move(kernel);
  DeviceMemory* const memory = bound_case.backend->memory();
  std::vector<void*> addresses;
  for (const KernelBuffer& buffer : bound_case.kernel->buffers()) {
    BENCH_ASSIGN_OR_RETURN(void* address, memory->allocate(buffer.size));
    bound_case.memory.emplace_back(
        address, [owner = bound_case.backend, memory](void* owned) { memory->release(owned); });
    BENCH_RETURN_IF_ERROR(memory->fill(address, kPattern, buffer.size));
    addresses.push_back(address);
  }
  BENCH_RETURN_IF_ERROR(bound_case.kernel->prepare(addresses));
  BENCH_ASSIGN_OR_RETURN(bound_case.invocation, bound_case.kernel->bind(addresses));
  if (!bound_case.invocation->run()) return Error{bound_case.invocation->error(), "", ""};
  return bound_case;
}

}  // namespace bench::ops::cuda
