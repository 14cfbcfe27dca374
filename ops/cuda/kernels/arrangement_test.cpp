// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/arrangement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace bench::ops::cuda {
namespace {

using ::testing::ElementsAre;

using Sizes = std::vector<std::int64_t>;

std::int64_t count(const Sizes& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

// Elements 1, 2, 3, ... of any width.
std::vector<std::uint8_t> numbered(std::int64_t elements, DataType dtype) {
  const auto bytes = static_cast<std::size_t>(info(dtype).bytes);
  std::vector<std::uint8_t> data(static_cast<std::size_t>(elements) * bytes);
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
    const std::uint64_t value = (i + 1) * 0x0101010101010101ull + i / 255;
    std::memcpy(data.data() + i * bytes, &value, bytes);
  }
  return data;
}

// Returns the position of the element at a row-major position.
std::int64_t find_strided_position(const Sizes& dims, const Sizes& strides, std::int64_t position) {
  std::int64_t place = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    place += position % dims[d] * strides[d];
    position /= dims[d];
  }
  return place;
}

void expect_placed(const Sizes& dims, const Sizes& strides, DataType dtype) {
  const Arrangement arrangement = strided_arrangement(dims, strides);
  const std::int64_t elements = count(dims);
  const auto bytes = static_cast<std::size_t>(info(dtype).bytes);
  const std::vector<std::uint8_t> plain = numbered(elements, dtype);
  std::vector<std::uint8_t> packed(plain.size(), 0), back(plain.size(), 0);
  arrange(arrangement, dtype, plain.data(), packed.data());
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto place = static_cast<std::size_t>(find_strided_position(dims, strides, i));
    ASSERT_EQ(std::memcmp(plain.data() + static_cast<std::size_t>(i) * bytes,
                          packed.data() + place * bytes, bytes),
              0)
        << "element " << i;
  }
  restore(arrangement, dtype, packed.data(), back.data());
  ASSERT_EQ(back, plain);
}

// Dense strides with the dimensions in the order of a permutation, outermost first.
Sizes permuted_strides(const Sizes& dims, const std::vector<std::size_t>& order) {
  Sizes strides(dims.size(), 1);
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= dims[order[i]];
  }
  return strides;
}

TEST(Arrangement, EveryPermutationOfSmallShapesPutsElementsWhereTheStridesSay) {
  for (const Sizes& dims : {Sizes{1}, Sizes{5}, Sizes{2, 3}, Sizes{1, 1, 4}, Sizes{3, 2, 4},
                            Sizes{2, 1, 3, 2}, Sizes{2, 3, 2, 3}, Sizes{2, 3, 1, 2, 2}}) {
    std::vector<std::size_t> order(dims.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      for (const DataType dtype : {DataType::s8, DataType::f16, DataType::f32, DataType::f64}) {
        expect_placed(dims, permuted_strides(dims, order), dtype);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// Tensors larger than a tile in both directions. Not all sizes are multiples of a tile.
TEST(Arrangement, TilesMeetAtTheirEdges) {
  for (const Sizes& dims : {Sizes{2, 33, 5, 7}, Sizes{1, 64, 32}, Sizes{3, 70, 65}}) {
    for (const DataType dtype : {DataType::u8, DataType::bf16, DataType::f32}) {
      expect_placed(dims, layout_strides(dims, MemoryLayout::nhwc), dtype);
    }
  }
}

TEST(Arrangement, StridesOfLayouts) {
  EXPECT_THAT(layout_strides(Sizes{2, 3, 4, 5}, MemoryLayout::plain), ElementsAre(60, 20, 5, 1));
  EXPECT_THAT(layout_strides(Sizes{2, 3, 4, 5}, MemoryLayout::nhwc), ElementsAre(60, 1, 15, 3));
  EXPECT_THAT(layout_strides(Sizes{2, 3, 4}, MemoryLayout::nhwc), ElementsAre(12, 1, 3));
  EXPECT_THAT(layout_strides(Sizes{2, 3}, MemoryLayout::nhwc), ElementsAre(3, 1));
  EXPECT_TRUE(same_order(Sizes{2, 3}, MemoryLayout::plain, MemoryLayout::nhwc));
  EXPECT_TRUE(same_order(Sizes{2, 3, 1, 1}, MemoryLayout::plain, MemoryLayout::nhwc));
  EXPECT_TRUE(same_order(Sizes{2, 1, 4, 4}, MemoryLayout::plain, MemoryLayout::nhwc));
  EXPECT_FALSE(same_order(Sizes{1, 2, 1, 2}, MemoryLayout::plain, MemoryLayout::nhwc));
  EXPECT_FALSE(same_order(Sizes{2, 16, 1, 1}, MemoryLayout::plain, MemoryLayout::blocked16));
}

// nChw16c: (n, c, position) is at ((n*blocks + c/16)*volume + position)*16 + c%16.
TEST(Arrangement, BlocksAreFilledUpWithZeros) {
  for (const std::int64_t channels : {1, 15, 16, 17, 32, 35}) {
    const Sizes dims = {2, channels, 3, 2};
    constexpr std::int64_t kVolume = 6;
    const std::int64_t blocks = (channels + 15) / 16;
    const Arrangement arrangement = make_arrangement(dims, MemoryLayout::blocked16);
    EXPECT_EQ(arrangement.packed_elements, 2 * blocks * 16 * kVolume);
    EXPECT_EQ(arrangement.packed_size(DataType::f16).count, arrangement.packed_elements * 2);
    std::vector<std::int32_t> plain(static_cast<std::size_t>(count(dims)));
    std::iota(plain.begin(), plain.end(), 1);
    std::vector<std::int32_t> packed(static_cast<std::size_t>(arrangement.packed_elements), -1);
    arrange(arrangement, DataType::s32, plain.data(), packed.data());
    std::vector<std::int32_t> want(packed.size(), 0);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const auto position = static_cast<std::int64_t>(i) % kVolume;
      const auto c = static_cast<std::int64_t>(i) / kVolume % channels;
      const auto n = static_cast<std::int64_t>(i) / kVolume / channels;
      const std::int64_t place = ((n * blocks + c / 16) * kVolume + position) * 16 + c % 16;
      want[static_cast<std::size_t>(place)] = plain[i];
    }
    EXPECT_EQ(packed, want) << channels;
    std::vector<std::int32_t> back(plain.size(), 0);
    restore(arrangement, DataType::s32, packed.data(), back.data());
    EXPECT_EQ(back, plain);
  }
}

}  // namespace
}  // namespace bench::ops::cuda
