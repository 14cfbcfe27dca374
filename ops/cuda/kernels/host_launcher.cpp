// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/element_functions.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/norm_gradient.hpp"
#include "ops/cuda/kernels/pieces.hpp"
#include "ops/cuda/kernels/transpose_functions.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string_view>

namespace bench::ops::cuda {
namespace {

template <class T>
void compute_elements(const ElementwisePlan& plan, const Addresses& tensors) {
  for (std::int64_t i = 0; i < plan.elements; ++i) compute_element<T>(plan, tensors, i);
}

template <int kRun>
void compute_runs(const ElementwisePlan& plan, const Addresses& tensors) {
  for (std::int64_t i = 0; i < plan.elements / kRun; ++i) compute_run<kRun>(plan, tensors, i);
}

void run_elementwise(const NativePlan& plan, const Addresses& tensors) {
  const auto elements = plan.as<ElementwisePlan>();
  if (elements.run == 8) return compute_runs<8>(elements, tensors);
  if (elements.run == 4) return compute_runs<4>(elements, tensors);
  run_by(elements.precision,
         [&](auto zero) { compute_elements<decltype(zero)>(elements, tensors); });
}

template <class T>
void sum_channels(const ChannelSumPlan& plan, const Addresses& tensors) {
  for (std::int64_t channel = 0; channel < plan.channels; ++channel) {
    T sum = 0;
    for (int lane = 0; lane < kHostLanes; ++lane) {
      sum += sum_channel_part<T>(plan, tensors.at[plan.source], channel, lane, kHostLanes);
    }
    store_as<T>(plan.destination_type, tensors.at[plan.destination], channel, sum);
  }
}

void run_channel_sum(const NativePlan& plan, const Addresses& tensors) {
  const auto channels = plan.as<ChannelSumPlan>();
  run_by(channels.precision, [&](auto zero) { sum_channels<decltype(zero)>(channels, tensors); });
}

void move_pixels(const TransposePlan& transpose, const Addresses& tensors) {
  const PixelPlan plan = make_pixel_plan(transpose);
  const bool moved =
      run_by_packed_channels(transpose.bytes, plan.channels, [&]<class Packed>(Packed /*type*/) {
        const auto* source = static_cast<const typename Packed::Stored*>(tensors.at[0]);
        auto* destination = static_cast<typename Packed::Stored*>(tensors.at[1]);
        for (std::int64_t image = 0; image < plan.images; ++image) {
          for (std::int64_t pixel = 0; pixel < plan.pixels; ++pixel) {
            move_pixel<Packed>(plan, source, destination, image, pixel);
          }
        }
      });
  assert(moved && "elements have 1, 2, 4 or 8 bytes");
  static_cast<void>(moved);
}

void pad_channels(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<PadPlan>();
  const bool padded =
      run_by_packed_channels(plan.bytes, plan.padded, [&]<class Packed>(Packed /*type*/) {
        const auto* source = static_cast<const typename Packed::Stored*>(tensors.at[0]);
        auto* destination = static_cast<typename Packed::Stored*>(tensors.at[1]);
        for (std::int64_t pixel = 0; pixel < plan.pixels; ++pixel) {
          pad_pixel<Packed>(plan, source, destination, pixel);
        }
      });
  assert(padded && "elements have 1, 2, 4 or 8 bytes");
  static_cast<void>(padded);
}

void run_transpose(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<TransposePlan>();
  if (has_few_channels(plan)) return move_pixels(plan, tensors);
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

constexpr HostKernel kSharedKernels[] = {{ElementwisePlan::kKernel, run_elementwise},
                                         {TransposePlan::kKernel, run_transpose},
                                         {PadPlan::kKernel, pad_channels},
                                         {ChannelSumPlan::kKernel, run_channel_sum},
                                         {NormGradientPlan::kKernel, run_rows<NormGradientPlan>},
                                         {PiecesPlan::kKernel, run_rows<PiecesPlan>}};

const HostKernel* find_kernel(std::string_view name) {
  for (const HostKernel& shared : kSharedKernels) {
    if (shared.kernel == name) return &shared;
  }
  for (const NativeEntry* entry : native_entries()) {
    if (entry->host.run != nullptr && entry->host.kernel == name) return &entry->host;
  }
  return nullptr;
}

}  // namespace

Status HostLauncher::launch(const NativePlan& plan, std::span<void* const> tensors) {
  assert(tensors.size() <= static_cast<std::size_t>(kMaxOperands));
  Addresses addresses;
  std::copy(tensors.begin(), tensors.end(), addresses.at);
  const HostKernel* kernel = find_kernel(plan.kernel());
  assert(kernel != nullptr && "each plan's kernel has a row");
  kernel->run(plan, addresses);
  return Done{};
}

}  // namespace bench::ops::cuda
