// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/bound_case.hpp"

#include <cstdint>
#include <utility>

namespace bench::ops::cuda {

Result<BoundCase> bind_case(std::shared_ptr<Backend> backend, const Problem& problem) {
  constexpr std::uint8_t kPattern = 0x2c;  // 0x2c2c is 0.065 in f16
  BoundCase made;
  made.backend = std::move(backend);
  auto kernel = made.backend->create(problem);
  if (!kernel) return Error{kernel.error().reason, "", ""};
  made.kernel = *std::move(kernel);
  DeviceMemory* const memory = made.backend->memory();
  std::vector<void*> addresses;
  for (const KernelBuffer& buffer : made.kernel->buffers()) {
    BENCH_ASSIGN_OR_RETURN(void* address, memory->allocate(buffer.size));
    made.memory.emplace_back(
        address, [owner = made.backend, memory](void* owned) { memory->release(owned); });
    BENCH_RETURN_IF_ERROR(memory->fill(address, kPattern, buffer.size));
    addresses.push_back(address);
  }
  BENCH_RETURN_IF_ERROR(made.kernel->prepare(addresses));
  BENCH_ASSIGN_OR_RETURN(made.invocation, made.kernel->bind(addresses));
  if (!made.invocation->run()) return Error{made.invocation->error(), "", ""};
  return made;
}

}  // namespace bench::ops::cuda
