// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/host_launcher.hpp"

#include "ops/cuda/kernels/element_functions.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace bench::ops::cuda {
namespace {

// Divides work as the device's blocks do, with fewer threads.
constexpr int kLanes = 7;

template <class T>
void run(const ElementwisePlan& plan, const Addresses& tensors) {
  for (std::int64_t i = 0; i < plan.elements; ++i) compute_element<T>(plan, tensors, i);
}

template <class T>
void run(const SoftmaxPlan& plan, const Addresses& tensors) {
  for (std::int64_t row = 0; row < plan.outer * plan.inner; ++row) {
    const std::int64_t start = row_start(plan, row);
    OnlineSum<T> whole;
    for (int lane = 0; lane < kLanes; ++lane) {
      whole = merged(whole, sum_part<T>(plan, tensors.at[0], start, lane, kLanes));
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      write_part<T>(plan, tensors.at[0], tensors.at[1], start, whole, lane, kLanes);
    }
  }
}

template <class T>
void run(const ChannelSumPlan& plan, const Addresses& tensors) {
  for (std::int64_t channel = 0; channel < plan.channels; ++channel) {
    T sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      sum += channel_part<T>(plan, tensors.at[plan.source], channel, lane, kLanes);
    }
    store_as<T>(plan.destination_type, tensors.at[plan.destination], channel, sum);
  }
}

struct Executor {
  const Addresses& tensors;

  template <class Plan>
  void operator()(const Plan& plan) const {
    if (plan.precision == Precision::wide) {
      run<double>(plan, tensors);
    } else {
      run<float>(plan, tensors);
    }
  }
  void operator()(const TransposePlan& plan) const {
    const auto* source = static_cast<const char*>(tensors.at[0]);
    auto* destination = static_cast<char*>(tensors.at[1]);
    const std::int64_t plane = plan.rows * plan.columns;
    for (std::int64_t i = 0; i < plan.batch * plane; ++i) {
      const std::int64_t row = i % plane / plan.columns;
      const std::int64_t column = i % plan.columns;
      const std::int64_t to = i / plane * plane + column * plan.rows + row;
      std::copy_n(source + i * plan.bytes, plan.bytes, destination + to * plan.bytes);
    }
  }
};

}  // namespace

Status HostLauncher::launch(const OwnPlan& plan, std::span<void* const> tensors) {
  assert(tensors.size() <= static_cast<std::size_t>(kMaxOperands));
  Addresses addresses;
  std::copy(tensors.begin(), tensors.end(), addresses.at);
  std::visit(Executor{addresses}, plan);
  return Done{};
}

}  // namespace bench::ops::cuda
