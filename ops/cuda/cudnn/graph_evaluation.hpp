// SPDX-License-Identifier: Apache-2.0
// For tests: computes an operation graph of the fake cuDNN as cuDNN's documentation defines it, in
// double, and rounds each tensor to its type. It knows the operations of attention.
#pragma once

#include "base/data_type.hpp"
#include "ops/cuda/cudnn/fake_cudnn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bench::ops::cuda::cudnn_test {

class GraphEvaluation {
 public:
  using Addresses = FakeCudnn::Addresses;
  using Handle = cudnnBackendDescriptor_t;

  explicit GraphEvaluation(const Addresses& addresses) : addresses_(addresses) {}

  void run(Handle graph) {
    for (const Handle each : FakeCudnn::attribute<Handle>(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
      const auto type = FakeCudnn::type_of(each);
      if (type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
        multiply(each);
      } else if (type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
        apply(each);
      } else if (type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
        reduce(each);
      } else if (type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) {
        reshape(each);
      } else {
        ADD_FAILURE() << "operation " << type << " is not known here";
      }
    }
  }

 private:
  struct Values {
    std::vector<std::int64_t> dims;
    std::vector<double> elements;  // the last dimension is innermost
  };
  using Index = std::vector<std::int64_t>;

  static Handle part(Handle operation, cudnnBackendAttributeName_t name) {
    return FakeCudnn::attribute<Handle>(operation, name).at(0);
  }
  static std::vector<std::int64_t> integers(Handle tensor, cudnnBackendAttributeName_t name) {
    return FakeCudnn::attribute<std::int64_t>(tensor, name);
  }
  static std::int64_t uid(Handle tensor) {
    return integers(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID).at(0);
  }
  // Returns nullopt for truth values.
  static std::optional<DataType> dtype(Handle tensor) {
    const auto code = FakeCudnn::attribute<std::int32_t>(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE).at(0);
    for (const DataTypeInfo& row : data_types()) {
      if (static_cast<std::int32_t>(cudnn_type(row.type)) == code) return row.type;
    }
    EXPECT_EQ(code, static_cast<std::int32_t>(CUDNN_DATA_BOOLEAN));
    return std::nullopt;
  }
  static void for_each(const std::vector<std::int64_t>& dims,
                       const std::function<void(const Index&)>& visit) {
    Index index(dims.size(), 0);
    while (true) {
      visit(index);
      std::size_t i = dims.size();
      while (i > 0 && ++index[i - 1] == dims[i - 1]) index[--i] = 0;
      if (i == 0) return;
    }
  }
  // Returns an element. A dimension of size 1 is repeated, and so is a head of keys.
  static double at(const Values& values, const Index& index, std::int64_t heads = 1) {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t group = i == 1 && values.dims[1] < heads ? heads / values.dims[1] : 1;
      position = position * values.dims[i] + (values.dims[i] == 1 ? 0 : index[i] / group);
    }
    return values.elements.at(static_cast<std::size_t>(position));
  }
  static std::size_t position(Handle tensor, const Index& index) {
    const auto strides = integers(tensor, CUDNN_ATTR_TENSOR_STRIDES);
    std::int64_t position = 0;
    for (std::size_t i = 0; i < index.size(); ++i) position += index[i] * strides[i];
    return static_cast<std::size_t>(position);
  }

  Values read(Handle tensor) const {
    if (const auto known = values_.find(uid(tensor)); known != values_.end()) return known->second;
    Values values{integers(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS), {}};
    for_each(values.dims, [&](const Index& index) {
      values.elements.push_back(
          load_element(dtype(tensor).value(), addresses_.at(uid(tensor)), position(tensor, index)));
    });
    return values;
  }
  void write(Handle tensor, const std::function<double(const Index&)>& element) {
    Values values{integers(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS), {}};
    const bool is_virtual =
        FakeCudnn::attribute<std::uint8_t>(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL).at(0) != 0;
    const auto type = dtype(tensor);
    for_each(values.dims, [&](const Index& index) {
      const double value = element(index);
      values.elements.push_back(type && std::isfinite(value) ? round_to(*type, value) : value);
      if (!is_virtual) {
        store_element(type.value(), addresses_.at(uid(tensor)), position(tensor, index), value);
      }
    });
    if (is_virtual) values_[uid(tensor)] = std::move(values);
  }

