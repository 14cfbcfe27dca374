// SPDX-License-Identifier: Apache-2.0
// The native kernel of forward pooling on a CUDA device: its plan and its arithmetic. The same
// source is compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace bench::ops::cuda {

enum class Pooling : std::uint8_t { max, include_pad, exclude_pad };

// One spatial axis. `before` is the padding before the first element.
struct PoolAxis {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, before = 0;
};

inline constexpr int kPoolAxes = 3;

// Strides of a tensor, in elements.
struct PoolStrides {
  std::int64_t image = 0, channel = 0, axes[kPoolAxes] = {};
};

// Tensor 0 is the source, 1 the destination. Missing outer axes have size 1. A thread computes
// `lanes` neighbouring channels of one position: 1, or as many as 16 bytes hold. Channels are the
// innermost dimension if there is more than one lane.
struct PoolPlan {
  static constexpr const char* kKernel = "pool";
  Pooling pooling = Pooling::max;
  Element type = Element::f32;
  Precision precision = Precision::single;
  std::int64_t images = 1, channels = 1;
  PoolAxis axes[kPoolAxes];
  PoolStrides source, destination;
  int lanes = 1;
};

// Maximum number of positions of a launch with more than one lane: a position plus a stride of the
// whole grid then fits into 32 bits.
inline constexpr std::int64_t kMaxChunkPositions = INT64_C(1) << 30;

// Returns the number of threads that a launch needs.
BENCH_BOTH std::int64_t count_positions(const PoolPlan& plan) {
  std::int64_t count = plan.images * (plan.channels / plan.lanes);
  for (const PoolAxis& axis : plan.axes) count *= axis.output;
  return count;
}

// --- How a thread reads and writes the channels of a position. `Raw` is what a load returns.

// One channel of any type.
template <class T>
struct ScalarAccess {
  static constexpr int kLanes = 1;
  using Raw = T;
  Element type;
  BENCH_BOTH Raw load(const void* source, std::int64_t offset) const {
    return load_as<T>(type, source, offset);
  }
  BENCH_BOTH T value(const Raw& raw, int /*lane*/) const { return raw; }
  BENCH_BOTH void store(void* destination, std::int64_t offset, const T* values) const {
    store_as<T>(type, destination, offset, values[0]);
  }
};

// Returns how many channels of a type a thread computes at once. Other types than these are rare,
// and would only prolong the compilation.
constexpr int chunk_lanes(Element type) {
  switch (type) {
    case Element::f32:
      return 4;
    case Element::f16:
    case Element::bf16:
      return 8;
    case Element::s8:
    case Element::u8:
      return 16;
    case Element::f64:
    case Element::s32:
    case Element::f8_e4m3:
    case Element::f8_e5m2:
      break;
  }
  return 1;
}

// 16 bytes of channels.
template <Element kType>
struct ChunkAccess {
  static constexpr int kLanes = chunk_lanes(kType);
  // The unsigned integer with the size of an element.
  using Word = std::conditional_t<kLanes == 4, std::uint32_t,
                                  std::conditional_t<kLanes == 8, std::uint16_t, std::uint8_t>>;
  using Raw = StoredRun<Word, kLanes>;
  BENCH_BOTH Raw load(const void* source, std::int64_t offset) const {
    return load_stored<Word, kLanes>(source, offset);
  }
  BENCH_BOTH float value(const Raw& raw, int lane) const {
    return decode_as<float>(kType, raw.at[lane]);
  }
  BENCH_BOTH void store(void* destination, std::int64_t offset, const float* values) const {
    Raw raw;
    BENCH_UNROLL
    for (int lane = 0; lane < kLanes; ++lane) {
      raw.at[lane] = static_cast<Word>(encode_as(kType, values[lane]));
    }
    store_stored(destination, offset, raw);
  }
};

// Calls `run` with the ChunkAccess of a type with more than one lane.
template <class Run>
void run_by_chunk(Element type, Run run) {
  switch (type) {
    case Element::f32:
      return run(ChunkAccess<Element::f32>());
    case Element::f16:
      return run(ChunkAccess<Element::f16>());
    case Element::bf16:
      return run(ChunkAccess<Element::bf16>());
    case Element::s8:
      return run(ChunkAccess<Element::s8>());
    case Element::u8:
      return run(ChunkAccess<Element::u8>());
    case Element::f64:
    case Element::s32:
    case Element::f8_e4m3:
    case Element::f8_e5m2:
      break;
  }
}

// --- Windows.

struct MaxOfWindow {
  template <class T>
  BENCH_BOTH static T start() {
    return -static_cast<T>(HUGE_VALF);
  }
  template <class T>
  BENCH_BOTH static T merge(T a, T b) {
    return b > a ? b : a;
  }
  // Whether an element may be merged more than once.
  static constexpr bool kRepeats = true;
};

