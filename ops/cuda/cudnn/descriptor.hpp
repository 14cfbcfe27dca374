// SPDX-License-Identifier: Apache-2.0
// Owns cuDNN's backend descriptors. A builder sets the attributes of a descriptor in one chain of
// calls and keeps the first failure.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

class Descriptor {
 public:
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  cudnnBackendDescriptor_t get() const { return handle_; }

  // The following functions read attributes of a finalised descriptor.
  // Returns nullopt if cuDNN does not report exactly one value.
  std::optional<std::int64_t> integer(cudnnBackendAttributeName_t name) const;
  // Returns the values of an attribute that has 32-bit codes, such as notes. Returns none if cuDNN
  // does not report the attribute.
  std::vector<std::int32_t> codes(cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type) const;
  // Returns the value of an attribute that has exactly one 32-bit code. cuDNN requires that one
  // value is requested. Error: cuDNN's status.
  Result<std::int32_t> code(cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type) const;
  // Returns at most `limit` descriptors of the attribute, each of `type`.
  Result<std::vector<Descriptor>> descriptors(cudnnBackendAttributeName_t name,
                                              cudnnBackendDescriptorType_t type,
                                              std::int64_t limit) const;

 private:
  friend class DescriptorBuilder;
  Descriptor(std::shared_ptr<const CudnnApi> api, cudnnBackendDescriptor_t handle);
  std::shared_ptr<const CudnnApi> api_;
  cudnnBackendDescriptor_t handle_ = nullptr;
};

// The attributes for the device handle of a graph and of a plan. cuDNN 9.19 deprecates these names
// in favour of planning without a device. Versions before 9.8 have no alternative.
inline constexpr auto kGraphHandle = static_cast<cudnnBackendAttributeName_t>(800);
inline constexpr auto kPlanHandle = static_cast<cudnnBackendAttributeName_t>(400);

class DescriptorBuilder {
 public:
  // `what` names the descriptor in messages: "tensor `source`".
  DescriptorBuilder(std::shared_ptr<const CudnnApi> api, cudnnBackendDescriptorType_t type,
                    std::string what);

  DescriptorBuilder& integer(cudnnBackendAttributeName_t name, std::int64_t value);
  DescriptorBuilder& integers(cudnnBackendAttributeName_t name,
                              std::span<const std::int64_t> values);
  DescriptorBuilder& boolean(cudnnBackendAttributeName_t name, bool value);
  DescriptorBuilder& real(cudnnBackendAttributeName_t name, float value);
  DescriptorBuilder& real(cudnnBackendAttributeName_t name, double value);
  DescriptorBuilder& text(cudnnBackendAttributeName_t name, std::string_view value);
  DescriptorBuilder& descriptor(cudnnBackendAttributeName_t name, const Descriptor& value);
  DescriptorBuilder& descriptors(cudnnBackendAttributeName_t name,
                                 std::span<const cudnnBackendDescriptor_t> values);
  DescriptorBuilder& handle(cudnnBackendAttributeName_t name, cudnnHandle_t value);
  DescriptorBuilder& pointers(cudnnBackendAttributeName_t name, std::span<void* const> values);
  // Sets a cuDNN enumeration value.
  template <class Enum>
  DescriptorBuilder& code(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          Enum value) {
    return set(name, type, 1, &value);
  }

  // Error: the first attribute that cuDNN rejected, or why the descriptor cannot be finalised.
  Result<Descriptor> finish();

 private:
  DescriptorBuilder& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         std::int64_t count, const void* values);
  void fail(std::string_view action, cudnnStatus_t status);
  std::shared_ptr<const CudnnApi> api_;
  Descriptor descriptor_;
  std::string what_;
  std::string error_;
};

}  // namespace bench::ops::cuda
