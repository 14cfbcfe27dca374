// SPDX-License-Identifier: Apache-2.0
// Builds an operation graph step by step and keeps the first failure.
#pragma once

#include "ops/cuda/cudnn/graph.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

class GraphBuilder {
 public:
  explicit GraphBuilder(const CudnnTarget& target) : api_(target.api), handle_(target.handle) {}

  // Adds a tensor with a buffer, or an intermediate result. Returns its index for the functions
  // below.
  std::size_t tensor(const TensorForm& form);
  std::size_t intermediate(std::string name, DataType dtype, std::vector<std::int64_t> dims,
                           std::vector<std::int64_t> strides);
  void convolution(const ConvForm& form, DataType compute, std::size_t x, std::size_t w,
                   std::size_t y);
  // A pointwise function. The optional values are the parameters of the mode.
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    DataType compute = DataType::f32;
    std::optional<double> lower_clip = std::nullopt, upper_clip = std::nullopt,
                          slope = std::nullopt, elu_alpha = std::nullopt, swish_beta = std::nullopt;
  };
  // Adds y = mode(x) or y = mode(x, b).
  void pointwise(const Pointwise& function, std::size_t x, std::optional<std::size_t> b,
                 std::size_t y);
  // Adds dx = mode(x, dy), the gradient of a function of x.
  void pointwise_gradient(const Pointwise& function, std::size_t x, std::size_t dy, std::size_t dx);
  // Adds a descriptor of any kind and returns its index. If creating the descriptor failed, records
  // the error and returns nullopt.
  std::optional<std::size_t> keep(Result<Descriptor> descriptor);
  // Like keep(), for the descriptor of an operation of the graph.
  void operation(Result<Descriptor> descriptor);
  const Descriptor& at(std::size_t index) const { return parts_[index]; }
  const std::shared_ptr<const CudnnApi>& api() const { return api_; }
  bool failed() const { return !error_.empty(); }

  Result<OperationGraph, BackendError> finish();

 private:
  std::optional<std::size_t> function_descriptor(const Pointwise& function);
  std::size_t add_tensor(const TensorForm& form, bool is_virtual);
  std::shared_ptr<const CudnnApi> api_;
  cudnnHandle_t handle_;
  std::vector<Descriptor> parts_;  // the descriptors added so far
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::vector<TensorForm> tensors_;
  std::int64_t next_uid_ = 1000;
  std::string error_;
};

}  // namespace bench::ops::cuda
