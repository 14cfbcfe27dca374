// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/spill_sort.hpp"

#include "tests/support/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <tuple>
#include <vector>

namespace bench {
namespace {

using Row = std::tuple<std::int64_t, std::int64_t, std::string>;

std::vector<Row> sort_rows(const std::vector<Row>& rows, std::size_t memory,
                           const std::string& folder) {
  SpillSort sort(folder, memory);
  for (const auto& [first, second, payload] : rows) {
    EXPECT_TRUE(sort.add({first, second}, payload).ok());
  }
  EXPECT_TRUE(sort.finish().ok());
  std::vector<Row> result;
  SpillSort::Record record;
  while (true) {
    const auto has_record = sort.next(record);
    EXPECT_TRUE(has_record.ok());
    if (!has_record.ok() || !*has_record) return result;
    result.emplace_back(record.key.first, record.key.second, record.payload);
  }
}

TEST(SpillSort, EqualsAStableSortWhateverTheMemory) {
  const test::TemporaryFolder folder;
  std::mt19937 random(1);  // NOLINT: the same rows each time
  std::vector<Row> rows;
  for (int i = 0; i < 5000; ++i) {
    // Many equal keys, and one payload longer than a block of the merge.
    const std::size_t size = i == 777 ? 600'000 : 1 + random() % 90;
    rows.emplace_back(random() % 50, static_cast<std::int64_t>(random() % 5) - 2,
                      std::to_string(i) + std::string(size, 'x'));
  }
  std::vector<Row> expected = rows;
  std::stable_sort(expected.begin(), expected.end(), [](const Row& a, const Row& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  for (const std::size_t memory : {std::size_t{1}, std::size_t{20'000}, std::size_t{1} << 30}) {
    EXPECT_TRUE(sort_rows(rows, memory, folder.path()) == expected) << memory;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SpillSort, NamesTheFolderItCannotWriteTo) {
  SpillSort sort("/nowhere", 1);
  ASSERT_TRUE(sort.add({1, 1}, "a").ok());
  const Status status = sort.add({1, 1}, "b");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "/nowhere: cannot create a file in this folder: No such file or directory; free some "
            "space there: data beyond the memory limit is sorted on disk");
}

}  // namespace
}  // namespace bench
