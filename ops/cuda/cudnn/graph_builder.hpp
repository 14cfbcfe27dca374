// SPDX-License-Identifier: Apache-2.0
// Builds an operation graph step by step and keeps the first failure.
#pragma once

#include "ops/cuda/cudnn/graph.hpp"

#include <memory>
#include <optional>
#include <span>
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
  // Adds an intermediate result of truth values.
  std::size_t condition(std::string name, std::vector<std::int64_t> dims,
                        std::vector<std::int64_t> strides);
  // Adds a constant number, of the rank of the tensors that it is used with.
  std::size_t number(std::string name, DataType dtype, double value, std::size_t rank);
  // Adds a tensor of constants, which each kernel of the graph keeps in the device's memory.
  // `form.uid` is not used.
  std::size_t constant(TensorForm form, std::span<const double> values);
  // Adds an intermediate result in memory that each kernel of the graph keeps.
  std::size_t scratch(std::string name, DataType dtype, std::vector<std::int64_t> dims,
                      std::vector<std::int64_t> strides);
  void convolution(const ConvForm& form, DataType compute, std::size_t x, std::size_t w,
                   std::size_t y);
  // A tensor with one number for each batch: the rows, columns or inner elements of its matrices
  // that exist, where they are fewer than the tensors have.
  struct MatrixSizes {
    std::optional<std::size_t> rows = std::nullopt, columns = std::nullopt, inner = std::nullopt;
  };
  // Adds c = a * b, products of matrices with sums in f32.
  void matmul(std::size_t a, std::size_t b, std::size_t c, const MatrixSizes& sizes);
  // Adds y = the reduction of x over neighbours in the dimensions that are smaller in y.
  void reduction(cudnnReduceTensorOp_t function, std::size_t x, std::size_t y);
  // Adds y, which has the same memory as x with other sizes and strides.
  void reshape(std::size_t x, std::size_t y);
  // A pointwise function. The optional values are the parameters of the mode. Comparisons and
  // logical functions have results of truth values and no type that they are computed in.
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    DataType compute = DataType::f32;
    std::optional<double> lower_clip = std::nullopt, upper_clip = std::nullopt,
                          slope = std::nullopt, elu_alpha = std::nullopt, swish_beta = std::nullopt;
    std::optional<std::int64_t> axis = std::nullopt;
  };
  // Adds y = mode(x) or y = mode(x, b).
  void pointwise(const Pointwise& function, std::size_t x, std::optional<std::size_t> b,
                 std::size_t y);
  // Adds y = condition ? x : other.
  void select(std::size_t condition, std::size_t x, std::size_t other, std::size_t y);
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
  enum class TensorKind : std::uint8_t { buffer, intermediate, number };
  std::size_t add_tensor(const TensorForm& form, TensorKind kind,
                         std::optional<cudnnDataType_t> type = std::nullopt);
  std::size_t add_constant(TensorForm form, GraphConstant::Memory memory,
                           std::span<const double> values);
  std::shared_ptr<const CudnnApi> api_;
  cudnnHandle_t handle_;
  std::vector<Descriptor> parts_;  // the descriptors added so far
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::vector<TensorForm> tensors_;
  std::vector<GraphConstant> constants_;
  std::vector<TensorForm> scratch_;
  std::int64_t next_uid_ = 1000;
  std::string error_;
};

}  // namespace bench::ops::cuda
