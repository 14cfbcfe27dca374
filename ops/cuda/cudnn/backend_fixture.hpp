// SPDX-License-Identifier: Apache-2.0
// For tests: the backend on a scripted device with a scripted cuDNN.
#pragma once

#include "ops/cuda/cublas/test_support.hpp"
#include "ops/cuda/cudnn/cudnn_backend.hpp"
#include "ops/cuda/cudnn/cudnn_kernel.hpp"
#include "ops/cuda/cudnn/fake_cudnn.hpp"
#include "ops/cuda/cudnn/forms.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/network/test_support.hpp"
#include "ops/network/test_support.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::cudnn_test {

class CudnnBackendTest : public ::testing::Test {
 protected:
  using Created = Result<std::unique_ptr<Kernel>, BackendError>;

  Backend& backend() {
    if (backend_ == nullptr) {
      auto made = make_cudnn_backend(
          {device_.parts(), cudnn_.api(), std::make_shared<test::StreamLauncher>(device_.runtime),
           [this](const Problem& product, std::int64_t tuning) -> Created {
             product_tunings_.push_back(tuning);
             return make_product(test::product_setting(device_), product,
                                 [this](const Problem& part) { return reference_product(part); });
           }});
      EXPECT_TRUE(made.ok());
      backend_ = *std::move(made);
    }
    return *backend_;
  }
  std::unique_ptr<Kernel> create(const Problem& problem) {
    auto kernel = backend().create(problem);
    EXPECT_TRUE(kernel.ok()) << (kernel ? "" : kernel.error().reason);
    return kernel ? *std::move(kernel) : nullptr;
  }
  // Writes a plain convolution's result in the layout of its graph's tensors.
  void compute_by_reference(const Problem& conv, DataType between) {
    cudnn_.work = [part = conv_part(conv, between)](const FakeCudnn::Addresses& at) {
      const auto form = conv_form(part);
      ASSERT_TRUE(form.ok());
      const TensorForm* const forms[] = {&form->x, &form->w, &form->y};
      std::vector<DeviceTensor> tensors(3);
      std::vector<void*> buffers(3);
      for (const TensorForm* each : forms) {
        const auto i = static_cast<std::size_t>(each->uid - 1);
        tensors[i].arrangement = packed_tensor(part, i, *each).arrangement;
        buffers[i] = at.at(each->uid);
      }
      test::compute_reference(part, tensors, buffers);
    };
  }
  void expect_reference(const Problem& problem, Kernel& kernel) {
    test::expect_reference(device_, kernel, problem);
  }

  // A library that fuses nothing.
  Result<std::unique_ptr<Kernel>, BackendError> reference_product(const Problem& product) {
    if (!product.post_ops.empty()) {
      return BackendError{BackendError::Kind::unsupported, "fuses nothing"};
    }
    if (product_failure_) return *product_failure_;
    return std::unique_ptr<Kernel>(
        std::make_unique<test::ReferenceKernel>(device_, product, MemoryLayout::plain));
  }

  test::ScriptedDevice device_;
  FakeCudnn cudnn_{device_.runtime};
  std::unique_ptr<Backend> backend_;
  std::vector<std::int64_t> product_tunings_;    // tuning of each requested product
  std::optional<BackendError> product_failure_;  // of products without post-ops
};

// Two layers with the same problem, and one with another.
inline NetworkDefinition three_convolutions() {
  return {.name = "three",
          .input = {8, 6, 6},
          .layers = {bench::ops::op_test::layer("a", "conv", "k8r3s3p1+bias", {"input"}),
                     bench::ops::op_test::layer("a.relu", "pointwise", "relu", {"a"}),
                     bench::ops::op_test::layer("b", "conv", "k8r3s3p1+bias", {"a.relu"}),
                     bench::ops::op_test::layer("b.relu", "pointwise", "relu", {"b"}),
                     bench::ops::op_test::layer("c", "conv", "k4r1s1+bias", {"b.relu"})}};
}

// Returns "NODE:IMPLEMENTATION" for each step.
inline std::vector<std::string> step_names(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const KernelStep& step : kernel.steps()) {
    names.push_back(step.node + ":" + step.implementation);
  }
  return names;
}

}  // namespace bench::ops::cuda::cudnn_test