  // Returns the size of a sequence's matrix if the operation has one, else `whole`.
  std::int64_t size_of(Handle operation, cudnnBackendAttributeName_t name, std::int64_t sequence,
                       std::int64_t whole) const {
    const auto sizes = FakeCudnn::attribute<Handle>(operation, name);
    if (sizes.empty()) return whole;
    return static_cast<std::int64_t>(at(read(sizes[0]), {sequence, 0, 0, 0}));
  }
  // What is outside of a sequence's matrix has no defined value: here NaN, which must not count.
  void multiply(Handle operation) {
    const Values a = read(part(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC));
    const Values b = read(part(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC));
    const std::int64_t heads = a.dims[1];
    write(part(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC), [&](const Index& c) {
      const auto size = [&](cudnnBackendAttributeName_t name, std::int64_t whole) {
        return size_of(operation, name, c[0], whole);
      };
      if (c[2] >= size(CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, a.dims[2]) ||
          c[3] >= size(CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, b.dims[3])) {
        return std::numeric_limits<double>::quiet_NaN();
      }
      const std::int64_t inner = size(CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, a.dims[3]);
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        sum += at(a, {c[0], c[1], c[2], k}) * at(b, {c[0], c[1], k, c[3]}, heads);
      }
      return sum;
    });
  }

  static double compute(cudnnPointwiseMode_t mode, double x, double b, double t) {
    switch (mode) {
      case CUDNN_POINTWISE_ADD:
        return x + b;
      case CUDNN_POINTWISE_SUB:
        return x - b;
      case CUDNN_POINTWISE_MUL:
        return x * b;
      case CUDNN_POINTWISE_DIV:
        return x / b;
      case CUDNN_POINTWISE_IDENTITY:
        return x;
      case CUDNN_POINTWISE_EXP:
        return std::exp(x);
      case CUDNN_POINTWISE_LOG:
        return std::log(x);
      case CUDNN_POINTWISE_CMP_LT:
        return x < b ? 1 : 0;
      case CUDNN_POINTWISE_CMP_GE:
        return x >= b ? 1 : 0;
      case CUDNN_POINTWISE_CMP_GT:
        return x > b ? 1 : 0;
      case CUDNN_POINTWISE_LOGICAL_AND:
        return x != 0 && b != 0 ? 1 : 0;
      case CUDNN_POINTWISE_BINARY_SELECT:
        return t != 0 ? x : b;
      default:
        ADD_FAILURE() << "pointwise mode " << mode << " is not known here";
        return 0;
    }
  }
  void apply(Handle operation) {
    const Handle function = part(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const auto mode =
        FakeCudnn::attribute<cudnnPointwiseMode_t>(function, CUDNN_ATTR_POINTWISE_MODE).at(0);
    const Values x = read(part(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
    const auto operand = [&](cudnnBackendAttributeName_t name) -> std::optional<Values> {
      const auto tensor = FakeCudnn::attribute<Handle>(operation, name);
      if (tensor.empty()) return std::nullopt;
      return read(tensor[0]);
    };
    const auto b = operand(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    const auto t = operand(CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
    write(part(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC), [&](const Index& index) {
      if (mode == CUDNN_POINTWISE_GEN_INDEX) {
        const auto axis = integers(function, CUDNN_ATTR_POINTWISE_AXIS).at(0);
        return static_cast<double>(index[static_cast<std::size_t>(axis)]);
      }
      return compute(mode, at(x, index), b ? at(*b, index) : 0, t ? at(*t, index) : 0);
    });
  }
  // Over neighbours, in the dimensions that are smaller in the result.
  void reduce(Handle operation) {
    const Handle function = part(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
    const auto mode =
        FakeCudnn::attribute<cudnnReduceTensorOp_t>(function, CUDNN_ATTR_REDUCTION_OPERATOR).at(0);
    const Values x = read(part(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
    const Handle y = part(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    std::vector<std::int64_t> counts = integers(y, CUDNN_ATTR_TENSOR_DIMENSIONS);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = x.dims[i] / counts[i];
    write(y, [&](const Index& index) {
      std::optional<double> result;
      for_each(counts, [&](Index neighbour) {
        for (std::size_t i = 0; i < counts.size(); ++i) neighbour[i] += index[i] * counts[i];
        const double element = at(x, neighbour);
        if (!result) {
          result = element;
        } else {
          result = mode == CUDNN_REDUCE_TENSOR_ADD ? *result + element : std::max(*result, element);
        }
      });
      return *result;
    });
  }
  void reshape(Handle operation) {
    const Handle source = part(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
    const Handle target = part(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
    const Values x = read(source);
    std::vector<double> memory(x.elements.size());
    std::size_t i = 0;
    for_each(x.dims,
             [&](const Index& index) { memory.at(position(source, index)) = x.elements[i++]; });
    write(target, [&](const Index& index) { return memory.at(position(target, index)); });
  }

  const Addresses& addresses_;
  std::map<std::int64_t, Values> values_;  // of intermediate results, by uid
};

}  // namespace bench::ops::cuda::cudnn_test
