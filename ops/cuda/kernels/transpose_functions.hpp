// SPDX-License-Identifier: Apache-2.0
// Transposes tensors with few channels: converts between one plane per channel and pixels, which
// are the values of all channels at one position. Tiles (device/transpose.cu) would be almost empty
// here. Also pads pixels with further channels. The same source is compiled for the device and for
// the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// Largest number of channels that one thread moves.
inline constexpr std::int64_t kMaxPixelChannels = 16;

enum class PixelMove : std::uint8_t { planes_to_pixels, pixels_to_planes };

struct PixelPlan {
  std::int64_t images = 1, channels = 1, pixels = 1;
  PixelMove move = PixelMove::planes_to_pixels;
};

inline bool has_few_channels(const TransposePlan& plan) {
  return plan.rows <= kMaxPixelChannels || plan.columns <= kMaxPixelChannels;
}

// The plan has few channels.
inline PixelPlan make_pixel_plan(const TransposePlan& plan) {
  if (plan.rows <= kMaxPixelChannels)
    return {plan.batch, plan.rows, plan.columns, PixelMove::planes_to_pixels};
  return {plan.batch, plan.columns, plan.rows, PixelMove::pixels_to_planes};
}

// Moves one pixel of one image. `Packed`: the StoredRun of channels that one instruction loads or
// stores, as unsigned integers with the size of an element. The number of channels is a multiple of
// its size.
template <class Packed>
BENCH_BOTH void move_pixel(const PixelPlan& plan, const typename Packed::Stored* source,
                           typename Packed::Stored* destination, std::int64_t image,
                           std::int64_t pixel) {
  const std::int64_t base = image * plan.channels * plan.pixels;
  const std::int64_t in_planes = base + pixel, in_pixels = base + pixel * plan.channels;
  for (std::int64_t c = 0; c < plan.channels; c += Packed::kSize) {
    if (plan.move == PixelMove::planes_to_pixels) {
      Packed packed;
      for (int i = 0; i < Packed::kSize; ++i) {
        packed.at[i] = source[in_planes + (c + i) * plan.pixels];
      }
      *reinterpret_cast<Packed*>(destination + in_pixels + c) = packed;
    } else {
      const Packed packed = *reinterpret_cast<const Packed*>(source + in_pixels + c);
      for (int i = 0; i < Packed::kSize; ++i) {
        destination[in_planes + (c + i) * plan.pixels] = packed.at[i];
      }
    }
  }
}

// Copies one pixel and appends zeros. `Packed` as in move_pixel(): the size of a padded pixel is a
// multiple of its size.
template <class Packed>
BENCH_BOTH void pad_pixel(const PadPlan& plan, const typename Packed::Stored* source,
                          typename Packed::Stored* destination, std::int64_t pixel) {
  const typename Packed::Stored* const from = source + pixel * plan.channels;
  for (std::int64_t c = 0; c < plan.padded; c += Packed::kSize) {
    Packed packed;
    for (int i = 0; i < Packed::kSize; ++i) {
      packed.at[i] = c + i < plan.channels ? from[c + i] : typename Packed::Stored(0);
    }
    *reinterpret_cast<Packed*>(destination + pixel * plan.padded + c) = packed;
  }
}

// Calls `run` with a value of the widest StoredRun of `Word`, at most kCount elements, that divides
// `channels`.
template <class Word, int kCount, class Run>
void run_by_channels(std::int64_t channels, Run run) {
  if constexpr (kCount > 1) {
    if (channels % kCount != 0) return run_by_channels<Word, kCount / 2>(channels, run);
  }
  run(StoredRun<Word, kCount>());
}

// The same for elements of `bytes` (1, 2, 4 or 8) and accesses of at most 16 bytes. Returns whether
// elements of this size exist.
template <class Run>
bool run_by_packed_channels(int bytes, std::int64_t channels, Run run) {
  switch (bytes) {
    case 1:
      run_by_channels<std::uint8_t, 16>(channels, run);
      return true;
    case 2:
      run_by_channels<std::uint16_t, 8>(channels, run);
      return true;
    case 4:
      run_by_channels<std::uint32_t, 4>(channels, run);
      return true;
    case 8:
      run_by_channels<std::uint64_t, 2>(channels, run);
      return true;
    default:
      return false;
  }
}

}  // namespace bench::ops::cuda
