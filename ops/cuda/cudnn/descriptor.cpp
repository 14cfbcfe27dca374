// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench::ops::cuda {

Descriptor::Descriptor(std::shared_ptr<const CudnnApi> api, cudnnBackendDescriptor_t handle)
    : api_(std::move(api)), handle_(handle) {}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : api_(std::move(other.api_)), handle_(std::exchange(other.handle_, nullptr)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(handle_, other.handle_);
  return *this;
}

Descriptor::~Descriptor() {
  if (handle_ != nullptr) api_->destroy_descriptor(handle_);
}

std::optional<std::int64_t> Descriptor::integer(cudnnBackendAttributeName_t name) const {
  std::int64_t value = 0, count = 0;
  const cudnnStatus_t status =
      api_->get_attribute(handle_, name, CUDNN_TYPE_INT64, 1, &count, &value);
  if (status != CUDNN_STATUS_SUCCESS || count != 1) return std::nullopt;
  return value;
}

std::vector<std::int32_t> Descriptor::codes(cudnnBackendAttributeName_t name,
                                            cudnnBackendAttributeType_t type) const {
  constexpr std::int64_t kMaxNotes = 64;  // cuDNN 9.19 has 10 numerical and 5 behaviour notes
  std::vector<std::int32_t> values(kMaxNotes);
  std::int64_t count = 0;
  const cudnnStatus_t status =
      api_->get_attribute(handle_, name, type, kMaxNotes, &count, values.data());
  values.resize(
      status == CUDNN_STATUS_SUCCESS ? static_cast<std::size_t>(std::min(count, kMaxNotes)) : 0);
  return values;
}

Result<std::int32_t> Descriptor::code(cudnnBackendAttributeName_t name,
                                      cudnnBackendAttributeType_t type) const {
  std::int32_t value = 0;
  std::int64_t count = 0;
  const cudnnStatus_t status = api_->get_attribute(handle_, name, type, 1, &count, &value);
  if (status != CUDNN_STATUS_SUCCESS) return Error{api_->text(status), "", ""};
  if (count != 1) return Error{fmt::format("cuDNN returns {} values", count), "", ""};
  return value;
}

Result<std::vector<Descriptor>> Descriptor::descriptors(cudnnBackendAttributeName_t name,
                                                        cudnnBackendDescriptorType_t type,
                                                        std::int64_t limit) const {
  std::vector<Descriptor> values;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::int64_t index = 0; index < limit; ++index) {
    cudnnBackendDescriptor_t handle = nullptr;
    if (const auto status = api_->create_descriptor(type, &handle);
        status != CUDNN_STATUS_SUCCESS) {
      return Error{"no descriptor: " + api_->text(status), "", ""};
    }
    values.push_back(Descriptor(api_, handle));
    handles.push_back(handle);
  }
  std::int64_t count = 0;
  const auto status = api_->get_attribute(handle_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, limit,
                                          &count, handles.data());
  if (status != CUDNN_STATUS_SUCCESS) return Error{api_->text(status), "", ""};
  while (static_cast<std::int64_t>(values.size()) > count) values.pop_back();
  return values;
}

DescriptorBuilder::DescriptorBuilder(std::shared_ptr<const CudnnApi> api,
                                     cudnnBackendDescriptorType_t type, std::string what)
    : api_(std::move(api)), descriptor_(api_, nullptr), what_(std::move(what)) {
  const cudnnStatus_t status = api_->create_descriptor(type, &descriptor_.handle_);
  if (status != CUDNN_STATUS_SUCCESS) fail("cannot be created", status);
}

void DescriptorBuilder::fail(std::string_view action, cudnnStatus_t status) {
  if (error_.empty()) error_ = fmt::format("{} {}: {}", what_, action, api_->text(status));
}

DescriptorBuilder& DescriptorBuilder::set(cudnnBackendAttributeName_t name,
                                          cudnnBackendAttributeType_t type, std::int64_t count,
                                          const void* values) {
  if (!error_.empty()) return *this;
  const cudnnStatus_t status = api_->set_attribute(descriptor_.handle_, name, type, count, values);
  if (status != CUDNN_STATUS_SUCCESS) {
    fail(fmt::format("refuses attribute {}", static_cast<int>(name)), status);
  }
  return *this;
}

DescriptorBuilder& DescriptorBuilder::integer(cudnnBackendAttributeName_t name,
                                              std::int64_t value) {
  return set(name, CUDNN_TYPE_INT64, 1, &value);
}

DescriptorBuilder& DescriptorBuilder::integers(cudnnBackendAttributeName_t name,
                                               std::span<const std::int64_t> values) {
  return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

DescriptorBuilder& DescriptorBuilder::boolean(cudnnBackendAttributeName_t name, bool value) {
  return set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}

DescriptorBuilder& DescriptorBuilder::real(cudnnBackendAttributeName_t name, float value) {
  return set(name, CUDNN_TYPE_FLOAT, 1, &value);
}

DescriptorBuilder& DescriptorBuilder::real(cudnnBackendAttributeName_t name, double value) {
  return set(name, CUDNN_TYPE_DOUBLE, 1, &value);
}

DescriptorBuilder& DescriptorBuilder::text(cudnnBackendAttributeName_t name,
                                           std::string_view value) {
  return set(name, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(value.size()), value.data());
}

DescriptorBuilder& DescriptorBuilder::descriptor(cudnnBackendAttributeName_t name,
                                                 const Descriptor& value) {
  const cudnnBackendDescriptor_t handle = value.get();
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

DescriptorBuilder& DescriptorBuilder::descriptors(
    cudnnBackendAttributeName_t name, std::span<const cudnnBackendDescriptor_t> values) {
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(values.size()),
             values.data());
}

DescriptorBuilder& DescriptorBuilder::handle(cudnnBackendAttributeName_t name,
                                             cudnnHandle_t value) {
  return set(name, CUDNN_TYPE_HANDLE, 1, &value);
}

DescriptorBuilder& DescriptorBuilder::pointers(cudnnBackendAttributeName_t name,
                                               std::span<void* const> values) {
  return set(name, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(values.size()), values.data());
}

Result<Descriptor> DescriptorBuilder::finish() {
  if (error_.empty()) {
    const cudnnStatus_t status = api_->finalize(descriptor_.handle_);
    if (status != CUDNN_STATUS_SUCCESS) fail("is refused", status);
  }
  if (!error_.empty()) return Error{error_, "", ""};
  return std::move(descriptor_);
}

}  // namespace bench::ops::cuda
