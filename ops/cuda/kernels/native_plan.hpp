// SPDX-License-Identifier: Apache-2.0
// Stores the plan of one launch as bytes, with the name of its native kernel. plans.hpp defines the
// plans of kernels that several operators share. If only one operator uses a kernel,
// cuda_native.hpp in the operator's folder defines the plan. C++17, because nvcc compiles this
// header too.
#pragma once

#include <cassert>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bench::ops::cuda {

// `Plan` is plain data with `static constexpr const char* kKernel`, the name of its kernel.
class NativePlan {
 public:
  NativePlan() = default;
  template <class Plan>
  explicit NativePlan(const Plan& plan) : kernel_(Plan::kKernel), bytes_(sizeof(Plan)) {
    static_assert(std::is_trivially_copyable<Plan>::value, "a plan is passed to kernels by value");
    std::memcpy(bytes_.data(), &plan, sizeof(Plan));
  }

  std::string_view kernel() const { return kernel_; }

  // Returns the plan. `Plan` must be the type that the constructor received.
  template <class Plan>
  Plan as() const {
    assert(kernel_ == Plan::kKernel && bytes_.size() == sizeof(Plan));
    Plan plan;
    std::memcpy(&plan, bytes_.data(), sizeof(Plan));
    return plan;
  }

 private:
  std::string_view kernel_;
  std::vector<unsigned char> bytes_;
};

}  // namespace bench::ops::cuda
