// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/prepared_kernel.hpp"

#include "base/data_type.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace bench {
namespace {

using ops::BackendError;
using ops::BufferRole;

// Fill values for outputs before a run. All ones is a NaN in every floating-point type. For
// integers, any pattern may be a correct result, so two runs use two patterns that differ in every
// byte.
constexpr std::uint8_t kPoison = 0xff;
constexpr std::uint8_t kOtherPoison = 0x5a;

constexpr std::string_view kStaging = "staging";  // role of a plain tensor while it is packed

Error no_buffer_memory(Bytes size) {
  return {fmt::format("no memory for a buffer of {}", format_bytes(size)), "", ""};
}

// Adds the time to `converting` if the kernel's layout of the tensor differs from the plain one.
// Otherwise the kernel only copies the data, which a user of the library would not do.
Status pack(ops::Kernel& kernel, const ops::Tensor& tensor, std::size_t index,
            const std::vector<double>& values, CaseBuffer& packed, Clock& clock,
            Nanoseconds& converting, MemoryCollector* collector) {
  std::optional<AlignedBuffer> plain = AlignedBuffer::create(tensor.size());
  if (!plain) return no_buffer_memory(tensor.size());
  const TrackedAllocation tracked(collector, plain->data(), plain->size(), tensor.name, kStaging);
  store_elements(tensor.dtype, plain->data(), values);
  const Nanoseconds start = clock.now();
  BENCH_RETURN_IF_ERROR(kernel.pack(index, plain->data(), packed.data()));
  if (kernel.converts_layout(index)) converting += clock.now() - start;
  return Done{};
}

// Returns an error if the buffers do not fit into the memory of the host or of `device`, if not
// null. `available`: memory of the host; nullopt if unknown.
std::optional<BackendError> find_memory_shortage(const ops::Kernel& kernel,
                                                 ops::DeviceMemory* device,
                                                 std::optional<Bytes> available) {
  if (device != nullptr) available = device->available();
  std::array<Bytes, enumerator_names<ops::BufferRole>().size()> by_role{};
  Bytes packed{0};
  for (const ops::KernelBuffer& buffer : kernel.buffers()) {
    Bytes& role = by_role[static_cast<std::size_t>(buffer.role)];
    role = role + buffer.size;
    packed = packed + buffer.size;
  }
  if (!available || packed <= *available) return std::nullopt;
  std::string parts;
  for (std::size_t i = 0; i < by_role.size(); ++i) {
    if (by_role[i].count == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ",
                         enumerator_names<ops::BufferRole>()[i], format_bytes(by_role[i]));
  }
  return BackendError{
      BackendError::Kind::skipped,
      fmt::format("not enough memory{}: the kernel's buffers need {} ({}), {} available",
                  device != nullptr ? " on the device" : "", format_bytes(packed), parts,
                  format_bytes(*available))};
}

// An error of the machine, such as a failed allocation. It names no kernel, since no other engine
// of the library would run.
BackendError machine_failure(const Error& error) {
  return {BackendError::Kind::failed, error.message()};
}

}  // namespace

Result<PreparedKernel, BackendError> PreparedKernel::build(ops::Backend& backend,
                                                           const Workload& workload,
                                                           const InputValues& values, Clock& clock,
                                                           std::optional<Bytes> available,
                                                           const ops::InputLayouts& input_layouts,
                                                           const SetupObservers& observers) {
  PreparedKernel prepared;
  const Nanoseconds start = clock.now();
  auto kernel = create_kernel(backend, workload, input_layouts);
  prepared.preparation_.create = clock.now() - start;
  if (!kernel) return std::move(kernel).error();
  const Nanoseconds again = clock.now();
  { auto hit = create_kernel(backend, workload, input_layouts); }
  prepared.preparation_.create_hit = clock.now() - again;
  prepared.kernel_ = std::move(kernel).value();
  // Host kernels report their workspace themselves. The address of a workspace on a device is
  // unknown, so the address of the kernel object identifies it.
  if (backend.memory() != nullptr) {
    prepared.workspace_ = {observers.buffers, prepared.kernel_.get(), prepared.kernel_->workspace(),
                           kWorkspaceRole, kWorkspaceRole};
  }

  if (auto shortage = find_memory_shortage(*prepared.kernel_, backend.memory(), available))
    return *shortage;
  if (Status status =
          prepared.allocate_and_pack(backend.memory(), workload, values, clock, observers);
      !status) {
    return machine_failure(status.error());
  }
  if (Status bound = prepared.bind(); !bound) return prepared.kernel_failure(bound.error());
  if (Status status = prepared.poison(kPoison); !status) return machine_failure(status.error());
  ops::StepObserver* observer =
      observers.first_run ? observers.first_run(*prepared.kernel_) : nullptr;
  const Nanoseconds first = clock.now();
  const Status run = prepared.run(observer);
  prepared.preparation_.first_run = clock.now() - first;
  if (!run) return prepared.kernel_failure(run.error());
  return prepared;
}