struct SumOfWindow {
  template <class T>
  BENCH_BOTH static T start() {
    return T(0);
  }
  template <class T>
  BENCH_BOTH static T merge(T a, T b) {
    return a + b;
  }
  static constexpr bool kRepeats = false;
};

// Merges the elements [first, end) of an axis into `values`, at most kBatch of them. Loads all of
// them before it uses the first, so that a thread waits for memory once. Beyond the end it loads
// the last element again.
template <class Window, int kBatch, class T, class Access>
BENCH_BOTH void merge_batch(const Access& access, const void* source, std::int64_t row,
                            std::int64_t stride, std::int64_t first, std::int64_t end, T* values) {
  typename Access::Raw raw[kBatch];
  BENCH_UNROLL
  for (int i = 0; i < kBatch; ++i) {
    const std::int64_t place = first + i < end ? first + i : end - 1;
    raw[i] = access.load(source, row + place * stride);
  }
  BENCH_UNROLL
  for (int i = 0; i < kBatch; ++i) {
    if (!Window::kRepeats && first + i >= end) continue;
    BENCH_UNROLL
    for (int lane = 0; lane < Access::kLanes; ++lane) {
      values[lane] = Window::merge(values[lane], access.value(raw[i], lane));
    }
  }
}

// Short windows are mostly of 3 elements; those of a whole image have dozens.
template <class Window, class T, class Access>
BENCH_BOTH void merge_row(const Access& access, const void* source, std::int64_t row,
                          std::int64_t stride, std::int64_t first, std::int64_t end, T* values) {
  constexpr int kLong = 8, kShort = 3;
  for (; end - first >= kLong; first += kLong) {
    merge_batch<Window, kLong>(access, source, row, stride, first, end, values);
  }
  for (; first < end; first += kShort) {
    merge_batch<Window, kShort>(access, source, row, stride, first, end, values);
  }
}

// The position of one thread: an image, the first channel, and a place on each axis.
struct PoolPosition {
  std::int64_t image, channel, at[kPoolAxes];
};

// Neighbouring threads get neighbouring addresses of the destination. `Index` is an integer type
// that can represent all positions.
template <class Index>
BENCH_BOTH PoolPosition locate(const PoolPlan& plan, Index position) {
  PoolPosition place;
  const Index groups = static_cast<Index>(plan.channels / plan.lanes);
  const auto take_channel = [&] {
    place.channel = static_cast<std::int64_t>(position % groups) * plan.lanes;
    position /= groups;
  };
  const bool channels_innermost = plan.destination.channel == 1;
  if (channels_innermost) take_channel();
  for (int a = kPoolAxes - 1; a >= 0; --a) {
    const Index size = static_cast<Index>(plan.axes[a].output);
    place.at[a] = position % size;
    position /= size;
  }
  if (!channels_innermost) take_channel();
  place.image = position;
  return place;
}

BENCH_BOTH std::int64_t base_offset(const PoolStrides& strides, const PoolPosition& place) {
  return place.image * strides.image + place.channel * strides.channel;
}

// Computes one position of the destination.
template <class Window, class T, class Index, class Access>
BENCH_BOTH void pool_position(const PoolPlan& plan, const Access& access, const Addresses& tensors,
                              Index position) {
  const PoolPosition place = locate(plan, position);
  std::int64_t first[kPoolAxes], end[kPoolAxes];
  std::int64_t window = 1, inside = 1;
  std::int64_t to = base_offset(plan.destination, place);
  for (int a = 0; a < kPoolAxes; ++a) {
    const PoolAxis& axis = plan.axes[a];
    const std::int64_t start = place.at[a] * axis.stride - axis.before;
    first[a] = start < 0 ? 0 : start;
    end[a] = start + axis.kernel < axis.input ? start + axis.kernel : axis.input;
    window *= axis.kernel;
    inside *= end[a] - first[a];
    to += place.at[a] * plan.destination.axes[a];
  }
  T values[Access::kLanes];
  BENCH_UNROLL
  for (int lane = 0; lane < Access::kLanes; ++lane) values[lane] = Window::template start<T>();
  const std::int64_t* strides = plan.source.axes;
  const std::int64_t image = base_offset(plan.source, place);
  for (std::int64_t d = first[0]; d < end[0]; ++d) {
    for (std::int64_t h = first[1]; h < end[1]; ++h) {
      merge_row<Window>(access, tensors.at[0], image + d * strides[0] + h * strides[1], strides[2],
                        first[2], end[2], values);
    }
  }
  if (plan.pooling != Pooling::max) {
    const T divisor = static_cast<T>(plan.pooling == Pooling::include_pad ? window : inside);
    BENCH_UNROLL
    for (int lane = 0; lane < Access::kLanes; ++lane) values[lane] /= divisor;
  }
  access.store(tensors.at[1], to, values);
}

}  // namespace bench::ops::cuda
