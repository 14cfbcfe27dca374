// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/row_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace bench::analysis {
namespace {

using testing::ElementsAre;

Row row(Cell key, std::int64_t sequence) {
  Row made;
  made.cells = {Cell(), std::string("text"), sequence, 0.5};
  made.key = std::move(key);
  made.sequence = sequence;
  if (sequence % 2 == 0) made.time = Nanoseconds(sequence);
  return made;
}

// Returns the order of the rows with these keys, numbered from 0.
std::vector<std::int64_t> order_of(const std::vector<Cell>& keys, std::int64_t top,
                                   RowDirection direction) {
  RowStore store(top, direction, testing::TempDir());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_TRUE(store.add(row(keys[i], static_cast<std::int64_t>(i))).ok());
  }
  EXPECT_TRUE(store.finish().ok());
  std::vector<std::int64_t> order;
  Row next;
  while (true) {
    const auto more = store.next(next);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return order;
    EXPECT_EQ(next.cells, row(Cell(), next.sequence).cells);
    EXPECT_EQ(next.time, row(Cell(), next.sequence).time);
    order.push_back(next.sequence);
  }
}

// 0 sorts all rows, on disk if necessary; 100 uses a heap. Both must agree.
class RowStoreTest : public testing::TestWithParam<std::int64_t> {
 protected:
  static std::vector<std::int64_t> ascending(const std::vector<Cell>& keys) {
    return order_of(keys, GetParam(), RowDirection::ascending);
  }
  static std::vector<std::int64_t> descending(const std::vector<Cell>& keys) {
    return order_of(keys, GetParam(), RowDirection::descending);
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, RowStoreTest, testing::Values(0, 100));

TEST_P(RowStoreTest, UnknownKeysAreLastInBothDirectionsAndTiesInOrderOfArrival) {
  const std::vector<Cell> keys = {Cell(), std::int64_t{2}, std::int64_t{1}, Cell(),
                                  std::int64_t{2}};
  EXPECT_THAT(ascending(keys), ElementsAre(2, 1, 4, 0, 3));
  EXPECT_THAT(descending(keys), ElementsAre(1, 4, 2, 0, 3));
}

TEST_P(RowStoreTest, TextIsOrderedByItsBytes) {
  const std::vector<Cell> keys = {std::string("b"), std::string("a"), Cell(), std::string("ab"),
                                  std::string("b")};
  EXPECT_THAT(ascending(keys), ElementsAre(1, 3, 0, 4, 2));
  EXPECT_THAT(descending(keys), ElementsAre(0, 4, 3, 1, 2));
}

TEST_P(RowStoreTest, WholeAndOtherNumbersOfOneColumnMix) {
  const std::vector<Cell> keys = {std::int64_t{2}, 1.5, 2.5, -1.5, std::int64_t{0},
                                  std::int64_t{-2}};
  EXPECT_THAT(ascending(keys), ElementsAre(5, 3, 4, 1, 0, 2));
  EXPECT_THAT(descending(keys), ElementsAre(2, 0, 1, 4, 3, 5));
}

TEST_P(RowStoreTest, NumbersBeyondADoublesPrecisionKeepTheirOrder) {
  constexpr std::int64_t kBig = std::int64_t{1} << 60;
  const std::vector<Cell> keys = {kBig + 1, kBig + 3, kBig, kBig + 2,
                                  std::numeric_limits<std::int64_t>::min()};
  EXPECT_THAT(ascending(keys), ElementsAre(4, 2, 0, 3, 1));
  EXPECT_THAT(descending(keys), ElementsAre(1, 3, 0, 2, 4));
}

TEST(RowStore, TheFirstRowsOfManyAreTheSameByHeapAndBySorting) {
  std::vector<Cell> keys;
  for (std::int64_t i = 0; i < 12'000; ++i) {
    keys.emplace_back();
    if (i % 7 != 0) keys.back() = i * 7919 % 1009;
  }
  for (const RowDirection direction : {RowDirection::ascending, RowDirection::descending}) {
    std::vector<std::int64_t> all = order_of(keys, 0, direction);
    ASSERT_EQ(all.size(), keys.size());
    EXPECT_EQ(order_of(keys, 11'000, direction),  // too many for the heap
              std::vector<std::int64_t>(all.begin(), all.begin() + 11'000));
    all.resize(50);
    EXPECT_EQ(order_of(keys, 50, direction), all);
  }
}

TEST(RowStore, SaysWhichRowsCannotBeAmongTheFirst) {
  RowStore store(2, RowDirection::descending, testing::TempDir());
  EXPECT_TRUE(store.wants(Cell()));
  ASSERT_TRUE(store.add(row(std::int64_t{5}, 0)).ok());
  ASSERT_TRUE(store.add(row(std::int64_t{7}, 1)).ok());
  EXPECT_FALSE(store.wants(Cell()));
  EXPECT_FALSE(store.wants(std::int64_t{5}));  // later arrivals lose ties
  EXPECT_TRUE(store.wants(std::int64_t{6}));
}

TEST(RowStore, AFolderThatCannotBeWrittenIsAnErrorOnceItIsNeeded) {
  RowStore store(0, RowDirection::ascending, "/nonexistent");
  const std::string text(1 << 20, 'x');
  Status status = Done{};
  for (std::int64_t i = 0; status.ok() && i < 200; ++i) {
    Row wide = row(i, i);
    wide.cells.emplace_back(text);
    status = store.add(std::move(wide));
  }
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), testing::HasSubstr("/nonexistent"));
}

TEST(RowStore, WhatMemoryDoesNotHoldComesBackFromDiskInOrder) {
  RowStore store(0, RowDirection::ascending, testing::TempDir());
  const std::string text(1 << 20, 'x');
  constexpr std::int64_t kRows = 120;
  for (std::int64_t i = 0; i < kRows; ++i) {
    Row wide = row((i * 37) % kRows, i);
    wide.cells.emplace_back(text);
    ASSERT_TRUE(store.add(std::move(wide)).ok());
  }
  ASSERT_TRUE(store.finish().ok());
  Row next;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const auto more = store.next(next);
    ASSERT_TRUE(more.ok() && *more);
    EXPECT_EQ(next.key, Cell(i));
    EXPECT_EQ(next.cells.back(), Cell(text));
  }
}

}  // namespace
}  // namespace bench::analysis