Status PreparedKernel::allocate_and_pack(ops::DeviceMemory* memory, const Workload& workload,
                                         const InputValues& values, Clock& clock,
                                         const SetupObservers& observers) {
  const auto tensors = workload_tensors(workload);
  tensors_.assign(tensors.begin(), tensors.end());
  std::vector<Bytes> sizes;
  for (const ops::KernelBuffer& buffer : kernel_->buffers()) sizes.push_back(buffer.size);
  BENCH_ASSIGN_OR_RETURN(buffers_, CaseBuffer::create(sizes, memory));
  for (const ops::KernelBuffer& buffer : kernel_->buffers()) {
    const std::size_t i = tracked_.size();
    tracked_.emplace_back(observers.buffers, buffers_[i].data(), buffer.size,
                          i < tensors_.size() ? tensors_[i].name : "activations",
                          to_string(buffer.role));
  }
  Nanoseconds reorder{0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    BENCH_RETURN_IF_ERROR(
        pack(*kernel_, tensors_[i], i, values[i], buffers_[i], clock, reorder, observers.memory));
  }
  preparation_.reorder = reorder;
  // May need memory of its own, and may run another kernel than the one that is measured.
  return kernel_->prepare(addresses());
}

Status PreparedKernel::bind() {
  BENCH_ASSIGN_OR_RETURN(invocation_, kernel_->bind(addresses()));
  return Done{};
}

BackendError PreparedKernel::kernel_failure(const Error& error) const {
  return {BackendError::Kind::failed, error.message(), kernel_->implementation(),
          kernel_->details()};
}

Status PreparedKernel::poison(std::uint8_t pattern) {
  const auto kinds = kernel_->buffers();
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (kinds[i].role == BufferRole::output || kinds[i].role == BufferRole::activation) {
      BENCH_RETURN_IF_ERROR(buffers_[i].fill(pattern));
    }
  }
  return Done{};
}

Status PreparedKernel::run(ops::StepObserver* observer) {
  const bool ok = observer == nullptr ? invocation_->run() : invocation_->run_observed(*observer);
  if (!ok) return Error{invocation_->error(), "", ""};
  return Done{};
}

Status PreparedKernel::run_again(ops::Invocation* invocation) {
  BENCH_RETURN_IF_ERROR(poison(kPoison));
  if (invocation == nullptr) return run();
  if (!invocation->run()) return Error{invocation->error(), "", ""};
  return Done{};
}

Result<Done, BackendError> PreparedKernel::run_with_other_poison() {
  if (Status status = poison(kOtherPoison); !status) return machine_failure(status.error());
  if (Status status = run(); !status) return kernel_failure(status.error());
  return Done{};
}

std::vector<void*> PreparedKernel::addresses() {
  std::vector<void*> result;
  result.reserve(buffers_.size());
  for (CaseBuffer& buffer : buffers_) result.push_back(buffer.data());
  return result;
}

Result<std::vector<AlignedBuffer>> PreparedKernel::outputs() {
  std::vector<AlignedBuffer> result;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].role != ops::TensorRole::output) continue;
    std::optional<AlignedBuffer> plain = AlignedBuffer::create(tensors_[i].size());
    if (!plain) return no_buffer_memory(tensors_[i].size());
    BENCH_RETURN_IF_ERROR(kernel_->unpack(i, buffers_[i].data(), plain->data()));
    result.push_back(std::move(*plain));
  }
  return result;
}

}  // namespace bench
